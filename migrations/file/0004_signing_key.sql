-- At most one row: the secret that signs the addresses of uploads, unless one is configured.
CREATE TABLE signing_key (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    secret TEXT NOT NULL
);
