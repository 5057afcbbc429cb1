-- Keys that are limited to some areas. A server of an older version reads `api_keys` alone, and so refuses them.
CREATE TABLE limited_api_keys (
    name TEXT PRIMARY KEY NOT NULL,
    sha256 BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    areas TEXT NOT NULL,
    owner TEXT,
    expires_at INTEGER,
    per_second INTEGER,
    per_day INTEGER,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER
) WITHOUT ROWID;

-- Ended logins of people. A login knows the largest number of its time; a larger one for its subject ends it.
CREATE TABLE ended_logins (
    number INTEGER PRIMARY KEY NOT NULL,
    subject TEXT NOT NULL,
    ended_at INTEGER NOT NULL
);
