-- JSON: thresholds, range and interval of a gauge; NULL if none is set.
ALTER TABLE gauges ADD COLUMN settings TEXT;
-- JSON: what was reported with a reading, if it is not what counts.
ALTER TABLE gauge_readings ADD COLUMN reported TEXT;
