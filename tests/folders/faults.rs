//! A faulty row is reported with file, line and reason, in one line.

use siaga::folder::FolderFile;

use super::samples::{AREAS, REGIONS, SAMPLES, STATES};
use super::support::{SQUARE, collection, feature, loaded};

pub(crate) fn fault(files: &[(FolderFile, impl AsRef<[u8]>)]) -> String {
    let error = loaded(files).map(drop).unwrap_err();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

/// Replaces a part of a sample file, and expects a fault on a line.
fn assert_faults(file: FolderFile, changes: &[(&str, &str, u64, &str)]) {
    for (part, by, line, reason) in changes {
        let mut files = SAMPLES.map(|(file, content)| (file, content.to_owned()));
        let (_, content) = files.iter_mut().find(|(item, _)| *item == file).unwrap();
        assert!(content.contains(part), "{file} has no {part}");
        *content = content.replacen(part, by, 1);
        let error = fault(&files);
        assert!(error.starts_with(&format!("{file}, line {line}: ")), "{by}: {error}");
        assert!(error.contains(reason), "{by}: {error}");
    }
}

#[test]
fn an_invalid_area_or_region_is_reported_with_its_line() {
    let deep = format!("\"a\":{}1{},\"geom_id\"", "[".repeat(16), "]".repeat(16));
    let no_polygon = "\"MultiPolygon\",\"coordinates\":[],\"x\":[";
    let changes = [
        ("\"area_id\":3", "\"area_id\":-3", 3, "area_id must be a whole number"),
        ("\"area_id\":3", "\"area_id\":[3]", 3, "area_id must be a text or a whole number"),
        ("\"area_id\":3", "\"id\":3", 3, "area_id is missing"),
        ("\"area_id\":3", "\"area_id\":7", 3, "area_id 7 occurs more than once"),
        ("RW 01", "RW\\u0000", 2, "area_name must be a text of 1 to 255 characters"),
        ("\"geom_id\"", "\"a\":\"\\u0000\",\"geom_id\"", 2, "attributes must not contain NUL"),
        ("\"geom_id\"", &deep, 2, "at most 16 levels"),
        ("\"Polygon\"", "\"Point\"", 2, ""),
        ("[0,1],[1,1],[1,0],", "[0,1],", 2, "a ring of less than 3 different positions at [0, 0]; correct"),
        ("[1,0],[0,0]]]", "[1,0],[0,9]]]", 2, "last position is not its first"),
        ("[0,1]", "[0,91]", 2, "no longitude and latitude"),
        ("[0,1]", "[0,\"1\"]", 2, ""),
        ("\"MultiPolygon\",\"coordinates\":[", no_polygon, 3, "no polygon"),
        ("{\"type\":\"MultiPolygon\"", "null,\"x\":{\"type\":\"MultiPolygon\"", 3, "geometry is missing"),
        ("\"type\":\"Feature\",\"properties\":{\"area_id\":3", "\"properties\":{\"area_id\":3", 3, ""),
        ("FeatureCollection", "Collection", 1, "type must be FeatureCollection"),
        (AREAS, "", 1, ""),
        ("}}\n]}", "}}\n", 4, "EOF"),
    ];
    assert_faults(FolderFile::Areas, &changes);
    let twice = format!(",\n{}\n]}}", REGIONS.lines().nth(1).unwrap());
    let changes = [
        ("ID-JK", "", 2, "feature 1: code is missing"),
        ("\"name\"", "\"nama\"", 2, "feature 1 (code ID-JK): name is missing"),
        ("\n]}", &twice, 3, "feature 2 (code ID-JK): code ID-JK occurs already"),
    ];
    assert_faults(FolderFile::Regions, &changes);
}

#[test]
fn an_invalid_state_is_reported_with_its_line() {
    let row = "3,1,2016-12-18T00:00:00Z,";
    let unheaded = "id;state;changed_at\n7;2;2016-12-19T10:00:00Z\n";
    let separated = "sep=;\n\narea_id;state;changed_at\n7;2;2016-12-19T10:00:00Z\n7;9;2016-12-19T10:00:00Z\n";
    let changes = [
        (row, "7,5,2016-12-19T00:00:00Z,", 3, "state must be one of [1, 2, 3, 4] or empty, not \"5\""),
        (row, "8,2,2016-12-19T00:00:00Z,", 3, "area_id 8 is no known area"),
        (row, "1e0,2,2016-12-19T00:00:00Z,", 3, "area_id must be a whole number"),
        (row, "9007199254740993.0,2,2016-12-19T00:00:00Z,", 3, "area_id must be a whole number"),
        (row, "7,2,2016-12-19T00:00:00,", 3, "changed_at must be a time"),
        (row, "7,2,2016-12-19T16:08:53Z,", 3, "changed_at must not be after now, 2016-12-19T16:08:52.000Z"),
        (row, "7,2", 3, "has 2 fields where the first line has 4"),
        (row, "7,2,2016-12-19T00:00:00Z,a,b", 3, "has 5 fields"),
        (row, "\r\n\r\n3,9,2016-12-18T00:00:00Z,", 5, "state must be one of"),
        ("bpbd", "\"bp\nbd\"", 2, "username must be"),
        (STATES, unheaded, 1, "area_id is missing; the columns are [id, state, changed_at]"),
        (STATES, separated, 5, "state must be one of"),
        (STATES, "area_id\tstate\tchanged_at\n1\t2\n", 2, "has 2 fields where the first line has 3"),
    ];
    assert_faults(FolderFile::FloodStates, &changes);
}

#[test]
fn invalid_infrastructure_gauges_and_readings_are_reported_with_their_line() {
    let changes = [
        ("pumps", "dams", 2, "type must be one of [floodgates, pumps, waterways]"),
        ("\"769\"", "769.5", 2, "tags.local_area_id must be a text or a whole number"),
        ("\"769\"", "\"x\"", 2, "tags.local_area_id must be a whole number"),
        (",[9,9]]", "]", 3, "a line of less than 2 positions"),
    ];
    assert_faults(FolderFile::Infrastructure, &changes);
    let changes = [
        ("TMA1", "TMA2", 3, "gaugeid TMA2 occurs already"),
        ("\"A\"", "\"\"", 3, "gaugenameid is missing"),
        ("[2,2]", "[2,91]", 3, "no longitude and latitude"),
    ];
    assert_faults(FolderFile::Gauges, &changes);
    let changes = [
        ("TMA1", "TMA3", 3, "gaugeid \"TMA3\" is no known gauge"),
        (",30,", ",deep,", 3, "level must be a number"),
        (",30,", ",NaN,", 3, "level must be a number"),
        (",4,", ",5,", 3, "alert must be one of [1, 2, 3, 4]"),
        ("10:00:00+0700", "10:00", 3, "observed_at must be a time"),
        ("observed_at", "time", 1, "the column observed_at is missing"),
        ("SIAGA I !", "SIAGA\u{7}", 2, "label must be a text"),
    ];
    assert_faults(FolderFile::GaugeReadings, &changes);
}

const DEEP: &str = "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]";

#[test]
fn an_invalid_report_is_reported_with_its_line() {
    let (undated, keyed) = ("{\"created_at\":\"2016-12-18", "{\"pkey\":17,\"created_at\":\"2016-12-18");
    let deep = format!("\"x\":{DEEP}");
    let script = "\"image_url\":\"javascript:alert(1)\"";
    let changes = [
        ("\"17\"", "\"0\"", 2, "pkey must be a whole number from 1"),
        (undated, keyed, 3, "pkey is that of line 2 already"),
        ("\"flood_depth\":4.6", "\"x\":\"\\u0000\"", 2, "report_data must not contain NUL"),
        ("\"flood_depth\":4.6", &deep, 2, "report_data must be nested at most 16 levels deep"),
        ("\"image_url\":null", script, 2, "image_url must be an http or https address of at most 2048"),
        ("\"17\"", "\"9223372036854775807\"", 1, "no pkey is left"),
        ("wind", "storm", 3, "disaster_type must be one of [flood, "),
        ("\"partner\"", "\"\"", 3, "source is missing"),
        ("2016-12-18T10:00:00Z", "yesterday", 3, "created_at must be a time"),
        ("line\\nline", "a\\u0000", 2, "text must be a text without NUL"),
    ];
    assert_faults(FolderFile::Reports, &changes);
}

#[test]
fn an_invalid_card_or_post_is_reported_with_its_line() {
    let (number, most) = ("must be a whole number from 1 to 9223372036854775807", "9223372036854775808");
    let pkey = format!("pkey {number}");
    let (large, report) = (format!("card-two,{most}"), format!("report {number} or empty"));
    let changes = [
        ("card-one", "card", 2, "card_id must be of 7 to 14 characters"),
        ("card-two", "card-one", 3, "card_id is that of line 2 already"),
        ("card-two,2", "card-two,1", 3, "pkey is that of line 2 already"),
        ("card-two,2", "card-two,0", 3, &*pkey),
        ("card-two,2", &large, 3, &pkey),
        (" Ibu ", "Ibu\0", 2, "username must be a text without NUL characters"),
        ("telegram", "\0", 2, "network must be a text without NUL characters"),
        ("[1]", "[", 2, "network_data must be a JSON object or empty"),
        ("\"{\"\"a\"\": [1]}\"", "[1]", 2, "network_data must be a JSON object or empty"),
        ("[1]", "\"\"\\u0000\"\"", 2, "network_data must not contain NUL characters"),
        ("[1]", DEEP, 2, "network_data must be nested at most 16 levels deep"),
        (",17", ",x", 2, &report),
        (",17", ",19", 2, "report 19 is no known report"),
        ("network_data", "data", 1, "the column network_data is missing"),
    ];
    assert_faults(FolderFile::Cards, &changes);
    let changes = [
        ("-4711", "x", 2, "post_id must be a whole number from -9223372036854775808"),
        ("-4711", most, 2, "post_id must be a whole number"),
        ("17", "", 2, "pkey must be a whole number from 1"),
        ("17", "19", 2, "pkey 19 is no known report"),
        ("17\n", "17\n-4711,1\n", 3, "post_id is that of line 2 already"),
        ("17\n", "17\n4711,17\n", 3, "pkey is that of line 2 already"),
        ("pkey", "report", 1, "the column pkey is missing"),
    ];
    assert_faults(FolderFile::PartnerPosts, &changes);
}

const BOW_TIE: &str = r#"{"type":"Polygon","coordinates":[[[106.8,-6.2],[106.9,-6.1],[106.9,-6.2],[106.8,-6.1],[106.8,-6.2]]]}"#;

#[test]
fn an_invalid_feature_is_reported_with_its_number_identifier_value_and_remedy() {
    let at = |position: &str| format!(r#"{{"type":"Polygon","coordinates":[[[{position}],[1,0],[1,1]]]}}"#);
    let (metres, swapped) = (at("699000,9320000"), at("-6.2,106.8"));
    let (id, unknown) = (r#""area_id":17"#, r#""OBJECTID":17,"RW\n":"01""#);
    let crosses = "(area_id 17): geometry crosses itself at [106.85, -6.15]; ";
    let far = "(area_id 17): geometry has the position [699000.0, 9320000.0], which is no longitude";
    let turned = "(area_id 17): geometry has the position [-6.2, 106.8]";
    let missing = "area_id is missing; the properties are [OBJECTID, RW\\n]";
    for (properties, geometry, found, advice) in [
        (id, BOW_TIE, crosses, "ogr2ogr -makevalid"),
        (id, &metres, far, "ogr2ogr -t_srs EPSG:4326"),
        (id, &swapped, turned, "Longitude comes first"),
        (unknown, SQUARE, missing, "rename one of them"),
        (r#""area_id":"""#, SQUARE, "area_id is missing; the property is empty", ""),
    ] {
        let areas = collection(&[feature(r#""area_id":5"#, SQUARE), feature(properties, geometry)]);
        let error = fault(&[(FolderFile::Areas, &areas)]);
        assert!(error.starts_with("areas.geojson, line 3: feature 2"), "{error}");
        assert!(error.contains(found) && error.contains(advice), "{error}");
    }
    let none = collection(&[feature("", SQUARE)]).replace("{}", "null");
    let error = fault(&[(FolderFile::Areas, &none)]);
    assert!(error.contains("area_id is missing; the feature has no properties"), "{error}");
    let regions = collection(&[feature(r#""code":"ID-JK","name":"DKI Jakarta""#, BOW_TIE)]);
    let error = fault(&[(FolderFile::Regions, &regions)]);
    assert!(error.contains("line 2: feature 1 (code ID-JK): geometry crosses itself at "), "{error}");
}
