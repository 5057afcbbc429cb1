-- Reports that wait for review: hidden, and no moderator has seen them.

ALTER TABLE reports ADD COLUMN waiting boolean NOT NULL DEFAULT false;
ALTER TABLE reports ADD CHECK (hidden OR NOT waiting);
CREATE INDEX reports_waiting ON reports (pkey) WHERE waiting;

-- Identifiers of cards from before the upgrade do not permit to report without a credential for the default time of a day.
UPDATE cards SET created_at = created_at - interval '1 day';
