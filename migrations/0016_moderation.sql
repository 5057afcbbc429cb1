-- Moderation: hidden reports, what is left of erased ones, the log of it, and the photos that are to be moved.

ALTER TABLE api_keys DROP CONSTRAINT api_keys_scopes_check;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_scopes_check CHECK (
    cardinality(scopes) > 0
    AND array_position(scopes, NULL) IS NULL
    AND scopes <@ ARRAY['floods:write', 'cards:read', 'cards:write', 'feeds:write', 'gauges:write', 'reports:moderate', 'admin']
);

ALTER TABLE reports ADD COLUMN hidden boolean NOT NULL DEFAULT false;

-- Enough to count an erased report, and to recognise it.
CREATE TABLE erased_reports (
    pkey bigint PRIMARY KEY CHECK (pkey > 0),
    created_at timestamptz NOT NULL,
    source text COLLATE "C" NOT NULL,
    disaster_type text COLLATE "C" NOT NULL CHECK (disaster_type ~ '^[a-z0-9_-]{1,24}$'),
    is_training boolean NOT NULL,
    instance_region_code text COLLATE "C",
    city text COLLATE "C",
    -- The partner's own number of the report, so that the partner does not send it again.
    post_id bigint,
    hidden boolean NOT NULL,
    -- Of what never changes in a report (SHA-256).
    digest bytea NOT NULL CHECK (octet_length(digest) = 32)
);
CREATE INDEX erased_reports_created_at ON erased_reports (created_at, pkey);
CREATE UNIQUE INDEX erased_reports_post_id ON erased_reports (post_id) WHERE post_id IS NOT NULL;
CALL count_changes_of('erased_reports', 'reports');

-- The reports that readers see: every query for readers is of this view.
CREATE VIEW visible_reports AS SELECT * FROM reports WHERE NOT hidden;

-- The reports that are counted: those, and the erased ones, unless they were hidden.
CREATE VIEW counted_reports AS
SELECT pkey, created_at, source, disaster_type, is_training, instance_region_code, local_area_id, city
FROM reports WHERE NOT hidden
UNION ALL
SELECT pkey, created_at, source, disaster_type, is_training, instance_region_code, NULL::bigint, city
FROM erased_reports WHERE NOT hidden;

-- An order of a moderator locks the row of the count until it ends: so entries appear in the order of their numbers.
CREATE TABLE moderation_count (
    id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    number bigint NOT NULL
);
INSERT INTO moderation_count (number) VALUES (0);

CREATE TABLE moderation_log (
    number bigint PRIMARY KEY CHECK (number > 0),
    at timestamptz NOT NULL,
    report bigint NOT NULL CHECK (report > 0),
    made_at timestamptz NOT NULL,
    action text COLLATE "C" NOT NULL CHECK (action IN ('hide', 'show', 'erase')),
    subject text NOT NULL,
    username text,
    reason text NOT NULL
);

-- Where a photo belongs, until it is there. A server may take it from `due_at` on.
CREATE TABLE photo_moves (
    photo text COLLATE "C" PRIMARY KEY,
    target text COLLATE "C" NOT NULL CHECK (target IN ('public', 'hidden', 'gone')),
    due_at timestamptz NOT NULL
);
