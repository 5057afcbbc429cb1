-- The senders of reports that wait for review: a keyed hash, which is forgotten after a day; and which of them a program has probably sent.

ALTER TABLE reports
    ADD COLUMN sender text,
    ADD COLUMN is_suspect boolean NOT NULL DEFAULT false,
    ADD COLUMN waiting_since timestamptz;
ALTER TABLE reports ADD CHECK (waiting OR sender IS NULL);
UPDATE reports SET waiting_since = created_at WHERE waiting;
