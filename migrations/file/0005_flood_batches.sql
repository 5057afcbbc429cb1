-- The batches of flood states: the areas that one order changed, at one time. Their entries of the log are in `flood_states`.
CREATE TABLE flood_batches (
    number INTEGER PRIMARY KEY NOT NULL,
    changed_at INTEGER NOT NULL UNIQUE,
    subject TEXT NOT NULL,
    username TEXT,
    note TEXT,
    -- The batch that this one undoes.
    undoes INTEGER,
    -- The number of the request (16 bytes) and a digest of what it asked for (32 bytes).
    request BLOB CHECK (length(request) = 48),
    -- The areas by number, with their new states: [[5,2],[6,null]].
    changes TEXT NOT NULL
);
