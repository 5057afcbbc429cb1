-- A run is a series of entries of one area with the same state, each at most a day after the one before. An alert is about a
-- run, and is identified by the time of the run's first entry. Each entry has that time, so that reading it does not take
-- the entries in between.

ALTER TABLE flood_changes ADD COLUMN run_began_at timestamptz;

-- The runs as they follow from the log.
CREATE VIEW flood_runs AS
SELECT area_id, changed_at,
       max(changed_at) FILTER (WHERE begins) OVER (PARTITION BY area_id ORDER BY changed_at) AS run_began_at
FROM (
    SELECT area_id, changed_at,
           lag(changed_at) OVER log IS NULL
               OR state IS DISTINCT FROM lag(state) OVER log
               OR changed_at - lag(changed_at) OVER log > interval '24 hours' AS begins
    FROM flood_changes WINDOW log AS (PARTITION BY area_id ORDER BY changed_at)
) entries;

-- Gives the newest entry of an area its run. An import, which adds older entries, updates the runs itself.
CREATE FUNCTION continue_flood_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT CASE
        WHEN state IS NOT DISTINCT FROM NEW.state AND NEW.changed_at - changed_at <= interval '24 hours'
            THEN run_began_at
        END
    INTO NEW.run_began_at
    FROM flood_changes
    WHERE area_id = NEW.area_id AND changed_at < NEW.changed_at
    ORDER BY changed_at DESC LIMIT 1;
    NEW.run_began_at := coalesce(NEW.run_began_at, NEW.changed_at);
    RETURN NEW;
END
$$;

-- So it finds the table beside it, whatever the session's search path is.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION continue_flood_run() SET search_path = %I, pg_temp', current_schema());
END
$$;

CREATE TRIGGER continue_flood_run BEFORE INSERT ON flood_changes
    FOR EACH ROW WHEN (NEW.run_began_at IS NULL) EXECUTE FUNCTION continue_flood_run();
