-- When each card was made, so that unused ones can be erased. Those that are stored count from now.

ALTER TABLE cards ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX cards_created_at ON cards (created_at);

-- The order in which photos are moved: those to be deleted last, and otherwise the oldest first.
CREATE INDEX photo_moves_due ON photo_moves ((target = 'gone'), due_at);
