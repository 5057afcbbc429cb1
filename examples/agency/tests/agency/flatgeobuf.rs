use std::fs;
use std::process::Command;

use agency::flatgeobuf::FlatGeobuf;
use siaga::model::Layer;
use siaga_conformance::fixture;
use siaga_conformance::format_suite;
use siaga_conformance::formats::encoded;

use crate::support::service;

format_suite!(FlatGeobuf);

fn read_by_gdal(layer: &Layer) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("floods.fgb");
    fs::write(&file, encoded(&FlatGeobuf, layer)).unwrap();
    let output = Command::new("ogrinfo").arg("-al").arg(&file).output();
    let output = output.expect("this test needs ogrinfo, which is in Debian's package gdal-bin");
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{found}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    found
}

#[test]
fn gdal_finds_every_area_with_its_outline_and_its_properties() {
    let found = read_by_gdal(&fixture::layer(&[(5, 4)]));
    assert!(found.contains("Geometry: Multi Polygon\nFeature Count: 5\n"), "{found}");
    assert!(found.contains(r#"GEOGCRS["WGS 84""#), "{found}");
    let features: Vec<_> = found.split("OGRFeature(floods):").skip(1).collect();
    let numbers = features.iter().filter_map(|feature| feature.lines().nth(1));
    assert!(numbers.eq(["1", "2", "5", "10", "30"].map(|number| format!("  area_id (String) = {number}"))));
    let flooded = "2
  area_id (String) = 5
  geom_id (String) = 3174040004009005
  area_name (String) = RW 09
  parent_name (String) = GROGOL
  city_name (String) = JAKARTA BARAT
  state (Integer) = 4
  last_updated (DateTime) = 2016/12/19 15:08:52+00
  MULTIPOLYGON (((106.8 -6.19,106.83 -6.19,106.83 -6.16,106.8 -6.16,106.8 -6.19),\
(106.81 -6.18,106.82 -6.18,106.82 -6.17,106.81 -6.17,106.81 -6.18)))";
    assert_eq!(features[2].trim_end(), flooded);
    assert!(features[1].contains("area_name (String) = RW 02 & <Söhne>, \"X\"\n"), "{found}");
    assert!(!features[1].contains("state") && !features[1].contains("last_updated"), "{found}");
}

#[test]
fn gdal_opens_a_map_without_areas() {
    let found = read_by_gdal(&fixture::empty_layer());
    assert!(found.contains("Geometry: Multi Polygon\nFeature Count: 0\n"), "{found}");
    assert!(found.contains("state: Integer"), "{found}");
}

#[test]
fn flatgeobuf_is_served_with_its_own_media_type() {
    let client = service();
    for query in ["geoformat=flatgeobuf", "format=fgb", "format=fgb&geoformat=flatgeobuf"] {
        let response = client.get(format!("/v1/floods?{query}")).dispatch();
        assert_eq!(response.headers().get_one("Content-Type"), Some("application/flatgeobuf"), "{query}");
        assert!(response.into_bytes().unwrap().starts_with(b"fgb\x03fgb"), "{query}");
    }
}
