-- A CogniCity database: the columns of its published schema that are read, and rows with everything that is easily got wrong.

CREATE EXTENSION IF NOT EXISTS postgis;
CREATE SCHEMA cognicity;
CREATE SCHEMA grasp;
CREATE SCHEMA floodgauge;
CREATE SCHEMA infrastructure;

CREATE TABLE cognicity.instance_regions (
    pkey bigserial PRIMARY KEY, code varchar, name varchar, the_geom geometry(MultiPolygon, 4326) NOT NULL
);
INSERT INTO cognicity.instance_regions (code, name, the_geom) VALUES
    ('ID-JK', 'DKI Jakarta', ST_Multi(ST_MakeEnvelope(106.7, -6.4, 106.9, -6.1, 4326))),
    ('jbd', 'Jabodetabek', ST_Multi(ST_MakeEnvelope(106.6, -6.5, 107, -6, 4326))),
    ('ID-JB', 'Jawa Barat', ST_Multi(ST_MakeEnvelope(106.9, -7, 107.5, -6.1, 4326))),
    ('ID-JB', 'the same again', ST_Multi(ST_MakeEnvelope(106.9, -7, 107.5, -6.1, 4326)));

CREATE TABLE cognicity.local_areas (
    pkey bigserial PRIMARY KEY, geom_id bigint NOT NULL, area_name varchar, parent_name varchar, city_name varchar,
    instance_region_code varchar NOT NULL, attributes json, the_geom geometry(Geometry, 4326) NOT NULL
);
INSERT INTO cognicity.local_areas VALUES
    (1, 3174040004009000, 'RW 09', 'GROGOL', 'JAKARTA BARAT', 'ID-JK', '{"district_id": 3174.0, "b": null}',
        ST_MakeEnvelope(106.80, -6.20, 106.81, -6.19, 4326)),
    (2, 3174040004010000, NULL, NULL, NULL, 'jbd', NULL, ST_Collect(
        ST_MakeEnvelope(106.81, -6.20, 106.82, -6.19, 4326), ST_MakeEnvelope(106.83, -6.20, 106.84, -6.19, 4326))),
    (3, 3273000000000000, 'RW 03 "X"', 'PASAR', 'BEKASI', 'ID-JB', '{}',
        ST_MakeEnvelope(107, -6.3, 107.01, -6.29, 4326)),
    (5, 5, 'RW 05', 'PASAR', 'BEKASI', 'ID-JB', NULL, ST_MakeEnvelope(107.01, -6.3, 107.02, -6.29, 4326)),
    (4, 4, 'a line', NULL, NULL, 'ID-JK', NULL, 'SRID=4326;LINESTRING(106.8 -6.2, 106.9 -6.2)');
-- Columns of an older schema and of one installation.
ALTER TABLE cognicity.local_areas ADD COLUMN district_id integer, ADD COLUMN population numeric;
UPDATE cognicity.local_areas SET district_id = 1 WHERE pkey = 1;
UPDATE cognicity.local_areas SET district_id = 3273, population = 1250.50 WHERE pkey = 3;

CREATE TABLE cognicity.rem_status (
    local_area bigint PRIMARY KEY, state integer, last_updated timestamptz DEFAULT now()
);
INSERT INTO cognicity.rem_status VALUES
    (1, 3, '2016-12-19 13:41:35.5+00'),
    (2, 4, '2016-12-14 00:00:00+00'),
    (5, 1, '2099-01-01 00:00:00+00'),
    (99, 1, '2016-12-14 00:00:00+00');
CREATE TABLE cognicity.rem_status_log (
    local_area bigint, state integer, changed timestamptz DEFAULT now(), id bigserial PRIMARY KEY, username varchar
);
INSERT INTO cognicity.rem_status_log (local_area, state, changed, username) VALUES
    (1, 2, '2016-12-14 13:10:35.123456+07', 'bpbd'),
    (1, 4, '2016-12-14 09:00:00+00', NULL),
    (1, 0, '2016-12-15 01:00:00+00', ''),
    (1, 3, '2016-12-19 13:41:35.5+00', E'line\nbreak'),
    (2, 2, '2016-12-14 07:30:00+00', 'bpbd'),
    (2, NULL, '2016-12-15 02:00:00+00', 'bpbd'),
    (3, 2, '2016-12-16 00:00:00+00', 'bpbd'),
    (5, 2, '2016-12-16 06:00:00+00', 'bpbd'),
    (99, 1, '2016-12-14 00:00:00+00', 'bpbd'),
    (4, 1, '2016-12-14 00:00:00+00', 'bpbd'),
    (1, 5, '2016-12-14 00:00:00+00', 'bpbd'),
    (2, 1, '2099-01-01 00:00:00+00', 'bpbd'),
    (2, 1, 'infinity', 'bpbd');

CREATE TABLE cognicity.partners (id serial, partner_code varchar, partner_name varchar, partner_icon varchar);
INSERT INTO cognicity.partners (partner_code, partner_name, partner_icon) VALUES
    ('pmi', 'PMI', 'https://icons.example.org/pmi.png'), ('bare', 'Bare', 'pmi.png');
CREATE TABLE cognicity.all_reports (
    pkey bigserial PRIMARY KEY, fkey bigint NOT NULL, database_time timestamptz DEFAULT now(), created_at timestamptz,
    text varchar NOT NULL, source varchar NOT NULL, status varchar DEFAULT 'confirmed', disaster_type varchar NOT NULL,
    lang varchar, url varchar, image_url varchar, title varchar, report_data json, tags json,
    the_geom geometry(Point, 4326) NOT NULL, is_training boolean, partner_code varchar
);
INSERT INTO cognicity.all_reports
    (pkey, fkey, created_at, text, source, status, disaster_type, url, image_url, title, report_data, tags, the_geom,
     is_training, partner_code)
VALUES
    (1, 1, '2016-12-19 16:00:00.123456+00', E'Air "setinggi" lutut\n☔', 'grasp', 'confirmed', 'flood',
        'aaaaaaaa-0000-4000-8000-000000000001', 'https://images.example.org/a.jpg', NULL,
        '{"report_type":"flood","flood_depth":101,"points":-2}', '{"instance_region_code":"ID-JK","local_area_id":"1","district_id":"3174"}',
        'SRID=4326;POINT(106.805 -6.195)', false, NULL),
    (2, 1, '2016-12-19 15:30:00+00', '', 'detik', 'confirmed', 'flood', 'http://detik.example.org/2', '', 'Banjir', NULL,
        '{"instance_region_code":"jbd","local_area_id":"null"}', 'SRID=4326;POINT(106.95 -6.05)', NULL, 'pmi'),
    (3, 1, '2016-12-19 15:00:00+00', 'practice', 'qlue', 'Confirmed', 'wind', NULL, NULL, NULL, NULL,
        '{"instance_region_code":null,"local_area_id":2}', 'SRID=4326;POINT(106.815 -6.195)', true, 'bare'),
    (4, 4, '2016-12-18 16:00:00+00', 'strong wind', 'grasp', 'confirmed', 'typhoon', NULL, 'javascript:alert(1)', NULL,
        '["a"]', NULL, 'SRID=4326;POINT(106.805 -6.195)', NULL, NULL),
    (5, 5, '2016-12-19 16:00:00+00', 'spam', 'grasp', 'rejected', 'flood', NULL, NULL, NULL, NULL, NULL,
        'SRID=4326;POINT(106.805 -6.195)', NULL, NULL),
    (6, 6, NULL, 'when?', 'grasp', 'confirmed', 'flood', NULL, NULL, NULL, NULL, NULL,
        'SRID=4326;POINT(106.805 -6.195)', NULL, NULL),
    (7, 7, '2016-12-19 16:00:00+00', 'where?', 'grasp', 'confirmed', 'flood', NULL, NULL, NULL, NULL, NULL,
        'SRID=4326;POINT(200 95)', NULL, NULL),
    (8, 1, '2016-12-19 16:00:00.123456+00', 'the same card again', 'grasp', 'confirmed', 'flood',
        'aaaaaaaa-0000-4000-8000-000000000001', NULL, NULL, '{"report_type":"flood","flood_depth":101}',
        '{"instance_region_code":"ID-JK","local_area_id":"1"}', 'SRID=4326;POINT(106.805 -6.195)', NULL, NULL),
    (9, 3, '2016-12-19 16:00:00+00', 'a slope', 'grasp', 'confirmed', 'landslide', NULL, NULL, NULL, NULL, NULL,
        'SRID=4326;POINT(106.805 -6.195)', NULL, NULL),
    (10, 10, '2016-12-19 16:00:00+00', 'nul', 'twitter', 'confirmed', 'haze', NULL, NULL, NULL, '{"a":"\u0000"}', NULL,
        'SRID=4326;POINT EMPTY', NULL, NULL);

CREATE TABLE grasp.cards (
    pkey bigserial PRIMARY KEY, card_id uuid NOT NULL UNIQUE, username varchar NOT NULL, network varchar NOT NULL,
    language varchar NOT NULL, received boolean, network_data json
);
INSERT INTO grasp.cards VALUES
    (1, 'aaaaaaaa-0000-4000-8000-000000000001', 'Ibu, "O''Neil"', 'telegram', 'id', true, '{"chat": 5}'),
    (2, 'aaaaaaaa-0000-4000-8000-000000000002', '', 'twitter', 'en', false, '{}'),
    (3, 'aaaaaaaa-0000-4000-8000-000000000003', 'c', 'whatsapp', 'id', true, NULL),
    (4, 'aaaaaaaa-0000-4000-8000-000000000004', 'd', 'whatsapp', 'id', true, NULL),
    (5, 'aaaaaaaa-0000-4000-8000-000000000005', 'e', 'whatsapp', 'id', NULL, '"text"');
CREATE TABLE grasp.reports (
    pkey bigserial PRIMARY KEY, card_id uuid NOT NULL UNIQUE, created_at timestamptz, disaster_type varchar NOT NULL
);
INSERT INTO grasp.reports VALUES
    (1, 'aaaaaaaa-0000-4000-8000-000000000001', '2016-12-19 16:00:00+00', 'flood'),
    (3, 'aaaaaaaa-0000-4000-8000-000000000003', '2016-12-19 16:00:00+00', 'landslide');

CREATE TABLE floodgauge.reports (
    pkey serial PRIMARY KEY, gaugeid varchar NOT NULL, measuredatetime timestamptz NOT NULL, depth integer,
    gaugenameid varchar, warninglevel integer, warningnameid varchar, tags json, the_geom geometry(Point, 4326)
);
INSERT INTO floodgauge.reports (gaugeid, measuredatetime, depth, gaugenameid, warninglevel, warningnameid, tags, the_geom)
VALUES
    ('TMA1', '2016-12-19 15:40:00+00', 70, 'Old name', 4, 'SIAGA IV', '{"instance_region_code":"null"}',
        'SRID=4326;POINT(106.8 -6.3)'),
    ('TMA1', '2016-12-19 15:50:00+00', 90, 'Katulampa', 3, NULL, '{"instance_region_code":"ID-JB"}',
        'SRID=4326;POINT(106.83 -6.63)'),
    ('TMA1', '2016-12-19 15:50:00+00', 95, 'Katulampa', 3, 'SIAGA III', '{"instance_region_code":"ID-JB"}',
        'SRID=4326;POINT(106.83 -6.63)'),
    ('TMA1', '2016-12-19 15:55:00+00', 95, 'Katulampa', 9, 'SIAGA III', NULL, NULL),
    ('TMA1', '2016-12-19 15:56:00+00', NULL, 'Katulampa', 3, 'SIAGA III', NULL, NULL),
    ('TMA2', '2016-12-19 16:00:00+00', -5, NULL, 1, 'SIAGA I', NULL, 'SRID=4326;POINT(106.8 -6.2)'),
    ('TMA3', '2016-12-19 16:00:00+00', 5, 'nowhere', 4, 'SIAGA IV', NULL, NULL);

CREATE TABLE infrastructure.floodgates (
    pkey bigserial PRIMARY KEY, name varchar(50), tags json, the_geom geometry(PointZ, 4326) NOT NULL
);
CREATE TABLE infrastructure.waterways (
    pkey bigserial PRIMARY KEY, name varchar(50), tags json, the_geom geometry(LineStringZ, 4326) NOT NULL
);
INSERT INTO infrastructure.floodgates (name, tags, the_geom) VALUES
    ('Pintu Air Karet', '{"instance_region_code":"jbd", "local_area_id":"1"}', 'SRID=4326;POINTZ(106.801 -6.199 7)'),
    (NULL, NULL, 'SRID=4326;POINTZ(106.802 -6.199 0)');
INSERT INTO infrastructure.waterways (name, tags, the_geom) VALUES
    ('Kali Krukut', '{"instance_region_code":"ID-JK", "local_area_id":"null"}',
        'SRID=4326;LINESTRINGZ(106.8 -6.2 0, 106.81 -6.25 0)');
