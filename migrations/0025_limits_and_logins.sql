-- The areas of a key that is limited to some. The digest of such a key stands here alone: a server of an older version reads
-- `api_keys`, where the digest is one that no key has, and so refuses the key.
CREATE TABLE api_key_limits (
    name text COLLATE "C" PRIMARY KEY REFERENCES api_keys,
    sha256 bytea NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
    areas jsonb NOT NULL CHECK (jsonb_typeof(areas) = 'object')
);
CALL count_changes_of('api_key_limits', 'keys');

-- Ended logins of people. A login knows the largest number of its time; a larger one for its subject ends it.
CREATE TABLE ended_logins (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject text COLLATE "C" NOT NULL,
    ended_at timestamptz NOT NULL
);
CALL count_changes_of('ended_logins', 'keys');
