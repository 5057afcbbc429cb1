-- How far each outgoing call has come, and which server sends them. The service reads the texts, the file does not.

CREATE TABLE calls (
    name TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) WITHOUT ROWID;
