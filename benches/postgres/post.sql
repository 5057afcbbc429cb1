INSERT INTO bare_reports (created_at, source, disaster_type, title, text, location, local_area_id,
                          instance_region_code, post_id)
VALUES (now(), 'partner', 'flood', 'Banjir', 'Air setinggi lutut',
        ST_SetSRID(ST_MakePoint(106.7 + random() * 0.3, -6.35 + random() * 0.2), 4326), 5, 'ID-JK', nextval('bare_posts'));
