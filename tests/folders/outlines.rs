//! Outlines that are not valid, and what a wrong feature is called.

use siaga::folder::{DatasetError, Folder, FolderFile, FolderRow};
use siaga::model::Area;

use super::support::{folder_of, load};

/// A file of one line: an area like any other, then one of these properties and this geometry.
fn one_line(properties: &str, geometry: &str) -> String {
    let sound = r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#;
    let feature = |properties: &str, geometry: &str| {
        format!(r#"{{"type":"Feature","properties":{properties},"geometry":{geometry}}}"#)
    };
    let features = [feature(r#"{"area_id":5}"#, sound), feature(properties, geometry)].join(",");
    format!(r#"{{"type":"FeatureCollection","features":[{features}]}}"#)
}

const BOW_TIE: &str = r#"{"type":"Polygon","coordinates":[[[106.8,-6.2],[106.9,-6.1],[106.9,-6.2],[106.8,-6.1],[106.8,-6.2]]]}"#;

fn areas_of(folder: &Folder) -> Result<Vec<Area>, DatasetError> {
    let mut areas = Vec::new();
    folder.areas(|row: FolderRow<Area>| {
        areas.push(row.value);
        Ok::<_, DatasetError>(())
    })?;
    Ok(areas)
}

#[test]
fn a_wrong_feature_is_named_by_its_number_and_identifier_with_what_was_found_and_what_to_do() {
    for (properties, geometry, called, parts) in [
        (
            r#"{"area_id":"17"}"#,
            BOW_TIE,
            "feature 2 (area_id 17): geometry crosses itself at [106.85, -6.15]; ",
            &["siaga import --repair", "ogr2ogr -makevalid"][..],
        ),
        (
            r#"{"area_id":17}"#,
            r#"{"type":"Polygon","coordinates":[[[699000,9320000],[1,0],[1,1],[0,0]]]}"#,
            "feature 2 (area_id 17): geometry has the position [699000.0, 9320000.0], which is no longitude and latitude",
            &["ogr2ogr -t_srs EPSG:4326"],
        ),
        (
            r#"{"area_id":17}"#,
            r#"{"type":"Polygon","coordinates":[[[-6.2,106.8],[1,0],[1,1],[0,0]]]}"#,
            "feature 2 (area_id 17): geometry has the position [-6.2, 106.8], which is no longitude and latitude",
            &["Longitude comes first"],
        ),
        (
            r#"{"OBJECTID":17,"RW\n":"01"}"#,
            BOW_TIE,
            "feature 2: area_id is missing; the properties are [OBJECTID, RW\\n]: rename one of them",
            &[],
        ),
        (r#"{"area_id":""}"#, BOW_TIE, "feature 2: area_id is missing; the property is empty", &[]),
        ("null", BOW_TIE, "feature 2: area_id is missing; the feature has no properties", &[]),
        (r#"{"area_id":{"a":1}}"#, BOW_TIE, "feature 2: area_id must be a text or a whole number", &[]),
    ] {
        let folder = folder_of(&[(FolderFile::Areas, &one_line(properties, geometry))]);
        let error = load(folder.path()).map(drop).unwrap_err();
        assert!(error.starts_with(&format!("areas.geojson, line 1: {called}")), "{error}");
        assert!(parts.iter().all(|part| error.contains(part)) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn a_province_that_crosses_itself_is_refused_as_well() {
    let regions = one_line(r#"{"code":"ID-JK","name":"DKI Jakarta"}"#, BOW_TIE)
        .replace(r#"{"area_id":5}"#, r#"{"code":"ID-JB","name":"Jawa Barat"}"#);
    let folder = folder_of(&[(FolderFile::Regions, &regions)]);
    let error = load(folder.path()).map(drop).unwrap_err();
    assert!(
        error.starts_with("regions.geojson, line 1: feature 2 (code ID-JK): geometry crosses itself at "),
        "{error}"
    );
}

#[test]
fn an_outline_is_repaired_where_that_is_asked_for_and_it_is_said() {
    let folder = folder_of(&[(FolderFile::Areas, &one_line(r#"{"area_id":17}"#, BOW_TIE))]);
    let opened = Folder::open(folder.path()).unwrap().repairing();
    let areas = areas_of(&opened).unwrap();
    assert_eq!(areas[1].outline.0.len(), 2, "both wings are kept");
    assert_eq!(
        opened.notes()[..1],
        [
            "areas.geojson: 1 outline was repaired, the first at line 1, feature 2 crosses itself at [106.85, -6.15]"
        ]
    );
    let flat = r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[2,0],[0,0]]]}"#;
    let folder = folder_of(&[(FolderFile::Areas, &one_line(r#"{"area_id":17}"#, flat))]);
    let error =
        areas_of(&Folder::open(folder.path()).unwrap().repairing()).map(drop).unwrap_err().to_string();
    assert!(error.contains("runs twice along the same line at [0, 0], and cannot be repaired"), "{error}");
}
