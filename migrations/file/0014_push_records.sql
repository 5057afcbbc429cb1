-- The push subscriptions of phones. The service reads the texts, the file does not.
CREATE TABLE push_records (
    id INTEGER PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    service TEXT NOT NULL,
    due_at INTEGER,
    text TEXT NOT NULL
);
