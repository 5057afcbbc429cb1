-- The push subscriptions of phones. The service reads the texts, the database does not.

CREATE TABLE push_records (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version bigint NOT NULL DEFAULT 1,
    endpoint text COLLATE "C" NOT NULL UNIQUE CHECK (char_length(endpoint) <= 1000),
    service text COLLATE "C" NOT NULL,
    due_at timestamptz,
    text text NOT NULL
);
CREATE INDEX push_records_due ON push_records (service, due_at) WHERE due_at IS NOT NULL;
