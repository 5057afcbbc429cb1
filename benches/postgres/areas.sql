-- 2,700 areas: squares side by side.
INSERT INTO areas (area_id, geom_id, area_name, parent_name, city_name, city, instance_region_code, outline)
SELECT number, number, 'RW ' || number, 'KELURAHAN ' || number / 10, 'JAKARTA', 'jbd', 'ID-JK',
       ST_Multi(ST_MakeEnvelope(x, y, x + 0.005, y + 0.005, 4326))
FROM generate_series(1, 2700) AS number,
     LATERAL (SELECT 106.7 + number % 60 * 0.005 AS x, -6.35 + number / 60 * 0.005 AS y) AS corner;
ANALYZE areas;
-- What the bare statements write to: the same columns, indexes and constraints, but no counting of changes.
CREATE TABLE bare_reports (LIKE reports INCLUDING ALL);
CREATE TABLE bare_changes (LIKE flood_changes INCLUDING ALL);
CREATE TABLE bare_states (LIKE flood_states INCLUDING ALL);
ALTER TABLE bare_reports ADD FOREIGN KEY (card_id) REFERENCES cards;
ALTER TABLE bare_changes ADD FOREIGN KEY (area_id) REFERENCES areas;
INSERT INTO bare_changes SELECT area_id, now(), 1, 'bench' FROM areas;
INSERT INTO bare_states SELECT area_id, state, changed_at FROM bare_changes;
ALTER TABLE bare_states ADD FOREIGN KEY (area_id, changed_at) REFERENCES bare_changes (area_id, changed_at);
CREATE SEQUENCE bare_posts;
