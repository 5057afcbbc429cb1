-- The batches of flood states: the areas that one order changed, at one time. Their entries of the log are in `flood_changes`.

CREATE TABLE flood_batches (
    number bigint PRIMARY KEY CHECK (number > 0),
    changed_at timestamptz NOT NULL UNIQUE,
    subject text NOT NULL,
    username text,
    note text,
    -- The batch that this one undoes.
    undoes bigint UNIQUE REFERENCES flood_batches,
    -- The number of the request, and a digest of what it asked for.
    request bytea CHECK (length(request) = 16),
    digest bytea CHECK (length(digest) = 32),
    -- The areas by number, and their new states.
    areas bigint[] NOT NULL,
    states smallint[] NOT NULL,
    CHECK ((request IS NULL) = (digest IS NULL)),
    CHECK (cardinality(areas) = cardinality(states))
);
CREATE INDEX flood_batches_request ON flood_batches (subject, request) WHERE request IS NOT NULL;
