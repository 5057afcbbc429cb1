-- 1,000,000 changes in 30 days, and the same log as the ancestor keeps it.
INSERT INTO flood_changes (area_id, changed_at, state, subject)
SELECT 1 + number % 2700, now() - interval '30 days' + number * interval '2.592 s' * 0.9999,
       nullif((number / 2700 + number) % 5, 0), 'bench'
FROM generate_series(1, 1000000) AS number;
INSERT INTO flood_states
SELECT DISTINCT ON (area_id) area_id, state, changed_at FROM flood_changes ORDER BY area_id, changed_at DESC;
\ir ancestor.sql
