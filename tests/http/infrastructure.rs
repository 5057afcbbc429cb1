use serde_json::json;

use crate::suite::support::{Siaga, each, properties};

#[test]
fn all_kinds_are_listed_by_kind_then_name() {
    let result = Siaga::start().result("/v1/infrastructure");
    assert_eq!(each(&result, "name"), ["Pintu Air", "Pompa A", "Pompa B", "Ciliwung"]);
    assert_eq!(each(&result, "type"), ["floodgates", "pumps", "pumps", "waterways"]);
    assert_eq!(
        properties(&result)[0],
        json!({ "name": "Pintu Air", "type": "floodgates", "tags": { "instance_region_code": "ID-JK", "local_area_id": "1" } })
    );
    let types: Vec<_> =
        result["objects"]["output"]["geometries"].as_array().unwrap().iter().map(|of| &of["type"]).collect();
    assert_eq!(types, ["Point", "Point", "Point", "LineString"]);
}

#[test]
fn a_type_is_picked_by_path_or_by_parameter() {
    let siaga = Siaga::start();
    for (kind, names) in [
        ("floodgates", vec!["Pintu Air"]),
        ("pumps", vec!["Pompa A", "Pompa B"]),
        ("waterways", vec!["Ciliwung"]),
    ] {
        assert_eq!(each(&siaga.result(&format!("/v1/infrastructure/{kind}")), "name"), names);
        assert_eq!(each(&siaga.result(&format!("/v1/infrastructure?type={kind}")), "name"), names);
    }
    assert_eq!(each(&siaga.result("/v1/infrastructure/pumps?admin=ID-JK"), "name"), ["Pompa B"]);
    assert_eq!(each(&siaga.result("/v1/infrastructure/pumps?city=ID-JK"), "name"), ["Pompa B"]);
}

#[test]
fn geoformat_geojson_keeps_the_course_of_a_waterway() {
    let result = Siaga::start().result("/v1/infrastructure/waterways?geoformat=geojson");
    let geometry = &result["features"][0]["geometry"];
    assert_eq!(geometry["type"], "LineString");
    assert_eq!(geometry["coordinates"].as_array().unwrap().len(), 2);
}
