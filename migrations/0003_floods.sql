-- The log of flood states, and the state each area has by it.

CREATE TABLE flood_changes (
    area_id bigint NOT NULL REFERENCES areas,
    -- Each change of an area has a moment of its own.
    changed_at timestamptz NOT NULL,
    -- Null: cleared.
    state smallint CHECK (state BETWEEN 1 AND 4),
    subject text NOT NULL,
    username text,
    PRIMARY KEY (area_id, changed_at) INCLUDE (state)
);
CREATE INDEX flood_changes_changed_at ON flood_changes (changed_at);
CALL count_changes_of('flood_changes', 'floods');

-- One row for each area that ever had a state. The key into the log makes a state without its entry impossible.
CREATE TABLE flood_states (
    area_id bigint PRIMARY KEY,
    state smallint CHECK (state BETWEEN 1 AND 4),
    changed_at timestamptz NOT NULL,
    FOREIGN KEY (area_id, changed_at) REFERENCES flood_changes (area_id, changed_at)
) WITH (fillfactor = 50);
