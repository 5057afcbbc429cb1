-- Gauges and their readings.

CREATE TABLE gauges (
    gaugeid text COLLATE "C" PRIMARY KEY,
    gaugenameid text NOT NULL,
    instance_region_code text COLLATE "C",
    location geometry(Point, 4326) NOT NULL CHECK (location @ ST_MakeEnvelope(-180, -90, 180, 90, 4326))
);
CREATE INDEX gauges_location ON gauges USING gist (location);
CALL count_changes_of('gauges', 'gauges');

CREATE TABLE gauge_readings (
    gaugeid text COLLATE "C" NOT NULL REFERENCES gauges,
    observed_at timestamptz NOT NULL,
    -- In centimetres.
    level double precision NOT NULL,
    -- From 4 (normal) to 1 (critical).
    alert smallint NOT NULL CHECK (alert BETWEEN 1 AND 4),
    label text NOT NULL,
    PRIMARY KEY (gaugeid, observed_at)
);
CREATE INDEX gauge_readings_observed_at ON gauge_readings (observed_at);
CALL count_changes_of('gauge_readings', 'gauges');
