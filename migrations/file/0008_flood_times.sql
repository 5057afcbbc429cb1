-- When each entry of the log was received, by the clock of the server that wrote it.
ALTER TABLE flood_states ADD COLUMN received_at INTEGER NOT NULL DEFAULT 0;
UPDATE flood_states SET received_at = changed_at;

-- Batches of different areas can have the same time, when a clock was ahead.
CREATE TABLE batches (
    number INTEGER PRIMARY KEY NOT NULL,
    changed_at INTEGER NOT NULL,
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
INSERT INTO batches (number, changed_at, subject, username, note, undoes, request, changes)
SELECT number, changed_at, subject, username, note, undoes, request, changes FROM flood_batches;
DROP TABLE flood_batches;
ALTER TABLE batches RENAME TO flood_batches;
