-- When each card was made, so that unused ones can be erased. Those that are stored count from now.

ALTER TABLE cards ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
UPDATE cards SET created_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);
