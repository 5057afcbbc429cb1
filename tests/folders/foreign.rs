//! Files as other programs write them: doubles as identifiers, multipart and collapsed geometry, CSV of spreadsheets.

use std::fmt::Display;

use geo::Area as _;
use siaga::folder::{Folder, FolderFile};
use siaga::model::{Area, FloodState, Geometry};

use super::faults::fault;
use super::support::{self, POINT, SQUARE, area, areas_of, feature, folder_of, loaded};

fn collection(features: &[(&str, impl Display)]) -> String {
    let features = features.iter().map(|(properties, geometry)| feature(properties, geometry));
    support::collection(&features.collect::<Vec<_>>())
}

#[test]
fn an_identifier_that_is_a_whole_double_is_the_whole_number() {
    let areas = collection(&[
        (r#""area_id":1~,"geom_id":3174040004009000~,"parent_name":12~,"district_id":3172090~"#, SQUARE),
        (r#""area_id":"2~","geom_id":"7.0""#, SQUARE),
        (r#""area_id":3,"geom_id":9007199254740993"#, SQUARE),
    ]);
    let report = r#""pkey":7~,"created_at":"2016-12-19T10:00:00Z","source":"grasp","disaster_type":"flood","tags":{"local_area_id":1~,"district_id":3172090~}"#;
    let readings = "gaugeid,observed_at,level,alert
17~,2016-12-19T10:00:00Z,1.5,3~
";
    let cards = "card_id,pkey,username,network,language,network_data,report
card-one,1~,,,,,7~
";
    let files = [
        (FolderFile::Areas, areas),
        (FolderFile::Regions, collection(&[(r#""code":31~,"name":"Jakarta""#, SQUARE)])),
        (FolderFile::Gauges, collection(&[(r#""gaugeid":17~,"gaugenameid":18~"#, POINT)])),
        (FolderFile::Reports, collection(&[(report, POINT)])),
        (FolderFile::GaugeReadings, readings.to_owned()),
        (
            FolderFile::FloodStates,
            "area_id,state,changed_at
1~,2~,2016-12-19T10:00:00Z
"
            .to_owned(),
        ),
        (FolderFile::Cards, cards.to_owned()),
        (
            FolderFile::PartnerPosts,
            "post_id,pkey
-4711~,7~
"
            .to_owned(),
        ),
    ];
    let read = |zeros| {
        let files = files.each_ref().map(|(file, content)| (*file, content.replace('~', zeros)));
        loaded(&files).unwrap()
    };
    let whole = read("");
    for zeros in [".0", ".00"] {
        // Attributes are stored unchanged.
        let double = format!("{:#?}", read(zeros)).replace(&format!("3172090{zeros}"), "3172090");
        assert_eq!(double, format!("{whole:#?}"));
    }
    let geom_ids: Vec<_> = whole.places.areas().iter().map(|area| &*area.geom_id).collect();
    assert_eq!(geom_ids, ["3174040004009000", "7.0", "9007199254740993"]);
}

#[test]
fn an_identifier_with_a_fraction_or_beyond_the_precision_of_doubles_is_refused() {
    for (properties, reason) in [
        (r#""area_id":1.5"#, "area_id must be a text or a whole number"),
        (r#""area_id":1,"geom_id":9007199254740993.0"#, "geom_id must be a text or a whole number"),
        (r#""area_id":1,"attributes":{"district_id":31.74}"#, "district_id must be a text or a whole number"),
        (r#""area_id":"1.5""#, "area_id must be a whole number"),
    ] {
        let error = fault(&[(FolderFile::Areas, &collection(&[(properties, SQUARE)]))]);
        assert!(error.contains(reason), "{properties}: {error}");
    }
}

#[test]
fn infrastructure_of_several_parts_is_split() {
    let areas = collection(&[
        (r#""area_id":1"#, SQUARE),
        (r#""area_id":2"#, r#"{"type":"Polygon","coordinates":[[[8,8],[9,8],[9,9],[8,8]]]}"#),
    ]);
    let river = r#"{"type":"MultiLineString","coordinates":[[[0.5,0.5],[2,2]],[[8.5,8.2],[9,9],[9.5,9]]]}"#;
    let pump = r#"{"type":"MultiPoint","coordinates":[[0.5,0.4]]}"#;
    let infrastructure = collection(&[
        (r#""type":"waterways","name":"Ciliwung""#, river),
        (r#""type":"pumps","name":"Pluit""#, pump),
    ]);
    let dataset =
        loaded(&[(FolderFile::Areas, areas), (FolderFile::Infrastructure, infrastructure)]).unwrap();
    let parts = dataset.places.infrastructure().iter().map(|load| {
        let count = match load.geometry() {
            Geometry::Point(_) => 1,
            Geometry::LineString(line) => line.0.len(),
            other => panic!("{other:?}"),
        };
        (&*load.name, count, load.tags.local_area_id.unwrap().number())
    });
    assert!(parts.eq([("Pluit", 1, 1), ("Ciliwung", 2, 1), ("Ciliwung", 3, 2)]), "{dataset:?}");
    let short = r#"{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[0,0]]]}"#;
    for (geometry, reason) in [
        (r#"{"type":"MultiLineString","coordinates":[]}"#, "geometry is empty"),
        (short, "a line of less than 2 positions"),
        (SQUARE, "geometry must be points or lines, not a Polygon"),
    ] {
        let infrastructure = collection(&[(r#""type":"waterways""#, geometry)]);
        let error = fault(&[(FolderFile::Infrastructure, &infrastructure)]);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn infrastructure_has_the_identifier_of_its_file() {
    let feature = |name: &str, property: &str, member: &str, geometry: &str| {
        let feature = feature(&format!(r#""type":"waterways","name":"{name}"{property}"#), geometry);
        feature.replacen(r#""Feature""#, &format!(r#""Feature"{member}"#), 1)
    };
    let line = r#"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#;
    let lines = r#"{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[2,2],[3,3]],[[0,0],[4,4]]]}"#;
    let ids = |features: &[String]| -> Result<Vec<String>, String> {
        let file = support::collection(features);
        let dataset = loaded(&[(FolderFile::Infrastructure, &file)])?;
        Ok(dataset.places.infrastructure().iter().map(|load| load.id.clone()).collect())
    };
    for (property, member, expected) in [
        (r#","id":"K-1""#, "", "K-1"),
        ("", r#","id":"K-2""#, "K-2"),
        (r#","id":7.0"#, r#","id":8"#, "7"),
        (r#","id":null"#, r#","id":8"#, "8"),
    ] {
        assert_eq!(ids(&[feature("A", property, member, line)]).unwrap(), [expected]);
    }
    // Split lines, and pieces with the identifier of another.
    let file = [
        feature("A", r#","id":"9""#, "", lines),
        feature("B", r#","id":"9-2""#, "", line),
        feature("C", r#","id":"9""#, "", line),
    ];
    assert_eq!(ids(&file).unwrap(), ["9", "9-2", "9-3", "9-2-2", "9-4"]);
    let derived = ids(&[feature("A", "", r#","id":null"#, lines)]).unwrap();
    let [first, second, third] = &derived[..] else { panic!("{derived:?}") };
    assert_eq!((first.len(), second.len()), (16, 16));
    assert_eq!(*third, format!("{first}-2"), "of the same kind, name and first position");
    let error = ids(&[feature("A", "", r#","id":1.5"#, line)]).unwrap_err();
    assert!(error.contains("feature 1 (name A): id must be"), "{error}");
}

#[test]
fn a_gauge_is_at_one_point() {
    let at = |coordinates: &str| {
        let geometry = format!(r#"{{"type":"MultiPoint","coordinates":{coordinates}}}"#);
        loaded(&[(FolderFile::Gauges, &collection(&[(r#""gaugeid":"1","gaugenameid":"A""#, geometry)]))])
    };
    assert_eq!(at("[[1,2]]").unwrap().gauges.len(), 1);
    for coordinates in ["[]", "[[1,2],[3,4]]"] {
        let error = at(coordinates).map(drop).unwrap_err();
        assert!(error.contains("geometry must be a Point, not a MultiPoint"), "{error}");
    }
}

#[test]
fn collapsed_rings_are_dropped_open_ones_are_closed_and_repairs_are_counted() {
    let repaired = |geometry: &str| -> Result<(Vec<Area>, Vec<String>), String> {
        let folder = folder_of(&[(FolderFile::Areas, collection(&[(r#""area_id":1"#, geometry)]))]);
        let opened = Folder::open(folder.path()).unwrap().with_repair();
        let areas = areas_of(&opened)?.into_iter().map(|row| row.value).collect();
        Ok((areas, opened.notes()))
    };
    let good = "[[0,0],[1,0],[1,1],[0,1],[0,0]]";
    let polygon = |rings: &str| format!(r#"{{"type":"Polygon","coordinates":[{rings}]}}"#);
    let of_square = |more: &str| format!(r#"{{"type":"MultiPolygon","coordinates":[[{good}],{more}]}}"#);
    let short = "has a ring of less than 3 different positions";
    let short_at = |place: &str| format!("{short} at {place}");
    let open = "has a ring whose last position is not its first at [0, 0]".to_owned();
    let hole = format!("{good},[[0.5,0.5],[0.5,0.6],[0.5,0.5]]");
    for (geometry, reason, area) in [
        (of_square("[[[5,5],[5,5],[5,5],[5,5]]]"), short_at("[5, 5]"), 1.0),
        (of_square("[[]]"), short.to_owned(), 1.0),
        (of_square("[]"), "has a polygon without an outer ring".to_owned(), 1.0),
        (polygon(&hole), short_at("[0.5, 0.5]"), 1.0),
        (polygon("[[0,0],[1,0],[1,1]]"), open, 0.5),
        (polygon("[[0,0],[1,1],[1,0],[0,1],[0,0]]"), "crosses itself at [0.5, 0.5]".to_owned(), 0.5),
    ] {
        let error = fault(&[(FolderFile::Areas, collection(&[(r#""area_id":1"#, &geometry)]))]);
        let expected = format!("feature 1 (area_id 1): geometry {reason}; ");
        assert!(error.contains(&expected) && error.contains("siaga import --repair"), "{geometry}: {error}");
        let (areas, notes) = repaired(&geometry).unwrap();
        assert!((areas[0].outline.unsigned_area() - area).abs() < 1e-9, "{geometry}: {:?}", areas[0].outline);
        let note = format!("areas.geojson: 1 outline was repaired, the first at line 2, feature 1 {reason}");
        assert_eq!(notes[0], note);
    }
    let error = repaired(&polygon("[[5,5],[5,5],[5,5],[5,5]]")).unwrap_err();
    assert!(error.contains(&format!("{} and cannot be repaired", short_at("[5, 5],"))), "{error}");
}

#[test]
fn points_and_lines_beside_a_single_surface_are_dropped() {
    let line = r#"{"type":"LineString","coordinates":[[5,5],[6,6]]}"#;
    let load = |members: &[&str]| {
        let geometry = format!(r#"{{"type":"GeometryCollection","geometries":[{}]}}"#, members.join(","));
        loaded(&[(FolderFile::Areas, &collection(&[(r#""area_id":1"#, geometry)]))])
    };
    for members in [&[SQUARE][..], &[line, SQUARE, POINT]] {
        let dataset = load(members).unwrap();
        assert_eq!(dataset.places.areas()[0].outline.0.len(), 1);
    }
    for members in [&[SQUARE, SQUARE][..], &[line], &[]] {
        let error = load(members).map(drop).unwrap_err();
        assert!(error.contains("must be a Polygon or MultiPolygon, not a GeometryCollection"), "{error}");
    }
}

#[test]
fn a_base_map_may_have_collapsed_rings() {
    let lake = r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]],[[0.5,0.5],[0.5,0.5],[0.5,0.5],[0.5,0.5]]]}"#;
    let basemap = collection(&[(r#""kind":"water""#, lake)]);
    loaded(&[(FolderFile::Basemap, basemap), (FolderFile::Areas, support::collection(&[area("1")]))])
        .unwrap();
}

#[test]
fn a_table_may_have_other_separators_and_capitals_in_its_first_line() {
    let areas = support::collection(&[area("1"), area("2")]);
    let rows =
        "area_id,state,changed_at,username\n1,2,2016-12-19T10:00:00Z,\"Ibu; | , A\"\n2,,2016-12-19T10:00Z,\n";
    let separated = |separator: &str| {
        // The commas in the quoted text stay.
        let quoted = "\"Ibu; | , A\"";
        rows.replace(quoted, "Q").replace(',', separator).replace('Q', quoted)
    };
    let (semicolons, tabs, bars) = (separated(";"), separated("\t"), separated("|"));
    for states in [
        semicolons.clone(),
        tabs.clone(),
        format!("sep=,\n{rows}"),
        format!("\u{feff}sep=;\r\n{}", semicolons.replace('\n', "\r\n")),
        format!("\"sep=;\"\n{semicolons}"),
        format!("SEP=\t\n{tabs}"),
        format!("sep=|\n{bars}"),
        rows.replace("area_id", "AREA_ID").replace("state", " State ").replace("username", "UserName"),
        // An exact match of a column name is preferred.
        rows.replace("area_id,", "AREA_ID,area_id,").replace("\n1", "\n9,1").replace("\n2", "\n9,2"),
    ] {
        let log = loaded(&[(FolderFile::Areas, &areas), (FolderFile::FloodStates, &states)])
            .unwrap_or_else(|error| panic!("{states}: {error}"))
            .flood_log;
        let log: Vec<_> = log
            .iter()
            .map(|change| (change.area.number(), change.state.map(FloodState::code), &change.by.username))
            .collect();
        assert_eq!(log, [(1, Some(2), &Some("Ibu; | , A".to_owned())), (2, None, &None)], "{states}");
    }
}
