-- The newest entry of the log of a gauge (at, until, reason, subject, username); NULL if the log is empty.
ALTER TABLE gauges ADD COLUMN mute jsonb CHECK (jsonb_typeof(mute) = 'object');
-- The log, newest entry last.
ALTER TABLE gauges ADD COLUMN log jsonb CHECK (jsonb_typeof(log) = 'array');
