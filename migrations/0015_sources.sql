-- When each source of data was last heard. Servers read the table several times a second, so no revision counts it.

CREATE TABLE sources (
    name text COLLATE "C" PRIMARY KEY CHECK (char_length(name) BETWEEN 1 AND 64 AND name !~ '[[:cntrl:]]'),
    last_heard_at timestamptz NOT NULL
);
