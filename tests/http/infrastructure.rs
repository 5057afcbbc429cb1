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
    let types: Vec<_> = result["objects"]["output"]["geometries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|feature| &feature["type"])
        .collect();
    assert_eq!(types, ["Point", "Point", "Point", "LineString"]);
}

#[test]
fn type_and_province_are_selected_by_path_or_parameter() {
    let siaga = Siaga::start();
    for (query, names) in [
        ("/floodgates", &["Pintu Air"][..]),
        ("/pumps", &["Pompa A", "Pompa B"]),
        ("/waterways", &["Ciliwung"]),
        ("?type=floodgates", &["Pintu Air"]),
        ("?type=pumps", &["Pompa A", "Pompa B"]),
        ("?type=waterways", &["Ciliwung"]),
        ("/pumps?admin=ID-JK", &["Pompa B"]),
        ("/pumps?city=ID-JK", &["Pompa B"]),
    ] {
        assert_eq!(each(&siaga.result(&format!("/v1/infrastructure{query}")), "name"), names, "{query}");
    }
}
