-- Reports that wait for review, with their senders: a keyed hash, which is forgotten after a day.

CREATE TABLE waiting_reports (
    report INTEGER PRIMARY KEY,
    sender TEXT,
    is_suspect INTEGER NOT NULL,
    since INTEGER NOT NULL
);
INSERT INTO waiting_reports SELECT pkey, NULL, 0, created_at FROM reports WHERE waiting;
ALTER TABLE reports DROP COLUMN waiting;
