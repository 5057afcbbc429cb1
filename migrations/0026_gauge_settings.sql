-- Thresholds, range and interval of a gauge; NULL if none is set.
ALTER TABLE gauges ADD COLUMN settings jsonb CHECK (jsonb_typeof(settings) = 'object');
-- What was reported with a reading, if it is not what counts.
ALTER TABLE gauge_readings ADD COLUMN reported jsonb CHECK (jsonb_typeof(reported) = 'object');
