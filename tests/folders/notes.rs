//! What a folder holds and is not kept is said.

use std::sync::Arc;

use siaga::folder::{DatasetError, Folder, FolderFile, FolderRow, ReportRow};
use siaga::model::{AreaSet, FloodChange, Infrastructure, Locator, Observation, Region};

use super::support::{POINT, SQUARE, area, areas_of, collection, feature, folder_of, taken};
use crate::fixture::areas;

#[test]
fn a_property_that_is_not_kept_is_said_once_with_the_number_of_rows_that_hold_it() {
    let region = |code: &str, more: &str| feature(&format!(r#""code":"{code}","name":"N"{more}"#), SQUARE);
    let regions = [
        region("ID-1", ""),
        region("ID-2", r#","KODE":3"#),
        region("ID-3", r#","KODE":null"#),
        region("ID-4", r#","KODE":"x""#),
    ];
    let folder = folder_of(&[(FolderFile::Regions, &collection(&regions))]);
    let opened = Folder::open(folder.path()).unwrap();
    assert!(opened.notes().is_empty(), "nothing was read");
    opened.regions(taken::<Region>()).unwrap();
    assert_eq!(opened.notes(), ["regions.geojson: KODE is not kept (2 rows)"]);
}

#[test]
fn a_column_that_is_not_kept_is_said_once_with_the_number_of_rows_that_hold_it() {
    let areas = collection(&[feature(r#""city":"jbd","area_id":"7""#, SQUARE)]);
    let states = "area_id,note,state,changed_at,by,subject\n\
                  7,dry,,2016-12-19T10:00:00Z,,a\n\
                  7,,1,2016-12-19T11:00:00Z,,b\n\
                  7,wet,2,2016-12-19T12:00:00Z,,c\n";
    let folder = folder_of(&[(FolderFile::Areas, &areas), (FolderFile::FloodStates, states)]);
    let opened = Folder::open(folder.path()).unwrap();
    let known = areas_of(&opened).unwrap().into_iter().map(|row| row.value).collect();
    let now = crate::fixture::now();
    opened.flood_states(&AreaSet::new(known).unwrap(), now, taken::<FloodChange>()).unwrap();
    assert_eq!(opened.notes(), ["flood_states.csv: note is not kept (2 rows)"]);
}

#[test]
fn a_status_or_a_tag_that_is_not_kept_is_said_and_what_an_export_writes_is_not() {
    let report = |properties: &str| {
        let required = r#""created_at":"2016-12-19T10:00:00Z","source":"grasp","disaster_type":"flood""#;
        feature(&format!("{required},{properties}"), POINT)
    };
    let reports = [
        report(r#""status":"confirmed","tags":{"local_area_id":null,"instance_region_code":"ID-JK"}"#),
        report(r#""status":"verified","tags":{"district_id":"x"}"#),
        report(r#""tags":{"local_area_id":"2","district_id":"3174"}"#),
    ];
    let folder = folder_of(&[(FolderFile::Reports, &collection(&reports))]);
    let opened = Folder::open(folder.path()).unwrap();
    opened.reports(&Locator::new(std::sync::Arc::new(areas()), Vec::new(), Vec::new()), taken()).unwrap();
    assert_eq!(
        opened.notes(),
        [
            "reports.geojson: status is not kept (1 row)",
            "reports.geojson: tags.district_id is not kept (1 row)"
        ]
    );
}

#[test]
fn rows_that_are_dated_in_the_future_are_counted_and_imported() {
    let report = |created_at: &str| {
        let properties = format!(r#""created_at":"{created_at}","source":"grasp","disaster_type":"flood""#);
        feature(&properties, POINT)
    };
    let reports = ["2016-12-19T16:08:52Z", "2016-12-19T23:00:00Z", "2016-12-19T17:00:00Z"].map(report);
    let reports = collection(&reports);
    let readings = "gaugeid,observed_at,level,alert\n\
                    G,2016-12-19T16:00:00Z,1,4\n\
                    G,2016-12-19T16:09:00Z,1,4\n";
    let files = [(FolderFile::Reports, &*reports), (FolderFile::GaugeReadings, readings)];
    let folder = folder_of(&files);
    let opened = Folder::open(folder.path()).unwrap();
    let read = |opened: &Folder| {
        let locator = Locator::new(std::sync::Arc::new(areas()), Vec::new(), Vec::new());
        let (mut reports, mut readings) = (0, 0);
        let each = |_: FolderRow<ReportRow>| {
            reports += 1;
            Ok::<_, DatasetError>(())
        };
        opened.reports(&locator, each).unwrap();
        let each = |_: FolderRow<(String, Observation)>| {
            readings += 1;
            Ok::<_, DatasetError>(())
        };
        opened.gauge_readings(&|_| true, each).unwrap();
        (reports, readings)
    };
    assert_eq!((read(&opened), opened.notes()), ((3, 2), vec![]), "without a present there is no future");
    let opened = opened.at(crate::fixture::now());
    assert_eq!(read(&opened), (3, 2));
    let ask = "is it local time written as UTC?";
    assert_eq!(
        opened.notes(),
        [
            format!(
                "gauge_readings.csv: 1 row is dated in the future and shown only then, the latest on line 3, 2016-12-19T16:09:00.000Z: {ask}"
            ),
            format!(
                "reports.geojson: 2 rows are dated in the future and shown only then, the latest on line 3, 2016-12-19T23:00:00.000Z: {ask}"
            ),
        ]
    );
}

const ELSEWHERE: &str = r#"{"type":"Polygon","coordinates":[[[5,5],[6,5],[6,6],[5,5]]]}"#;

/// The cities of three areas, of which the second says its own, in a folder with these outlines of cities, and the notes.
fn cities_of(cities: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let areas = [
        area("1"),
        feature(r#""city":"own","area_id":"2""#, ELSEWHERE),
        feature(r#""area_id":"3""#, ELSEWHERE),
    ];
    let areas = collection(&areas);
    let city = |(code, outline): &(&str, &str)| feature(&format!(r#""code":"{code}","name":"N""#), outline);
    let outlines = collection(&cities.iter().map(city).collect::<Vec<_>>());
    let files = [(FolderFile::Areas, areas.as_str()), (FolderFile::Cities, &outlines)];
    let folder = folder_of(&files[..=usize::from(!cities.is_empty())]);
    let opened = Folder::open(folder.path()).unwrap();
    let codes = areas_of(&opened).unwrap().into_iter().map(|row| row.value.city_code).collect();
    (codes, opened.notes())
}

#[test]
fn an_area_without_a_city_gets_that_in_which_it_lies_or_it_is_said_that_it_has_none() {
    let (codes, notes) = cities_of(&[]);
    assert_eq!(codes, ["", "own", ""]);
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(
        note.starts_with("areas.geojson: 2 areas have no city, so requests with city= do not select"),
        "{note}"
    );
    assert!(note.ends_with("add the property city, or the outlines of cities as cities.geojson"), "{note}");
    let (codes, notes) = cities_of(&[("first", SQUARE)]);
    assert_eq!(codes, ["first", "own", ""]);
    assert!(notes.len() == 1 && notes[0].contains("1 area has no city"), "{notes:?}");
    assert_eq!(
        cities_of(&[("first", SQUARE), ("other", ELSEWHERE)]),
        (vec!["first".into(), "own".into(), "other".into()], vec![])
    );
}

#[test]
fn infrastructure_of_another_shape_than_its_kind_usually_has_is_counted() {
    let piece =
        |(kind, geometry): &(&str, &str)| feature(&format!(r#""type":"{kind}","name":"N""#), geometry);
    let line = r#"{"type":"LineString","coordinates":[[0.5,0.5],[0.6,0.6]]}"#;
    let noted = |pieces: &[(&str, &str)]| {
        let collection = collection(&pieces.iter().map(piece).collect::<Vec<_>>());
        let folder = folder_of(&[(FolderFile::Infrastructure, &collection)]);
        let opened = Folder::open(folder.path()).unwrap();
        let locator = Locator::new(Arc::new(AreaSet::default()), Vec::new(), Vec::new());
        opened.infrastructure(&locator, taken::<Infrastructure>()).unwrap();
        opened.notes()
    };
    assert_eq!(noted(&[("pumps", POINT), ("floodgates", POINT), ("waterways", line)]), [""; 0]);
    let notes = noted(&[("pumps", line), ("floodgates", POINT), ("waterways", POINT)]);
    assert!(notes[0].starts_with("infrastructure.geojson: 2 pieces are"), "{notes:?}");
}
