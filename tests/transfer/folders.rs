//! Data folders of tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use siaga::folder::{Dataset, FolderFile, FolderRules};
use tempfile::TempDir;

pub(crate) use crate::created::{collection, folder_of, written};
use crate::fixture::{self, now, place};
use crate::operations::before;

/// The files of a folder.
pub(crate) fn contents(folder: &Path) -> BTreeMap<&'static str, String> {
    let files = FolderFile::ALL.map(FolderFile::name);
    files.into_iter().map(|file| (file, fs::read_to_string(folder.join(file)).unwrap())).collect()
}

/// A data set as a folder in canonical form: in the order of stores, and with
/// normalised ring orientation, so that an export has the same bytes.
pub(crate) fn canonical_folder(mut dataset: Dataset) -> TempDir {
    dataset.flood_log.sort_by_key(|change| (change.at, change.area));
    let first = written(&dataset);
    written(&Dataset::load(first.path().to_str().unwrap(), &FolderRules::default(), now()).unwrap())
}

pub(crate) fn point(properties: Value, x: f64, y: f64) -> Value {
    let place = place(x, y).coord();
    let geometry = json!({ "type": "Point", "coordinates": [place.x, place.y] });
    json!({ "type": "Feature", "properties": properties, "geometry": geometry })
}

/// A square of 0.01°, with its lower left corner at a place of the fixture.
pub(crate) fn square(properties: Value, x: f64, y: f64) -> Value {
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
    let ring = corners.map(|(right, up)| place(x + right, y + up).coord()).map(|corner| [corner.x, corner.y]);
    let geometry = json!({ "type": "Polygon", "coordinates": [ring] });
    json!({ "type": "Feature", "properties": properties, "geometry": geometry })
}

pub(crate) fn area(number: u64, x: f64, y: f64) -> Value {
    let properties = json!({
        "area_id": number, "geom_id": "g", "area_name": format!("RW {number}"), "parent_name": "NEW",
        "city_name": "JAKARTA BARAT", "instance_region_code": "ID-JK", "city": "jbd",
    });
    square(properties, x, y)
}

/// A flood report of some seconds before now, without tags, with a key or without.
pub(crate) fn report(pkey: Option<u64>, seconds_ago: u64, x: f64, y: f64) -> Value {
    let created_at = now().saturating_sub(Duration::from_secs(seconds_ago)).to_string();
    let mut properties = json!({
        "created_at": created_at, "source": "grasp", "disaster_type": "flood", "title": "", "text": "air",
        "report_data": { "flood_depth": 80 },
    });
    if let Some(pkey) = pkey {
        properties["pkey"] = json!(pkey.to_string());
    }
    point(properties, x, y)
}

pub(crate) fn reports(features: &[Value]) -> (FolderFile, String) {
    (FolderFile::Reports, collection(features))
}

pub(crate) fn states(rows: &str) -> (FolderFile, String) {
    (FolderFile::FloodStates, format!("area_id,state,changed_at,username,subject\n{rows}"))
}

pub(crate) fn cards(rows: &str) -> (FolderFile, String) {
    (FolderFile::Cards, format!("card_id,pkey,username,network,language,network_data,report\n{rows}"))
}

pub(crate) fn posts(rows: &str) -> (FolderFile, String) {
    (FolderFile::PartnerPosts, format!("post_id,pkey\n{rows}"))
}

/// A folder whose import takes a while: new areas, a long log of all areas, and reports with keys and without.
pub(crate) fn long_folder() -> TempDir {
    const ROWS: u64 = 12_000;
    let areas: Vec<_> = fixture::areas().iter().map(|area| area.id.number()).collect();
    let mut log = String::new();
    for n in 1..=ROWS {
        let area = areas[usize::try_from(n).unwrap() % areas.len()];
        writeln!(log, "{area},{},{},,", n % 4 + 1, before(1_000 * n)).unwrap();
    }
    let features: Vec<_> =
        (0..ROWS).map(|n| report((n % 2 == 0).then_some(100_000 + n), n, 0.5, 0.5)).collect();
    let new = collection(&[area(6, 7.0, 0.0)]);
    folder_of(&[(FolderFile::Areas, new), states(&log), reports(&features)])
}
