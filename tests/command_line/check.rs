//! What `check` says about the rows of a data set.

use std::fs;
use std::process::Output;

use siaga::folder::FolderWriter;
use tempfile::TempDir;

use crate::fixture;
use crate::{out, refusal, siaga_in};

/// A folder with the fixture in `data`.
fn with_data() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fixture::dataset().save(&FolderWriter::create(folder.path().join("data")).unwrap()).unwrap();
    folder
}

/// Changes a file of the data set.
fn change(folder: &TempDir, file: &str, change: impl FnOnce(String) -> String) {
    let path = folder.path().join("data").join(file);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
}

/// The lines on standard error of a run that ended with 1.
fn faults(output: &Output) -> Vec<String> {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect()
}

#[test]
fn a_data_set_without_faults_is_said_to_have_none_below_the_configuration() {
    let folder = with_data();
    fs::write(folder.path().join("data/rw.shp"), "").unwrap();
    for (arguments, variables) in
        [(&["check", "data"][..], &[][..]), (&["check"], &[("SIAGA_DATASET", "data")])]
    {
        let output = siaga_in(&folder, arguments, variables);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let said = out(&output);
        said.parse::<toml::Table>().unwrap();
        assert!(
            said.ends_with(
                "\n# data: the data set has no faults\n# ignored, no part of a data set: rw.shp\n"
            ),
            "{said}"
        );
    }
    assert!(!out(&siaga_in(&folder, &["check"], &[])).contains('#'), "the demo is no folder");
}

#[test]
fn every_fault_is_named_by_file_and_line() {
    let folder = with_data();
    change(&folder, "flood_states.csv", |rows| {
        rows + "5,9,2016-12-19T13:41:35Z,,\n5,1\n77,1,2016-12-19T13:41:35Z,,\n"
    });
    change(&folder, "gauge_readings.csv", |rows| rows.replacen("observed_at", "observed", 1));
    change(&folder, "regions.geojson", |rows| rows.replacen("\"code\":\"ID-JB\"", "\"code\":null", 1));
    let rows = fs::read_to_string(folder.path().join("data/flood_states.csv")).unwrap().lines().count();
    let found = faults(&siaga_in(&folder, &["check", "data"], &[]));
    let [region, state, fields, area, readings, last] = &found[..] else { panic!("{found:#?}") };
    assert!(region.starts_with("siaga: data/regions.geojson, line 2: feature 1"), "{region}");
    let line = |back: usize| format!("siaga: data/flood_states.csv, line {}: ", rows - back);
    assert!(state.starts_with(&line(2)) && state.contains("state must be one of [1, 2, 3, 4]"), "{state}");
    assert!(
        fields.starts_with(&line(1)) && fields.ends_with("has 2 fields where the first line has 5"),
        "{fields}"
    );
    assert!(area.starts_with(&line(0)) && area.ends_with("area_id 77 is no known area"), "{area}");
    assert_eq!(readings, "siaga: data/gauge_readings.csv, line 1: the column observed_at is missing");
    assert_eq!(last, "siaga: data: the data set has 5 faults");
}

#[test]
fn rows_that_refer_to_a_wrong_file_are_no_further_faults() {
    let folder = with_data();
    change(&folder, "areas.geojson", |rows| rows.replacen("\"area_id\":\"5\"", "\"area_id\":\"x\"", 1));
    change(&folder, "reports.geojson", |rows| rows[..rows.len() / 2].to_owned());
    let found = faults(&siaga_in(&folder, &["check", "data"], &[]));
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].contains("areas.geojson, line ") && found[0].contains("area_id must be"), "{found:#?}");
    assert!(found[1].contains("reports.geojson, line "), "{found:#?}");
}

#[test]
fn the_number_of_faults_is_bounded() {
    let folder = with_data();
    change(&folder, "flood_states.csv", |rows| rows + &"5,9,2016-12-19T13:41:35Z,,\n".repeat(100));
    let found = faults(&siaga_in(&folder, &["check", "data"], &[]));
    assert_eq!((found.len(), &*found[20]), (21, "siaga: data: the data set has at least 20 faults"));
    fs::remove_dir_all(folder.path().join("data")).unwrap();
    assert_eq!(refusal(&siaga_in(&folder, &["check", "data"], &[])), "siaga: data is no folder");
}
