-- So many reports over two years, 200 of them in the last hour.
INSERT INTO reports (created_at, source, disaster_type, title, text, location, local_area_id, instance_region_code)
SELECT CASE WHEN number <= 200 THEN now() - number * interval '15 s'
            ELSE now() - interval '1 hour' - number * interval '2 years' / :reports END,
       'grasp', 'flood', 'Banjir', 'Air setinggi lutut',
       ST_SetSRID(ST_MakePoint(106.7 + random() * 0.3, -6.35 + random() * 0.2), 4326), 1 + number % 2700, 'ID-JK'
FROM generate_series(1, :reports) AS number;
