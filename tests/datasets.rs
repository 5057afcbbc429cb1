//! Data sets in folders: what is read, and what a wrong row is answered.

#[path = "../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

use std::fs;
use std::path::Path;

use siaga::folder::{Dataset, FolderFile, FolderRules};
use siaga::model::{FloodState, InfrastructureKind};

const AREAS: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"area_id":"7","geom_id":"31","area_name":"RW 01","parent_name":"GROGOL","city_name":"JAKARTA","instance_region_code":"ID-JK","city":"jbd"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0],[0,0]]]}},
{"type":"Feature","properties":{"area_id":3,"area_name":null},"geometry":{"type":"MultiPolygon","coordinates":[[[[5,5],[6,5],[6,6],[5,5]]],[[[7,7],[8,7],[8,8],[7,7]]]]}}
]}"#;
const REGIONS: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"code":"ID-JK","name":"DKI Jakarta"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}
]}"#;
const STATES: &str = "area_id,state,changed_at,username
7,3,2016-12-19T20:00:00+07:00,bpbd
3,1,2016-12-18T00:00:00Z,
7,,2016-12-19T14:00:00.5Z,\"O'Neil, \"\"x\"\"\"
";

/// Loads a folder of these files.
fn load(files: &[(&str, &[u8])]) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let loaded = Dataset::load(path, &FolderRules::default(), fixture::now());
    loaded.map_err(|error| error.to_string().replace(&format!("{path}/"), ""))
}

fn error(files: &[(&str, &[u8])]) -> String {
    load(files).map(drop).unwrap_err()
}

#[test]
fn what_is_not_known_of_an_area_is_its_attributes_as_it_is_written() {
    let of = |more: &str| {
        let first = AREAS.replace(r#""city":"jbd"}"#, &format!(r#""city":"jbd"{more}}}"#));
        let loaded = load(&[("areas.geojson", first.as_bytes())])
            .map_err(|error| error.replace("areas.geojson", ""))?;
        Ok(loaded.places.areas()[1].attributes.as_ref().map(|attributes| attributes.as_json().to_owned()))
    };
    for (more, expected) in [
        ("", None),
        (
            r#","Z":1.50,"A":{ "b" :\n[1e2, "x y"] },"none":null"#,
            Some(r#"{"Z":1.50,"A":{"b":[1e2,"x y"]},"none":null}"#),
        ),
        (r#","attributes":{"b":1,"a":2}"#, Some(r#"{"b":1,"a":2}"#)),
        (r#","c":3,"attributes":{"b":1,"a":2},"a":9"#, Some(r#"{"b":1,"a":2,"c":3}"#)),
        (r#","attributes":null"#, None),
        (r#","attributes":{},"a":1"#, Some(r#"{"a":1}"#)),
        (r#","attributes":"text""#, Some(r#"{"attributes":"text"}"#)),
        (r#","state":2,"last_updated":"2016-12-19T13:41:35.000Z""#, None),
        (r#","a":1,"b":2,"a":3"#, Some(r#"{"b":2,"a":3}"#)),
    ] {
        assert_eq!(of(&more.replace("\\n", "\n")), Ok(expected.map(str::to_owned)), "{more}");
    }
    let deep = format!(r#","a":{}1{}"#, "[".repeat(16), "]".repeat(16));
    for (more, reason) in
        [(r#","a":"\u0000""#, "attributes must not contain NUL"), (deep.as_str(), "at most 16 levels")]
    {
        let error: String = of(more).unwrap_err();
        assert!(error.starts_with(", line 2: ") && error.contains(reason), "{error}");
    }
}

#[test]
fn a_folder_gives_its_areas_regions_and_history() {
    let files = [
        ("areas.geojson", AREAS.as_bytes()),
        ("regions.geojson", REGIONS.as_bytes()),
        ("flood_states.csv", STATES.as_bytes()),
        ("notes.txt", b"\xff ignored"),
    ];
    let dataset = load(&files).unwrap();
    let ids: Vec<_> = dataset.places.areas().iter().map(|area| area.id.number()).collect();
    assert_eq!(ids, [3, 7]);
    assert_eq!(
        (dataset.places.areas()[0].name.as_str(), dataset.places.areas()[1].city_code.as_str()),
        ("", "jbd")
    );
    assert_eq!(dataset.places.areas()[0].geometry().type_name(), "MultiPolygon");
    assert_eq!(dataset.places.regions()[0].name, "DKI Jakarta");
    let log: Vec<_> = dataset
        .flood_log
        .iter()
        .map(|change| (change.area.number(), change.state, change.by.username.as_deref()))
        .collect();
    assert_eq!(
        log,
        [
            (3, Some(FloodState::Unknown), None),
            (7, Some(FloodState::Moderate), Some("bpbd")),
            (7, None, Some("O'Neil, \"x\"")),
        ]
    );
    assert_eq!(dataset.flood_log[2].at.to_string(), "2016-12-19T14:00:00.500Z");
}

#[test]
fn rings_are_wound_as_rfc_7946_asks() {
    let areas = load(&[("areas.geojson", AREAS.as_bytes())]).unwrap();
    let areas = areas.places.areas();
    let ring = areas[1].outline.0[0].exterior();
    let positions: Vec<_> = ring.coords().map(|coord| (coord.x, coord.y)).collect();
    assert_eq!(positions, [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)]);
}

#[test]
fn every_file_is_optional_and_a_byte_order_mark_is_no_error() {
    let regions = load(&[("regions.geojson", REGIONS.as_bytes())]).unwrap();
    assert!(
        regions.places.areas().is_empty()
            && regions.places.regions().len() == 1
            && regions.flood_log.is_empty()
    );
    let marked = format!("\u{feff}{AREAS}");
    assert_eq!(load(&[("areas.geojson", marked.as_bytes())]).unwrap().places.areas().len(), 2);
}

#[test]
fn a_path_that_is_no_folder_is_refused_with_what_is_allowed() {
    for path in ["nowhere", "Demo", ""] {
        let error =
            Dataset::load(path, &FolderRules::default(), fixture::now()).map(drop).unwrap_err().to_string();
        assert!(error.starts_with("siaga.dataset must be demo, empty or a folder"), "{error}");
    }
    assert!(!Path::new("nowhere").exists());
}

#[test]
fn a_folder_in_which_nothing_is_recognised_is_refused_with_what_was_looked_for_and_what_is_there() {
    let looked = FolderFile::ALL.map(FolderFile::name).join(", ");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for (name, found) in [
        (None, "the folder is empty"),
        (Some("rw.shp"), "found rw.shp"),
        (Some("Areas.GeoJSON"), "found Areas.GeoJSON, rw.shp"),
    ] {
        if let Some(name) = name {
            fs::write(folder.path().join(name), AREAS).unwrap();
        }
        let error =
            Dataset::load(path, &FolderRules::default(), fixture::now()).map(drop).unwrap_err().to_string();
        assert_eq!(error, format!("{path} holds no data set: looked for {looked}; {found}"));
        assert_eq!(Dataset::find(path).unwrap_err().to_string(), error);
    }
}

#[test]
fn a_wrong_area_is_named_by_file_line_and_reason() {
    for (from, to, line, reason) in [
        ("\"area_id\":3", "\"area_id\":\"x\"", 3, "area_id must be a whole number"),
        ("\"area_id\":3", "\"area_id\":-3", 3, "area_id must be a whole number"),
        ("\"area_id\":3", "\"area_id\":[3]", 3, "area_id must be a text or a whole number"),
        ("\"area_id\":3", "\"id\":3", 3, "area_id is missing"),
        ("\"area_id\":3", "\"area_id\":7", 3, "area_id 7 occurs more than once"),
        ("RW 01", "RW\\u0000", 2, "area_name must be a text of 1 to 255 characters"),
        ("\"Polygon\"", "\"Point\"", 2, ""),
        (
            "[0,1],[1,1],[1,0],",
            "[0,1],",
            2,
            "a ring of less than 3 different positions at [0, 0]; correct it there",
        ),
        ("[1,0],[0,0]]]", "[1,0],[0,9]]]", 2, "last position is not its first"),
        ("[0,1]", "[0,91]", 2, "no longitude and latitude"),
        (
            "[[0,0],[0,1],[1,1],[1,0],[0,0]]",
            "[[0,0],[0,0],[1,1],[0,0]]",
            2,
            "less than 3 different positions",
        ),
        ("[0,1]", "[0]", 2, ""),
        ("[0,1]", "[0,null]", 2, ""),
        ("[0,1]", "[0,\"1\"]", 2, ""),
        (
            "\"MultiPolygon\",\"coordinates\":[",
            "\"MultiPolygon\",\"coordinates\":[],\"x\":[",
            3,
            "no polygon",
        ),
        ("{\"type\":\"MultiPolygon\"", "null,\"x\":{\"type\":\"MultiPolygon\"", 3, "geometry is missing"),
        ("{\"type\":\"Feature\",\"properties\":{\"area_id\":3", "{\"properties\":{\"area_id\":3", 3, ""),
        ("FeatureCollection", "Collection", 1, "type must be FeatureCollection"),
        ("}}\n]}", "}}\n", 4, "EOF"),
        ("},\n{", "}\n{", 3, "expected `,`"),
    ] {
        assert!(AREAS.contains(from), "{from}");
        let error = error(&[("areas.geojson", AREAS.replace(from, to).as_bytes())]);
        assert!(error.starts_with(&format!("areas.geojson, line {line}: ")), "{to}: {error}");
        assert!(error.contains(reason), "{to}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_file_that_is_not_utf_8_is_named_with_the_line() {
    let mut bytes = AREAS.as_bytes().to_vec();
    let at = AREAS.find("GROGOL").unwrap();
    bytes[at] = 0xff;
    assert_eq!(error(&[("areas.geojson", &bytes)]), "areas.geojson, line 2: is not UTF-8");
    assert_eq!(
        error(&[("flood_states.csv", b"area_id,state,changed_at\n\xff")]),
        "flood_states.csv, line 2: is not UTF-8"
    );
}

#[test]
fn an_empty_file_is_no_feature_collection() {
    assert!(error(&[("areas.geojson", b"")]).starts_with("areas.geojson, line 1: "));
}

#[test]
fn a_wrong_region_is_named_by_file_line_and_reason() {
    let twice = REGIONS.replace("\n]}", &format!(",\n{}\n]}}", REGIONS.lines().nth(1).unwrap()));
    for (content, line, reason) in [
        (REGIONS.replace("ID-JK", ""), 2, "code is missing"),
        (REGIONS.replace("\"name\"", "\"nama\""), 2, "name is missing"),
        (twice, 3, "code ID-JK occurs already"),
    ] {
        let error = error(&[("regions.geojson", content.as_bytes())]);
        assert!(error.starts_with(&format!("regions.geojson, line {line}: feature {}", line - 1)), "{error}");
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_wrong_state_is_named_by_file_line_and_reason() {
    for (row, reason) in [
        ("7,5,2016-12-19T00:00:00Z,", "state must be one of [1, 2, 3, 4] or empty, not \"5\""),
        ("7,two,2016-12-19T00:00:00Z,", "state must be one of"),
        ("8,2,2016-12-19T00:00:00Z,", "area_id 8 is no known area"),
        ("x,2,2016-12-19T00:00:00Z,", "area_id must be a whole number"),
        ("7,2,yesterday,", "changed_at must be a time"),
        ("7,2,2016-12-19T00:00:00,", "changed_at must be a time"),
        ("7,2,2016-12-19T23:59:59Z,", "changed_at must not be after now, 2016-12-19T16:08:52.000Z"),
        ("7,2", "has 2 fields where the first line has 4"),
        ("7,2,2016-12-19T00:00:00Z,a,b", "has 5 fields"),
    ] {
        let states = STATES.replace("3,1,2016-12-18T00:00:00Z,", row);
        let error = error(&[("areas.geojson", AREAS.as_bytes()), ("flood_states.csv", states.as_bytes())]);
        assert!(error.starts_with("flood_states.csv, line 3: "), "{row}: {error}");
        assert!(error.contains(reason), "{row}: {error}");
    }
    let windows = STATES.replace('\n', "\r\n").replace("3,1,", "\r\n\r\n3,9,");
    let error_of =
        |states: &str| error(&[("areas.geojson", AREAS.as_bytes()), ("flood_states.csv", states.as_bytes())]);
    assert!(
        error_of(&windows).starts_with("flood_states.csv, line 5: state must be one of"),
        "{}",
        error_of(&windows)
    );
    let control = STATES.replace("bpbd", "\"bp\nbd\"");
    assert!(
        error_of(&control).starts_with("flood_states.csv, line 2: username must be"),
        "{}",
        error_of(&control)
    );
    let headless = error(&[("flood_states.csv", b"area,state,changed_at\n7,2,2016-12-19T00:00:00Z\n")]);
    assert!(
        headless.starts_with(
            "flood_states.csv, line 1: the column area_id is missing; the columns are [area, state, changed_at]"
        ),
        "{headless}"
    );
}

const INFRASTRUCTURE: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"type":"pumps","name":"PA","tags":{"instance_region_code":"ID-JK","local_area_id":"769"}},"geometry":{"type":"Point","coordinates":[5,5,12.5]}},
{"type":"Feature","properties":{"type":"waterways","name":"Kali"},"geometry":{"type":"LineString","coordinates":[[0.5,0.2],[9,9]]}}
]}"#;
const GAUGES: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"gaugeid":"TMA2","gaugenameid":"B","instance_region_code":"ID-JK"},"geometry":{"type":"Point","coordinates":[1,1]}},
{"type":"Feature","properties":{"gaugeid":"TMA1","gaugenameid":"A"},"geometry":{"type":"Point","coordinates":[2,2]}}
]}"#;
const READINGS: &str = "gaugeid,observed_at,level,alert,label
TMA2,2016-12-19T10:00:00Z,-12.5,1,SIAGA I !
TMA1,2016-12-19T10:00:00+0700,30,4,
";
const REPORTS: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"pkey":"17","created_at":"2016-12-19T10:00:00Z","source":"grasp","status":"confirmed","url":"abcdefg","image_url":null,"disaster_type":"flood","report_data":{"volcanicSigns":2,"report_type":"flood","flood_depth":4.6,"impact":9.0,"evacuationNumber":"3","other":"3"},"tags":{"instance_region_code":null,"local_area_id":"3"},"title":"","text":"line\nline"},"geometry":{"type":"Point","coordinates":[0.5,0.2]}},
{"type":"Feature","properties":{"created_at":"2016-12-18T10:00:00Z","source":"partner","disaster_type":"wind","is_training":true,"partner_code":"PMI","partner_icon":"https://example.org/1.png"},"geometry":{"type":"Point","coordinates":[0.5,0.2]}}
]}"#;

#[test]
fn a_folder_gives_infrastructure_gauges_and_reports() {
    let files = [
        ("areas.geojson", AREAS.as_bytes()),
        ("infrastructure.geojson", INFRASTRUCTURE.as_bytes()),
        ("gauges.geojson", GAUGES.as_bytes()),
        ("gauge_readings.csv", READINGS.as_bytes()),
        ("reports.geojson", REPORTS.as_bytes()),
    ];
    let dataset = load(&files).unwrap();
    let [pump, river] = dataset.places.infrastructure() else { panic!("two") };
    assert_eq!((pump.kind, pump.tags.local_area_id.unwrap().number()), (InfrastructureKind::Pumps, 769));
    assert_eq!(river.tags.local_area_id.unwrap().number(), 7, "located where it begins");
    let [a, b] = &dataset.gauges[..] else { panic!("two") };
    assert_eq!((a.gauge.id.as_str(), &*a.observations[0].label), ("TMA1", "SIAGA IV"));
    assert_eq!((b.observations[0].level, &*b.observations[0].label), (-12.5, "SIAGA I !"));
    let [flood, wind] = &dataset.reports[..] else { panic!("two") };
    assert_eq!((flood.key.number(), wind.key.number()), (17, 18), "counted on from the highest");
    assert_eq!(flood.tags.local_area_id.unwrap().number(), 3, "as the file has it");
    assert_eq!(wind.tags.local_area_id.unwrap().number(), 7, "located");
    assert_eq!(
        flood.content.report_data.as_ref().unwrap().get(),
        r#"{"volcanicSigns":[2],"report_type":"flood","flood_depth":5,"impact":9,"other":"3"}"#,
        "as the types that clients read"
    );
    assert_eq!((&*flood.content.text, &*wind.content.text), ("line\nline", ""));
    assert_eq!((flood.content.is_training, wind.content.is_training), (false, true));
    assert_eq!((&flood.content.partner_code, wind.content.partner_code.as_deref()), (&None, Some("PMI")));
    assert_eq!(wind.content.partner_icon.as_deref(), Some("https://example.org/1.png"));
}

#[test]
fn a_wrong_row_of_the_other_files_is_named_by_file_line_and_reason() {
    for (file, content, from, to, line, reason) in [
        (
            "infrastructure.geojson",
            INFRASTRUCTURE,
            "pumps",
            "dams",
            2,
            "type must be one of [floodgates, pumps, waterways]",
        ),
        (
            "infrastructure.geojson",
            INFRASTRUCTURE,
            "\"769\"",
            "769.5",
            2,
            "tags.local_area_id must be a text or a whole number",
        ),
        (
            "infrastructure.geojson",
            INFRASTRUCTURE,
            "\"769\"",
            "\"x\"",
            2,
            "tags.local_area_id must be a whole number",
        ),
        ("infrastructure.geojson", INFRASTRUCTURE, ",[9,9]]", "]", 3, "a line of less than 2 positions"),
        ("gauges.geojson", GAUGES, "TMA1", "TMA2", 3, "gaugeid TMA2 occurs already"),
        ("gauges.geojson", GAUGES, "\"A\"", "\"\"", 3, "gaugenameid is missing"),
        ("gauges.geojson", GAUGES, "[2,2]", "[2,91]", 3, "no longitude and latitude"),
        ("gauge_readings.csv", READINGS, "TMA1", "TMA3", 3, "gaugeid \"TMA3\" is no known gauge"),
        ("gauge_readings.csv", READINGS, ",30,", ",deep,", 3, "level must be a number"),
        ("gauge_readings.csv", READINGS, ",30,", ",NaN,", 3, "level must be a number"),
        ("gauge_readings.csv", READINGS, ",4,", ",5,", 3, "alert must be one of [1, 2, 3, 4]"),
        ("gauge_readings.csv", READINGS, "10:00:00+0700", "10:00", 3, "observed_at must be a time"),
        ("gauge_readings.csv", READINGS, "observed_at", "time", 1, "the column observed_at is missing"),
        ("reports.geojson", REPORTS, "\"17\"", "\"0\"", 2, "pkey must be a whole number from 1"),
        (
            "reports.geojson",
            REPORTS,
            "{\"created_at\":\"2016-12-18",
            "{\"pkey\":17,\"created_at\":\"2016-12-18",
            3,
            "pkey is that of line 2 already",
        ),
        (
            "reports.geojson",
            REPORTS,
            "\"flood_depth\":4.6",
            "\"x\":\"\\u0000\"",
            2,
            "report_data must not contain NUL",
        ),
        (
            "reports.geojson",
            REPORTS,
            "\"flood_depth\":4.6",
            "\"x\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
            2,
            "report_data must be nested at most 16 levels deep",
        ),
        (
            "reports.geojson",
            REPORTS,
            "\"image_url\":null",
            "\"image_url\":\"javascript:alert(1)\"",
            2,
            "image_url must be an http or https address of at most 2048 characters",
        ),
        ("reports.geojson", REPORTS, "\"17\"", "\"9223372036854775807\"", 1, "no pkey is left"),
        ("gauge_readings.csv", READINGS, "SIAGA I !", "SIAGA\u{7}", 2, "label must be a text"),
        ("reports.geojson", REPORTS, "wind", "storm", 3, "disaster_type must be one of [flood, "),
        ("reports.geojson", REPORTS, "\"partner\"", "\"\"", 3, "source is missing"),
        ("reports.geojson", REPORTS, "2016-12-18T10:00:00Z", "yesterday", 3, "created_at must be a time"),
        ("reports.geojson", REPORTS, "line\\nline", "a\\u0000", 2, "text must be a text without NUL"),
    ] {
        assert!(content.contains(from), "{file} {from}");
        let changed = content.replacen(from, to, 1);
        let mut files = vec![("areas.geojson", AREAS.as_bytes()), ("gauges.geojson", GAUGES.as_bytes())];
        files.retain(|(name, _)| *name != file);
        files.push((file, changed.as_bytes()));
        let error = error(&files);
        assert!(error.starts_with(&format!("{file}, line {line}: ")), "{to}: {error}");
        assert!(error.contains(reason), "{to}: {error}");
    }
}
