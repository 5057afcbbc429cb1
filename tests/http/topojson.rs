//! Positions and ring orientation in TopoJSON.

use serde::Deserialize;
use serde_json::json;

use crate::suite::support::Siaga;

#[test]
fn an_empty_topology_has_the_members_of_every_other() {
    let empty = [
        "/v1/reports?timeperiod=1",
        "/v1/floods?minimum_state=4",
        "/v1/floodgauges?timeperiod=1",
        "/v1/alerts?geoformat=topojson&minimum_state=4",
        "/v1/infrastructure?bbox=0,0,1,1",
        "/v1/areas?bbox=0,0,1,1",
    ];
    let siaga = Siaga::start();
    for address in empty {
        let topology = siaga.result(address);
        assert_eq!(topology["objects"]["output"]["geometries"], json!([]), "{address}");
        assert_eq!(topology["arcs"], json!([]), "{address}");
        assert_eq!(topology["transform"], json!({ "scale": [1, 1], "translate": [0, 0] }), "{address}");
        assert_eq!(topology["bbox"], json!([106.8, -6.2, 106.85, -6.16]), "{address}");
    }
}

#[test]
fn without_quantization_positions_are_absolute() {
    let floods = Siaga::with_setting("siaga.formats.topojson.quantization", "none").result("/v1/floods");
    assert_eq!((floods.get("transform"), &floods["bbox"]), (None, &json!([106.8, -6.2, 106.85, -6.16])));
}

#[test]
fn outer_rings_run_counter_clockwise_in_geojson() {
    let floods = Siaga::start().result("/v1/floods?city=bdg&geoformat=geojson");
    let [ring] =
        <[Vec<[f64; 2]>; 1]>::deserialize(&floods["features"][0]["geometry"]["coordinates"]).unwrap();
    let doubled_area: f64 =
        ring.windows(2).map(|pair| pair[0][0] * pair[1][1] - pair[1][0] * pair[0][1]).sum();
    assert!(doubled_area > 0.0, "{ring:?}");
}
