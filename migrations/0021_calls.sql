-- How far each outgoing call has come, and which server sends them. The service reads the texts, the database does not.

CREATE TABLE calls (
    name text COLLATE "C" PRIMARY KEY CHECK (char_length(name) BETWEEN 1 AND 64),
    version bigint NOT NULL CHECK (version > 0),
    state text NOT NULL CHECK (octet_length(state) <= 4194304)
);
