-- JSON: the newest entry of the log of a gauge (at, until, reason, subject, username); NULL if the log is empty.
ALTER TABLE gauges ADD COLUMN mute TEXT;
-- JSON: the log, newest entry last.
ALTER TABLE gauges ADD COLUMN log TEXT;
