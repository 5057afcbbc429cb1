-- Revisions: how often each resource has changed, counted with the change itself, in one transaction.
--
-- A count is spread over shards, so that writers do not queue for one row: a session adds to the shard of its process,
-- and a revision is the sum. The sum is of the reader's snapshot, as the data is.

CREATE EXTENSION IF NOT EXISTS postgis;

CREATE TABLE revisions (
    resource text COLLATE "C" NOT NULL,
    shard smallint NOT NULL,
    changes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (resource, shard)
) WITH (fillfactor = 20);

-- The last shard is for changes in bulk, whose transactions are long.
INSERT INTO revisions (resource, shard)
SELECT resource, shard
FROM unnest(ARRAY['places', 'floods', 'reports', 'gauges', 'infrastructure', 'boundaries']) AS resource,
     generate_series(0, 32) AS shard;

CREATE VIEW current_revisions AS
SELECT resource, sum(changes)::bigint AS revision FROM revisions GROUP BY resource;

-- Counts one change of each resource named in the trigger's arguments, unless no row changed.
-- A session says with `SET siaga.shard` which shard it adds to.
-- Whoever may change a table need not be allowed to change the counts.
CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    of_session text := nullif(current_setting('siaga.shard', true), '');
BEGIN
    -- There are no rows to look at after a TRUNCATE.
    IF TG_OP <> 'TRUNCATE' THEN
        IF NOT EXISTS (SELECT FROM changed) THEN
            RETURN NULL;
        END IF;
    END IF;
    UPDATE revisions SET changes = changes + 1
    WHERE resource = ANY (TG_ARGV) AND shard = coalesce(of_session::smallint, (pg_backend_pid() % 32)::smallint);
    RETURN NULL;
END
$$;

-- It runs with the rights of its owner: so it finds no table but those beside it, and nobody else makes a trigger of it.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION count_change() SET search_path = %I, pg_temp', current_schema());
END
$$;
REVOKE EXECUTE ON FUNCTION count_change() FROM PUBLIC;

-- Counts the changes of a table, whoever makes them, as changes of the resources named.
CREATE PROCEDURE count_changes_of(counted regclass, VARIADIC resources text[]) LANGUAGE plpgsql AS $$
DECLARE
    arguments text := (SELECT string_agg(quote_literal(resource), ', ') FROM unnest(resources) AS resource);
    operation text;
    rows text;
BEGIN
    FOR operation, rows IN VALUES
        ('INSERT', 'REFERENCING NEW TABLE AS changed'),
        ('UPDATE', 'REFERENCING NEW TABLE AS changed'),
        ('DELETE', 'REFERENCING OLD TABLE AS changed'),
        ('TRUNCATE', '')
    LOOP
        EXECUTE format(
            'CREATE TRIGGER %I AFTER %s ON %s %s FOR EACH STATEMENT EXECUTE FUNCTION count_change(%s)',
            'count_' || lower(operation), operation, counted, rows, arguments
        );
    END LOOP;
END
$$;
