-- Cities that have a boundary of their own: what happens inside it is in the city, in one of its areas or not.

CREATE TABLE cities (
    code text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    outline geometry(MultiPolygon, 4326) NOT NULL CHECK (outline @ ST_MakeEnvelope(-180, -90, 180, 90, 4326))
);
CALL count_changes_of('cities', 'places', 'reports', 'infrastructure');

-- The first city whose boundary holds the location; null where there is none.
ALTER TABLE reports ADD COLUMN city text COLLATE "C";
