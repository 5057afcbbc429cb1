-- Moderation: hidden reports, what is left of erased ones, the log of it, and the photos that are to be moved.

ALTER TABLE reports ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;

-- Enough to count an erased report, and to recognise it. `digest` is of what never changes in a report (SHA-256).
CREATE TABLE erased_reports (
    pkey INTEGER PRIMARY KEY NOT NULL,
    created_at INTEGER NOT NULL,
    source TEXT NOT NULL,
    disaster_type TEXT NOT NULL,
    is_training INTEGER NOT NULL,
    instance_region_code TEXT,
    city TEXT,
    hidden INTEGER NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
);

CREATE TABLE moderation_log (
    number INTEGER PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL,
    report INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('hide', 'show', 'erase')),
    subject TEXT NOT NULL,
    username TEXT,
    reason TEXT NOT NULL
);

-- Where a photo belongs, until it is there. A server may take it from `due` on.
CREATE TABLE photo_moves (
    photo TEXT PRIMARY KEY NOT NULL,
    target TEXT NOT NULL CHECK (target IN ('public', 'hidden', 'gone')),
    due INTEGER NOT NULL
) WITHOUT ROWID;
