-- Each entry of the log knows since when its area is flooded or dry, and when somebody last confirmed the state.
-- States can be read meanwhile, but not set.

LOCK TABLE flood_changes IN SHARE ROW EXCLUSIVE MODE;

ALTER TABLE flood_changes
    -- When the area became flooded, or dry; null if it is dry and was never flooded.
    ADD COLUMN since timestamptz,
    -- The time of the entry, unless it undoes another one: then that of the entry whose state it restores, and null if there
    -- was none.
    ADD COLUMN confirmed_at timestamptz,
    -- When the entry was received, by the clock of the server that wrote it. Null: at its time.
    ADD COLUMN received_at timestamptz;

DROP VIEW flood_runs;

-- The times as they follow from the log. A run is a series of entries of one area with the same state, each confirmed at most a
-- day after the one before. Entries that restore a state keep their times, and those after them follow.
CREATE VIEW flood_times AS
SELECT area_id, changed_at,
       max(changed_at) FILTER (WHERE begins_run) OVER (PARTITION BY area_id ORDER BY changed_at) AS run_began_at,
       max(since) FILTER (WHERE sets_since) OVER (PARTITION BY area_id, stretch) AS since
FROM (
    SELECT area_id, changed_at, begins_run, sets_since,
           CASE WHEN is_restored THEN since WHEN state IS NOT NULL OR NOT is_first THEN changed_at END AS since,
           count(*) FILTER (WHERE sets_since) OVER (PARTITION BY area_id ORDER BY changed_at) AS stretch
    FROM (
        SELECT area_id, changed_at, state, since,
               lag(changed_at) OVER log IS NULL AS is_first,
               confirmed_at IS DISTINCT FROM changed_at AS is_restored,
               lag(changed_at) OVER log IS NULL
                   OR confirmed_at IS DISTINCT FROM changed_at
                   OR (state IS NULL) <> (lag(state) OVER log IS NULL) AS sets_since,
               lag(changed_at) OVER log IS NULL
                   OR state IS DISTINCT FROM lag(state) OVER log
                   OR coalesce(changed_at - lag(confirmed_at) OVER log > interval '24 hours', true)
                   OR coalesce(changed_at - confirmed_at > interval '24 hours', true) AS begins_run
        FROM flood_changes WINDOW log AS (PARTITION BY area_id ORDER BY changed_at)
    ) entries
) stretches;

UPDATE flood_changes SET confirmed_at = changed_at;
UPDATE flood_changes SET since = times.since, run_began_at = times.run_began_at
FROM flood_times times
WHERE (times.area_id, times.changed_at) = (flood_changes.area_id, flood_changes.changed_at);

-- What batches have undone, oldest first: each restores the times of the entry before the undone one.
DO $$
DECLARE
    undo record;
BEGIN
    FOR undo IN
        SELECT undoing.changed_at, undoing.areas, undone.changed_at AS undone_at
        FROM flood_batches undoing JOIN flood_batches undone ON undoing.undoes = undone.number
        ORDER BY undoing.changed_at
    LOOP
        UPDATE flood_changes SET since = before.since, confirmed_at = before.confirmed_at
        FROM unnest(undo.areas) AS areas (area_id) LEFT JOIN LATERAL (
            SELECT state, since, confirmed_at FROM flood_changes log
            WHERE log.area_id = areas.area_id AND log.changed_at < undo.undone_at
            ORDER BY log.changed_at DESC LIMIT 1
        ) before ON true
        WHERE flood_changes.area_id = areas.area_id AND flood_changes.changed_at = undo.changed_at
          AND flood_changes.state IS NOT DISTINCT FROM before.state;
        UPDATE flood_changes SET since = times.since, run_began_at = times.run_began_at
        FROM flood_times times
        WHERE times.area_id = ANY (undo.areas) AND flood_changes.area_id = ANY (undo.areas)
          AND (times.area_id, times.changed_at) = (flood_changes.area_id, flood_changes.changed_at)
          AND (times.since, times.run_began_at) IS DISTINCT FROM (flood_changes.since, flood_changes.run_began_at);
    END LOOP;
END
$$;

-- Batches of different areas can have the same time, when a clock was ahead.
ALTER TABLE flood_batches DROP CONSTRAINT flood_batches_changed_at_key;
CREATE INDEX flood_batches_changed_at ON flood_batches (changed_at);

-- Gives the newest entry of an area its times, unless it has them. An import, which adds older entries, updates them itself.
CREATE FUNCTION follow_flood_log() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    previous record;
BEGIN
    SELECT state, confirmed_at, since, run_began_at INTO previous
    FROM flood_changes
    WHERE area_id = NEW.area_id AND changed_at < NEW.changed_at
    ORDER BY changed_at DESC LIMIT 1;
    NEW.confirmed_at := NEW.changed_at;
    IF NOT FOUND THEN
        NEW.since := CASE WHEN NEW.state IS NOT NULL THEN NEW.changed_at END;
        NEW.run_began_at := NEW.changed_at;
        RETURN NEW;
    END IF;
    NEW.since := CASE WHEN (previous.state IS NULL) = (NEW.state IS NULL) THEN previous.since ELSE NEW.changed_at END;
    NEW.run_began_at := CASE
        WHEN previous.state IS NOT DISTINCT FROM NEW.state
             AND NEW.changed_at - previous.confirmed_at <= interval '24 hours'
            THEN previous.run_began_at
        ELSE NEW.changed_at
    END;
    RETURN NEW;
END
$$;

-- So it finds the table beside it, whatever the session's search path is.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION follow_flood_log() SET search_path = %I, pg_temp', current_schema());
END
$$;

DROP TRIGGER continue_flood_run ON flood_changes;
DROP FUNCTION continue_flood_run();
CREATE TRIGGER follow_flood_log BEFORE INSERT ON flood_changes
    FOR EACH ROW WHEN (NEW.run_began_at IS NULL) EXECUTE FUNCTION follow_flood_log();
