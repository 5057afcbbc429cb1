//! A wrong row is named by file, line and reason, in one line.

use siaga::folder::FolderFile;

use super::samples::{AREAS, CARDS, GAUGES, INFRASTRUCTURE, POSTS, READINGS, REGIONS, REPORTS, STATES};
use super::support::{SQUARE, collection, feature, loaded};

/// The error of a folder of these files.
pub(crate) fn fault(files: &[(FolderFile, &str)]) -> String {
    let error = loaded(files).map(drop).unwrap_err();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

/// Replaces a part of a file by another, in a folder with further files, and expects a fault on a line.
fn assert_faults(
    file: FolderFile,
    content: &str,
    further: &[(FolderFile, &str)],
    changes: &[(&str, &str, u64, &str)],
) {
    for (part, by, line, reason) in changes {
        assert!(content.contains(part), "{file} has no {part}");
        let changed = content.replacen(part, by, 1);
        let error = fault(&[&[(file, changed.as_str())], further].concat());
        assert!(error.starts_with(&format!("{file}, line {line}: ")), "{by}: {error}");
        assert!(error.contains(reason), "{by}: {error}");
    }
}

#[test]
fn a_wrong_area_or_region_is_named() {
    let deep = format!("\"a\":{}1{},\"geom_id\"", "[".repeat(16), "]".repeat(16));
    let no_ring = "a ring of less than 3 different positions at [0, 0]; correct it there";
    let no_polygon = "\"MultiPolygon\",\"coordinates\":[],\"x\":[";
    assert_faults(
        FolderFile::Areas,
        AREAS,
        &[],
        &[
            ("\"area_id\":3", "\"area_id\":\"x\"", 3, "area_id must be a whole number"),
            ("\"area_id\":3", "\"area_id\":-3", 3, "area_id must be a whole number"),
            ("\"area_id\":3", "\"area_id\":[3]", 3, "area_id must be a text or a whole number"),
            ("\"area_id\":3", "\"id\":3", 3, "area_id is missing"),
            ("\"area_id\":3", "\"area_id\":7", 3, "area_id 7 occurs more than once"),
            ("RW 01", "RW\\u0000", 2, "area_name must be a text of 1 to 255 characters"),
            ("\"geom_id\"", "\"a\":\"\\u0000\",\"geom_id\"", 2, "attributes must not contain NUL"),
            ("\"geom_id\"", &deep, 2, "at most 16 levels"),
            ("\"Polygon\"", "\"Point\"", 2, ""),
            ("[0,1],[1,1],[1,0],", "[0,1],", 2, no_ring),
            ("[1,0],[0,0]]]", "[1,0],[0,9]]]", 2, "last position is not its first"),
            ("[0,1]", "[0,91]", 2, "no longitude and latitude"),
            ("[[0,0],[0,1],[1,1],[1,0],", "[[0,0],[0,0],[1,1],", 2, "less than 3 different positions"),
            ("[0,1]", "[0]", 2, ""),
            ("[0,1]", "[0,null]", 2, ""),
            ("[0,1]", "[0,\"1\"]", 2, ""),
            ("\"MultiPolygon\",\"coordinates\":[", no_polygon, 3, "no polygon"),
            ("{\"type\":\"MultiPolygon\"", "null,\"x\":{\"type\":\"MultiPolygon\"", 3, "geometry is missing"),
            ("\"type\":\"Feature\",\"properties\":{\"area_id\":3", "\"properties\":{\"area_id\":3", 3, ""),
            ("FeatureCollection", "Collection", 1, "type must be FeatureCollection"),
            (AREAS, "", 1, ""),
            ("}}\n]}", "}}\n", 4, "EOF"),
            ("},\n{", "}\n{", 3, "expected `,`"),
        ],
    );
    let twice = format!(",\n{}\n]}}", REGIONS.lines().nth(1).unwrap());
    assert_faults(
        FolderFile::Regions,
        REGIONS,
        &[],
        &[
            ("ID-JK", "", 2, "feature 1: code is missing"),
            ("\"name\"", "\"nama\"", 2, "feature 1 (code ID-JK): name is missing"),
            ("\n]}", &twice, 3, "feature 2 (code ID-JK): code ID-JK occurs already"),
        ],
    );
}

#[test]
fn a_wrong_state_is_named() {
    let row = "3,1,2016-12-18T00:00:00Z,";
    let rows = "7;2;2016-12-19T10:00:00Z\n7;9;2016-12-19T10:00:00Z\n";
    assert_faults(
        FolderFile::FloodStates,
        STATES,
        &[(FolderFile::Areas, AREAS)],
        &[
            (row, "7,5,2016-12-19T00:00:00Z,", 3, "state must be one of [1, 2, 3, 4] or empty, not \"5\""),
            (row, "7,two,2016-12-19T00:00:00Z,", 3, "state must be one of"),
            (row, "8,2,2016-12-19T00:00:00Z,", 3, "area_id 8 is no known area"),
            (row, "x,2,2016-12-19T00:00:00Z,", 3, "area_id must be a whole number"),
            (row, "1.5,2,2016-12-19T00:00:00Z,", 3, "area_id must be a whole number"),
            (row, "1e0,2,2016-12-19T00:00:00Z,", 3, "area_id must be a whole number"),
            (row, "9007199254740993.0,2,2016-12-19T00:00:00Z,", 3, "area_id must be a whole number"),
            (row, "7,2,yesterday,", 3, "changed_at must be a time"),
            (row, "7,2,2016-12-19T00:00:00,", 3, "changed_at must be a time"),
            (
                row,
                "7,2,2016-12-19T23:59:59Z,",
                3,
                "changed_at must not be after now, 2016-12-19T16:08:52.000Z",
            ),
            (row, "7,2", 3, "has 2 fields where the first line has 4"),
            (row, "7,2,2016-12-19T00:00:00Z,a,b", 3, "has 5 fields"),
            (row, "\r\n\r\n3,9,2016-12-18T00:00:00Z,", 5, "state must be one of"),
            ("bpbd", "\"bp\nbd\"", 2, "username must be"),
            (
                STATES,
                &format!("id;state;changed_at\n{rows}"),
                1,
                "area_id is missing; the columns are [id, state, changed_at]",
            ),
            (STATES, &format!("sep=;\n\narea_id;state;changed_at\n{rows}"), 5, "state must be one of"),
            (STATES, "area_id\tstate\tchanged_at\n1\t2\n", 2, "has 2 fields where the first line has 3"),
        ],
    );
}

#[test]
fn a_wrong_piece_of_infrastructure_gauge_or_reading_is_named() {
    assert_faults(
        FolderFile::Infrastructure,
        INFRASTRUCTURE,
        &[],
        &[
            ("pumps", "dams", 2, "type must be one of [floodgates, pumps, waterways]"),
            ("\"769\"", "769.5", 2, "tags.local_area_id must be a text or a whole number"),
            ("\"769\"", "\"x\"", 2, "tags.local_area_id must be a whole number"),
            (",[9,9]]", "]", 3, "a line of less than 2 positions"),
        ],
    );
    assert_faults(
        FolderFile::Gauges,
        GAUGES,
        &[],
        &[
            ("TMA1", "TMA2", 3, "gaugeid TMA2 occurs already"),
            ("\"A\"", "\"\"", 3, "gaugenameid is missing"),
            ("[2,2]", "[2,91]", 3, "no longitude and latitude"),
        ],
    );
    assert_faults(
        FolderFile::GaugeReadings,
        READINGS,
        &[(FolderFile::Gauges, GAUGES)],
        &[
            ("TMA1", "TMA3", 3, "gaugeid \"TMA3\" is no known gauge"),
            (",30,", ",deep,", 3, "level must be a number"),
            (",30,", ",NaN,", 3, "level must be a number"),
            (",4,", ",5,", 3, "alert must be one of [1, 2, 3, 4]"),
            ("10:00:00+0700", "10:00", 3, "observed_at must be a time"),
            ("observed_at", "time", 1, "the column observed_at is missing"),
            ("SIAGA I !", "SIAGA\u{7}", 2, "label must be a text"),
        ],
    );
}

#[test]
fn a_wrong_report_is_named() {
    let (undated, keyed) = ("{\"created_at\":\"2016-12-18", "{\"pkey\":17,\"created_at\":\"2016-12-18");
    let deep = "\"x\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]";
    let script = "\"image_url\":\"javascript:alert(1)\"";
    assert_faults(
        FolderFile::Reports,
        REPORTS,
        &[(FolderFile::Areas, AREAS)],
        &[
            ("\"17\"", "\"0\"", 2, "pkey must be a whole number from 1"),
            (undated, keyed, 3, "pkey is that of line 2 already"),
            ("\"flood_depth\":4.6", "\"x\":\"\\u0000\"", 2, "report_data must not contain NUL"),
            ("\"flood_depth\":4.6", deep, 2, "report_data must be nested at most 16 levels deep"),
            ("\"image_url\":null", script, 2, "image_url must be an http or https address of at most 2048"),
            ("\"17\"", "\"9223372036854775807\"", 1, "no pkey is left"),
            ("wind", "storm", 3, "disaster_type must be one of [flood, "),
            ("\"partner\"", "\"\"", 3, "source is missing"),
            ("2016-12-18T10:00:00Z", "yesterday", 3, "created_at must be a time"),
            ("line\\nline", "a\\u0000", 2, "text must be a text without NUL"),
        ],
    );
}

#[test]
fn a_wrong_card_or_post_is_named() {
    let (number, most) = ("must be a whole number from 1 to 9223372036854775807", "9223372036854775808");
    let deep = "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]";
    assert_faults(
        FolderFile::Cards,
        CARDS,
        &[(FolderFile::Reports, REPORTS)],
        &[
            ("card-one", "card", 2, "card_id must be of 7 to 14 characters"),
            ("card-two", "card-one", 3, "card_id is that of line 2 already"),
            ("card-two,2", "card-two,1", 3, "pkey is that of line 2 already"),
            ("card-two,2", "card-two,0", 3, &format!("pkey {number}")),
            ("card-two,2", &format!("card-two,{most}"), 3, &format!("pkey {number}")),
            (" Ibu ", "Ibu\0", 2, "username must be a text without NUL characters"),
            ("telegram", "\0", 2, "network must be a text without NUL characters"),
            ("[1]", "[", 2, "network_data must be a JSON object or empty"),
            ("\"{\"\"a\"\": [1]}\"", "[1]", 2, "network_data must be a JSON object or empty"),
            ("[1]", "\"\"\\u0000\"\"", 2, "network_data must not contain NUL characters"),
            ("[1]", deep, 2, "network_data must be nested at most 16 levels deep"),
            (",17", ",x", 2, &format!("report {number} or empty")),
            (",17", ",19", 2, "report 19 is no known report"),
            ("network_data", "data", 1, "the column network_data is missing"),
        ],
    );
    assert_faults(
        FolderFile::PartnerPosts,
        POSTS,
        &[(FolderFile::Reports, REPORTS)],
        &[
            ("-4711", "x", 2, "post_id must be a whole number from -9223372036854775808"),
            ("-4711", most, 2, "post_id must be a whole number"),
            ("17", "", 2, "pkey must be a whole number from 1"),
            ("17", "19", 2, "pkey 19 is no known report"),
            ("17\n", "17\n-4711,1\n", 3, "post_id is that of line 2 already"),
            ("17\n", "17\n4711,17\n", 3, "pkey is that of line 2 already"),
            ("pkey", "report", 1, "the column pkey is missing"),
        ],
    );
}

const BOW_TIE: &str = r#"{"type":"Polygon","coordinates":[[[106.8,-6.2],[106.9,-6.1],[106.9,-6.2],[106.8,-6.1],[106.8,-6.2]]]}"#;

#[test]
fn a_wrong_feature_is_named_by_its_number_and_identifier_with_what_was_found_and_what_to_do() {
    let at =
        |position: &str| format!(r#"{{"type":"Polygon","coordinates":[[[{position}],[1,0],[1,1],[0,0]]]}}"#);
    let (metres, swapped) = (at("699000,9320000"), at("-6.2,106.8"));
    for (properties, geometry, called, advice) in [
        (
            r#""area_id":"17""#,
            BOW_TIE,
            " (area_id 17): geometry crosses itself at [106.85, -6.15]; ",
            "ogr2ogr -makevalid",
        ),
        (r#""area_id":17"#, BOW_TIE, " (area_id 17): geometry crosses itself at ", "siaga import --repair"),
        (
            r#""area_id":17"#,
            &metres,
            " (area_id 17): geometry has the position [699000.0, 9320000.0], which is no longitude and latitude",
            "ogr2ogr -t_srs EPSG:4326",
        ),
        (
            r#""area_id":17"#,
            &swapped,
            " (area_id 17): geometry has the position [-6.2, 106.8]",
            "Longitude comes first",
        ),
        (
            r#""OBJECTID":17,"RW\n":"01""#,
            BOW_TIE,
            ": area_id is missing; the properties are [OBJECTID, RW\\n]",
            "rename one of them",
        ),
        (r#""area_id":"""#, BOW_TIE, ": area_id is missing; the property is empty", ""),
        (r#""area_id":{"a":1}"#, BOW_TIE, ": area_id must be a text or a whole number", ""),
    ] {
        let areas = collection(&[feature(r#""area_id":5"#, SQUARE), feature(properties, geometry)]);
        let error = fault(&[(FolderFile::Areas, &areas)]);
        assert!(error.starts_with(&format!("areas.geojson, line 3: feature 2{called}")), "{error}");
        assert!(error.contains(advice), "{error}");
    }
    let none = collection(&[feature("", SQUARE)]).replace("{}", "null");
    assert!(
        fault(&[(FolderFile::Areas, &none)]).contains("area_id is missing; the feature has no properties")
    );
    let regions = collection(&[feature(r#""code":"ID-JK","name":"DKI Jakarta""#, BOW_TIE)]);
    let error = fault(&[(FolderFile::Regions, &regions)]);
    assert!(error.contains("line 2: feature 1 (code ID-JK): geometry crosses itself at "), "{error}");
}
