-- Runs: entries of one area with the same state, each at most a day after the one before. An alert is about a run, and is
-- identified by its beginning, so each entry has it: searching it would take all entries back to it.

ALTER TABLE flood_changes ADD COLUMN run_began_at timestamptz;

-- The beginnings as they follow from the log.
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

UPDATE flood_changes SET run_began_at = runs.run_began_at
FROM flood_runs runs
WHERE (runs.area_id, runs.changed_at) = (flood_changes.area_id, flood_changes.changed_at);

ALTER TABLE flood_changes ALTER COLUMN run_began_at SET NOT NULL;

-- Gives an entry that is newer than all others of its area its run. An import, which adds older ones, does so by itself.
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

CREATE TRIGGER continue_flood_run BEFORE INSERT ON flood_changes
    FOR EACH ROW WHEN (NEW.run_began_at IS NULL) EXECUTE FUNCTION continue_flood_run();
