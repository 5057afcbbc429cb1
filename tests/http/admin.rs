use serde_json::json;

use crate::suite::support::{Siaga, each, properties};

#[test]
fn all_boundaries_are_listed_by_code() {
    let result = Siaga::start().result("/v1/admin");
    assert_eq!(
        properties(&result),
        [json!({ "code": "ID-JB", "name": "Jawa Barat" }), json!({ "code": "ID-JK", "name": "DKI Jakarta" })]
    );
    assert_eq!(result["objects"]["output"]["geometries"][0]["type"], "Polygon");
}

#[test]
fn admin_filters_by_code_and_geoformat_sets_the_format() {
    let siaga = Siaga::start();
    assert_eq!(each(&siaga.result("/v1/admin?admin=ID-JK"), "code"), ["ID-JK"]);
    assert_eq!(siaga.result("/v1/admin?admin=ID-AC")["objects"]["output"]["geometries"], json!([]));
    let features = siaga.result("/v1/admin?admin=ID-JB&geoformat=geojson");
    assert_eq!(features["features"][0]["properties"]["name"], "Jawa Barat");
}
