-- At most one row: the secret that signs the addresses of uploads, unless one is configured.

CREATE TABLE signing_key (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    secret text NOT NULL CHECK (secret <> '')
);
