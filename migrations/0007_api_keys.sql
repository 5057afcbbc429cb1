-- API keys, of which only the hash is kept. A row stays when its key is revoked, so that its name is nobody else's.

CREATE TABLE api_keys (
    name text COLLATE "C" PRIMARY KEY CHECK (char_length(name) BETWEEN 1 AND 255 AND name !~ '[[:cntrl:]]'),
    sha256 bytea NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
    scopes text[] NOT NULL CHECK (
        cardinality(scopes) > 0
        AND array_position(scopes, NULL) IS NULL
        AND scopes <@ ARRAY['floods:write', 'cards:read', 'cards:write', 'feeds:write', 'gauges:write', 'admin']
    ),
    -- Who answers for it.
    owner text CHECK (char_length(owner) BETWEEN 1 AND 255 AND owner !~ '[[:cntrl:]]'),
    expires_at timestamptz,
    -- A quota of its own.
    per_second bigint CHECK (per_second BETWEEN 1 AND 4294967295),
    per_day bigint CHECK (per_day BETWEEN 1 AND 4294967295),
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
);
INSERT INTO revisions (resource, shard) SELECT 'keys', generate_series(0, 32);
CALL count_changes_of('api_keys', 'keys');

-- When each was used last, to the minute or so. Nobody waits for it, so it is not counted.
CREATE TABLE api_key_uses (
    name text COLLATE "C" PRIMARY KEY REFERENCES api_keys,
    last_used_at timestamptz NOT NULL
);
