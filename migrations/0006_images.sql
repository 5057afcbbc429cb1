-- Images of cards on their way to their reports. A row stays when its image is published, so that the card has no second.

CREATE TABLE images (
    card_id text COLLATE "C" PRIMARY KEY REFERENCES cards,
    -- Expected: an upload may come. Received: it has come, and somebody is to work on it. Published: the report shows it.
    state text COLLATE "C" NOT NULL DEFAULT 'expected' CHECK (state IN ('expected', 'received', 'published')),
    -- How many uploads were refused.
    turn bigint NOT NULL DEFAULT 0 CHECK (turn BETWEEN 0 AND 4294967295),
    -- Until when the upload is expected, or was.
    expected_until timestamptz NOT NULL,
    -- Where the upload is found.
    object text,
    -- From when on it may be taken.
    due_at timestamptz,
    -- How often it was taken.
    attempts bigint NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 4294967295),
    CHECK ((state = 'expected') = (object IS NULL)),
    CHECK ((state = 'received') = (due_at IS NOT NULL)),
    CHECK (state <> 'expected' OR attempts = 0)
);
CREATE INDEX images_due ON images (due_at, card_id) WHERE state = 'received';
CREATE INDEX images_expected_until ON images (expected_until) WHERE state = 'expected';
-- Readers of reports see the publication alone, which is a change of the report: nothing here is counted.
