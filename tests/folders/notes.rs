//! Notes about dropped data.

use siaga::folder::{Folder, FolderFile};
use siaga::model::Locator;

use super::support::{POINT, SQUARE, accept_all, area, areas_of, collection, feature, folder_of};
use crate::fixture::{areas, now};

fn locator() -> Locator {
    Locator::new(areas().into(), Vec::new(), Vec::new())
}

/// The notes after reading a folder with one file.
fn notes_of(file: FolderFile, content: &str, read: impl FnOnce(&Folder)) -> Vec<String> {
    let folder = folder_of(&[(file, content)]);
    let opened = Folder::open(folder.path()).unwrap();
    assert!(opened.notes().is_empty(), "nothing was read");
    read(&opened);
    opened.notes()
}

#[test]
fn a_dropped_property_is_noted_once_with_its_number_of_rows() {
    let region = |code: &str, more: &str| feature(&format!(r#""code":"{code}","name":"N"{more}"#), SQUARE);
    let regions = [
        region("ID-1", ""),
        region("ID-2", r#","KODE":3"#),
        region("ID-3", r#","KODE":null"#),
        region("ID-4", r#","KODE":"x""#),
    ];
    let notes = notes_of(FolderFile::Regions, &collection(&regions), |folder| {
        folder.regions(accept_all()).unwrap();
    });
    assert_eq!(notes, ["regions.geojson: KODE is not kept (2 rows)"]);
}

#[test]
fn a_dropped_column_is_noted_once_with_its_number_of_rows() {
    let posts = "post_id,note,pkey\n1,dry,1\n2,,2\n3,wet,3\n";
    let notes =
        notes_of(FolderFile::PartnerPosts, posts, |folder| folder.partner_posts(accept_all()).unwrap());
    assert_eq!(notes, ["partner_posts.csv: note is not kept (2 rows)"]);
}

#[test]
fn a_dropped_status_or_tag_is_noted_unless_an_export_wrote_it() {
    let report = |properties: &str| {
        let required = r#""created_at":"2016-12-19T10:00:00Z","source":"grasp","disaster_type":"flood""#;
        feature(&format!("{required},{properties}"), POINT)
    };
    let reports = [
        report(r#""status":"confirmed","tags":{"local_area_id":null,"instance_region_code":"ID-JK"}"#),
        report(r#""status":"verified","tags":{"district_id":"x"}"#),
        report(r#""tags":{"local_area_id":"2","district_id":"3174"}"#),
    ];
    let notes = notes_of(FolderFile::Reports, &collection(&reports), |folder| {
        folder.reports(&locator(), accept_all()).unwrap();
    });
    let unkept = ["status", "tags.district_id"];
    assert_eq!(notes, unkept.map(|unkept| format!("reports.geojson: {unkept} is not kept (1 row)")));
}

#[test]
fn rows_that_are_dated_in_the_future_are_counted() {
    let report = |created_at: &str| {
        let properties = format!(r#""created_at":"{created_at}","source":"grasp","disaster_type":"flood""#);
        feature(&properties, POINT)
    };
    let reports = ["2016-12-19T16:08:52Z", "2016-12-19T23:00:00Z", "2016-12-19T17:00:00Z"].map(report);
    let readings =
        "gaugeid,observed_at,level,alert\nG,2016-12-19T16:00:00Z,1,4\nG,2016-12-19T16:09:00Z,1,4\n";
    let files = [(FolderFile::Reports, &*collection(&reports)), (FolderFile::GaugeReadings, readings)];
    let folder = folder_of(&files);
    for (now, expected) in [(None, 0), (Some(now()), 2)] {
        let opened = Folder::open(folder.path()).unwrap();
        let opened = if let Some(now) = now { opened.with_now(now) } else { opened };
        opened.reports(&locator(), accept_all()).unwrap();
        opened.gauge_readings(&|_| true, accept_all()).unwrap();
        let notes = opened.notes();
        assert_eq!(notes.len(), expected, "without a present there is no future: {notes:?}");
        let latest = [
            ("1 row is", "line 3, 2016-12-19T16:09:00.000Z"),
            ("2 rows are", "line 3, 2016-12-19T23:00:00.000Z"),
        ];
        for (note, (rows, latest)) in notes.iter().zip(latest) {
            assert!(note.contains(rows) && note.contains(latest), "{note}");
        }
    }
}

const ELSEWHERE: &str = r#"{"type":"Polygon","coordinates":[[[5,5],[6,5],[6,6],[5,5]]]}"#;

/// The cities of three areas (the second has its own) in a folder with these city boundaries, and the notes.
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
fn an_area_without_a_city_gets_the_city_around_it_or_a_note() {
    let (codes, notes) = cities_of(&[]);
    assert_eq!(codes, ["", "own", ""]);
    assert!(notes.len() == 1 && notes[0].starts_with("areas.geojson: 2 areas have no city,"), "{notes:?}");
    let (codes, notes) = cities_of(&[("first", SQUARE)]);
    assert_eq!(codes, ["first", "own", ""]);
    assert!(notes.len() == 1 && notes[0].contains("1 area has no city"), "{notes:?}");
    assert_eq!(
        cities_of(&[("first", SQUARE), ("other", ELSEWHERE)]),
        (vec!["first".into(), "own".into(), "other".into()], vec![])
    );
}

#[test]
fn infrastructure_with_an_unusual_geometry_type_is_counted() {
    let piece =
        |(kind, geometry): &(&str, &str)| feature(&format!(r#""type":"{kind}","name":"N""#), geometry);
    let line = r#"{"type":"LineString","coordinates":[[0.5,0.5],[0.6,0.6]]}"#;
    let noted = |pieces: &[(&str, &str)]| {
        let pieces = collection(&pieces.iter().map(piece).collect::<Vec<_>>());
        notes_of(FolderFile::Infrastructure, &pieces, |folder| {
            folder.infrastructure(&locator(), accept_all()).unwrap();
        })
    };
    assert_eq!(noted(&[("pumps", POINT), ("floodgates", POINT), ("waterways", line)]), [""; 0]);
    let notes = noted(&[("pumps", line), ("floodgates", POINT), ("waterways", POINT)]);
    assert!(notes[0].starts_with("infrastructure.geojson: 2 pieces are"), "{notes:?}");
}
