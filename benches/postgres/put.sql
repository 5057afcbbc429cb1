\set area random(1, 2700)
WITH stood AS (
    UPDATE bare_states SET state = 2, changed_at = clock_timestamp() WHERE area_id = :area RETURNING area_id, changed_at
)
INSERT INTO bare_changes (area_id, changed_at, state, subject) SELECT area_id, changed_at, 2, 'bench' FROM stood;
