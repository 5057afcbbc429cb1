//! Writing of folders.

use std::fs;

use siaga::folder::{FolderFile, FolderWriter, WriteError};

use super::support::{folder_of, load, normalised, written};
use crate::fixture;

#[test]
fn a_written_folder_has_one_row_a_line_and_properties_in_their_order() {
    let folder = written(&normalised(fixture::dataset()));
    let line = |file: FolderFile, number: usize| {
        let content = fs::read_to_string(folder.path().join(file.name())).unwrap();
        content.lines().nth(number - 1).unwrap().to_owned()
    };
    let gauge = r#"{"type":"Feature","properties":{"gaugeid":"TMA00001","gaugenameid":"Bendung Katulampa","instance_region_code":"ID-JK"},"geometry":{"type":"Point","coordinates":[106.8,-6.19]}},"#;
    for (file, number, expected) in [
        (FolderFile::Gauges, 1, r#"{"type":"FeatureCollection","features":["#),
        (FolderFile::Gauges, 2, gauge),
        (FolderFile::Areas, 7, "]}"),
        (FolderFile::GaugeReadings, 2, "TMA00001,2016-12-19T14:38:52.000Z,20,4,SIAGA IV,,"),
        (FolderFile::FloodStates, 1, "area_id,state,changed_at,username,subject"),
        (FolderFile::FloodStates, 6, "1,,2016-12-15T01:00:35.000Z,bpbd,import"),
        (FolderFile::Cards, 3, "used-card,2,Ibu O'Neil,telegram,id,,1"),
    ] {
        assert_eq!(line(file, number), expected, "{file}");
    }
    let outside = line(FolderFile::Reports, 6);
    let tags = r#""tags":{"instance_region_code":null,"local_area_id":null}"#;
    assert!(outside.contains(tags), "null is written, so that it is not looked for: {outside}");
    assert!(line(FolderFile::Areas, 5).contains("\"MultiPolygon\""), "of two parts");
    assert!(line(FolderFile::Areas, 4).contains("\"Polygon\""), "of one");
}

#[test]
fn a_file_gets_its_name_once_finished_and_unrequested_files_are_not_created() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("a").join("new");
    let names = || {
        let entries = fs::read_dir(&path).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let writer = FolderWriter::create(&path).unwrap();
    let mut areas = writer.areas().unwrap();
    areas.write(&fixture::areas()[0]).unwrap();
    assert_eq!(names(), ["areas.geojson.part"]);
    drop(areas);
    assert!(names().is_empty(), "given up");
    writer.cards().unwrap().finish().unwrap();
    assert_eq!(names(), ["cards.csv"]);
    assert!(load(&path).unwrap().cards.is_empty());
}

#[test]
fn a_folder_with_a_data_set_is_not_overwritten() {
    let folder = folder_of(&[(FolderFile::GaugeReadings, "")]);
    let error = FolderWriter::create(folder.path()).map(drop).unwrap_err();
    assert!(matches!(&error, WriteError::Exists(path) if path.ends_with("gauge_readings.csv")), "{error:?}");
    let no_folder = folder.path().join("gauge_readings.csv");
    let error = FolderWriter::create(&no_folder).map(drop).unwrap_err();
    assert!(matches!(&error, WriteError::Unwritable { path, .. } if *path == no_folder), "{error:?}");
}
