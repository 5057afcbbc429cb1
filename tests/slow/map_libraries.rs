//! Map libraries load a layer by its address alone.

use std::fs;

use serde_json::{Value, json};

use crate::demo::Demo;
use crate::tools::{node, printed};

#[test]
fn openlayers_and_maplibre_find_every_flooded_area_at_the_address_of_geojson() {
    let demo = Demo::start();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chromium.mjs"), include_str!("../documentation/chromium.mjs")).unwrap();
    fs::write(folder.path().join("map_libraries.mjs"), include_str!("map_libraries.mjs")).unwrap();
    let address = demo.address("floods.geojson?minimum_state=1");
    let mut script = node(folder.path());
    script.args(["map_libraries.mjs", &demo.origin("/"), &address]);
    let seen: Value = serde_json::from_str(&printed("map_libraries.mjs", &mut script)).unwrap();
    let flooded = demo.flooded();
    assert_eq!(seen, json!({ "openlayers": flooded, "maplibre": flooded }));
    demo.end();
}
