-- The log as the ancestor keeps it, with a key of its own and no other index, and what its functions do on it.
CREATE TABLE ancestor_log (id bigserial PRIMARY KEY, local_area bigint, state integer, changed timestamptz);
INSERT INTO ancestor_log (local_area, state, changed)
SELECT area_id, coalesce(state, 0), changed_at FROM flood_changes ORDER BY changed_at;
VACUUM ANALYZE;

-- The flooded areas at a moment.
CREATE FUNCTION flooded_at(moment timestamptz) RETURNS TABLE (local_area bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT newest.local_area FROM (
        SELECT DISTINCT ON (log.local_area) log.local_area, log.state FROM ancestor_log log
        WHERE log.changed <= moment ORDER BY log.local_area, log.changed DESC
    ) newest WHERE newest.state > 0;
END
$$;

-- The highest state of every area of some in a period.
CREATE FUNCTION highest_between(first timestamptz, last timestamptz, many bigint)
RETURNS TABLE (area bigint, highest integer) LANGUAGE plpgsql AS $$
DECLARE
    entry record;
BEGIN
    FOR area IN SELECT area_id FROM public.areas LIMIT many LOOP
        highest := 0;
        FOR entry IN SELECT log.state, log.changed FROM ancestor_log log
            WHERE log.local_area = area AND log.changed < last ORDER BY log.changed
        LOOP
            IF entry.changed < first OR entry.state > highest THEN
                highest := entry.state;
            END IF;
        END LOOP;
        IF highest > 0 THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;
