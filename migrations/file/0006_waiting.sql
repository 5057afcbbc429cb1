-- Reports that wait for review: hidden, and no moderator has seen them.

ALTER TABLE reports ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;

-- Identifiers of cards from before the upgrade never permit to report without a credential for the default time of a day.
UPDATE cards SET created_at = created_at - 86400000;
