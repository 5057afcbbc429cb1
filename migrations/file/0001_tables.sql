-- All times are milliseconds since the beginning of 1970 in UTC. Geometry is in GeoPackage's form (OGC 12-128r17 §2.1.3),
-- in WGS 84, so that programs for maps can open the file.

-- One row: which counting of revisions this is, how many changes were made, and the revisions.
CREATE TABLE counts (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    epoch INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    floods INTEGER NOT NULL,
    reports INTEGER NOT NULL,
    gauges INTEGER NOT NULL,
    places INTEGER NOT NULL,
    keys INTEGER NOT NULL
);
INSERT INTO counts VALUES (1, random() & 0x7fffffffffffffff, 0, 0, 0, 0, 0, 0);

CREATE TABLE areas (
    area_id INTEGER PRIMARY KEY NOT NULL,
    geom_id TEXT NOT NULL,
    area_name TEXT NOT NULL,
    parent_name TEXT NOT NULL,
    city_name TEXT NOT NULL,
    city TEXT NOT NULL,
    instance_region_code TEXT NOT NULL,
    attributes TEXT,
    geom BLOB NOT NULL
);

CREATE TABLE regions (
    fid INTEGER PRIMARY KEY NOT NULL,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    geom BLOB NOT NULL
);

CREATE TABLE cities (
    fid INTEGER PRIMARY KEY NOT NULL,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    geom BLOB NOT NULL
);

CREATE TABLE infrastructure (
    fid INTEGER PRIMARY KEY NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    instance_region_code TEXT,
    local_area_id INTEGER,
    geom BLOB NOT NULL
);

-- The log of flood states. A state of NULL is a clearing.
CREATE TABLE flood_states (
    area_id INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    state INTEGER,
    username TEXT,
    subject TEXT NOT NULL,
    PRIMARY KEY (area_id, changed_at)
) WITHOUT ROWID;

CREATE TABLE gauges (
    fid INTEGER PRIMARY KEY NOT NULL,
    gaugeid TEXT NOT NULL UNIQUE,
    gaugenameid TEXT NOT NULL,
    instance_region_code TEXT,
    geom BLOB NOT NULL
);

CREATE TABLE gauge_readings (
    gaugeid TEXT NOT NULL,
    observed_at INTEGER NOT NULL,
    level REAL NOT NULL,
    alert INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (gaugeid, observed_at)
) WITHOUT ROWID;

CREATE TABLE reports (
    pkey INTEGER PRIMARY KEY NOT NULL,
    created_at INTEGER NOT NULL,
    source TEXT NOT NULL,
    url TEXT,
    image_url TEXT,
    disaster_type TEXT NOT NULL,
    report_data TEXT,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    is_training INTEGER NOT NULL,
    partner_code TEXT,
    partner_icon TEXT,
    instance_region_code TEXT,
    local_area_id INTEGER,
    geom BLOB NOT NULL
);

CREATE TABLE cards (
    pkey INTEGER PRIMARY KEY NOT NULL,
    card_id TEXT NOT NULL UNIQUE,
    username TEXT NOT NULL,
    network TEXT NOT NULL,
    language TEXT NOT NULL,
    network_data TEXT,
    report INTEGER UNIQUE
);

-- The posts of the partner feed, each with its report.
CREATE TABLE partner_posts (
    post_id INTEGER PRIMARY KEY NOT NULL,
    pkey INTEGER NOT NULL UNIQUE
);

-- The photos of cards, from the address for the upload to the publication. `object`, `due` and `attempts` are those of an
-- upload that has arrived.
CREATE TABLE images (
    card_id TEXT PRIMARY KEY NOT NULL,
    turn INTEGER NOT NULL,
    expected_until INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('expected', 'received', 'published')),
    object TEXT,
    due INTEGER,
    attempts INTEGER
) WITHOUT ROWID;

CREATE TABLE api_keys (
    name TEXT PRIMARY KEY NOT NULL,
    sha256 BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    owner TEXT,
    expires_at INTEGER,
    per_second INTEGER,
    per_day INTEGER,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER
) WITHOUT ROWID;

-- When each source of the data was last heard.
CREATE TABLE sources (
    name TEXT PRIMARY KEY NOT NULL,
    last_heard INTEGER NOT NULL
) WITHOUT ROWID;

-- What makes the file a GeoPackage: the reference systems that the standard requires, and the tables with geometry.
CREATE TABLE gpkg_spatial_ref_sys (
    srs_name TEXT NOT NULL,
    srs_id INTEGER PRIMARY KEY NOT NULL,
    organization TEXT NOT NULL,
    organization_coordsys_id INTEGER NOT NULL,
    definition TEXT NOT NULL,
    description TEXT
);
INSERT INTO gpkg_spatial_ref_sys VALUES
    ('Undefined cartesian', -1, 'NONE', -1, 'undefined', NULL),
    ('Undefined geographic', 0, 'NONE', 0, 'undefined', NULL),
    ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]', NULL);

CREATE TABLE gpkg_contents (
    table_name TEXT PRIMARY KEY NOT NULL,
    data_type TEXT NOT NULL,
    identifier TEXT UNIQUE,
    description TEXT DEFAULT '',
    last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    min_x DOUBLE,
    min_y DOUBLE,
    max_x DOUBLE,
    max_y DOUBLE,
    srs_id INTEGER REFERENCES gpkg_spatial_ref_sys (srs_id)
);

CREATE TABLE gpkg_geometry_columns (
    table_name TEXT PRIMARY KEY NOT NULL REFERENCES gpkg_contents (table_name),
    column_name TEXT NOT NULL,
    geometry_type_name TEXT NOT NULL,
    srs_id INTEGER NOT NULL REFERENCES gpkg_spatial_ref_sys (srs_id),
    z INTEGER NOT NULL,
    m INTEGER NOT NULL
);

INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id)
SELECT column1, 'features', column1, 4326
FROM (VALUES ('areas'), ('regions'), ('cities'), ('infrastructure'), ('gauges'), ('reports'));

INSERT INTO gpkg_geometry_columns VALUES
    ('areas', 'geom', 'MULTIPOLYGON', 4326, 0, 0),
    ('regions', 'geom', 'MULTIPOLYGON', 4326, 0, 0),
    ('cities', 'geom', 'MULTIPOLYGON', 4326, 0, 0),
    ('infrastructure', 'geom', 'GEOMETRY', 4326, 0, 0),
    ('gauges', 'geom', 'POINT', 4326, 0, 0),
    ('reports', 'geom', 'POINT', 4326, 0, 0);

PRAGMA application_id = 0x47504B47;
PRAGMA user_version = 10300;
