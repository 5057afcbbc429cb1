-- Gives the entries that were there before their runs. States can be read meanwhile, but not set.

LOCK TABLE flood_changes IN SHARE ROW EXCLUSIVE MODE;

UPDATE flood_changes SET run_began_at = runs.run_began_at
FROM flood_runs runs
WHERE (runs.area_id, runs.changed_at) = (flood_changes.area_id, flood_changes.changed_at);

ALTER TABLE flood_changes ALTER COLUMN run_began_at SET NOT NULL;
