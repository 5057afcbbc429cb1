//! Where positions lie in TopoJSON, and which way rings run.

use rocket::http::{Method, Status};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::suite::support::{Siaga, figment};

/// The places of the points of a GeoJSON collection, in degrees.
fn places(collection: &Value) -> Vec<[f64; 2]> {
    let features = collection["features"].as_array().unwrap().iter();
    features.map(|feature| Deserialize::deserialize(&feature["geometry"]["coordinates"]).unwrap()).collect()
}

/// The coordinates of the points of a topology, as they are written.
fn coordinates(topology: &Value) -> Vec<[f64; 2]> {
    let geometries = topology["objects"]["output"]["geometries"].as_array().unwrap().iter();
    geometries.map(|geometry| Deserialize::deserialize(&geometry["coordinates"]).unwrap()).collect()
}

/// Sends reports from all over the country.
fn send_reports(siaga: &Siaga) {
    for number in 0..40_u32 {
        let part = |of: u32| f64::from(number * of % 997) / 997.0;
        let location = json!({ "lng": 95.0 + 46.0 * part(613), "lat": -11.0 + 17.0 * part(389) });
        let post = json!({
            "post_id": number, "created_at": "2016-12-19T16:00:00.011Z", "partner_city": "jabodetabek",
            "disaster_type": "flood", "location": location,
        });
        let response = siaga.ask(Method::Post, "/v1/feeds/partner", post.to_string());
        assert_eq!(response.status(), Status::Ok);
    }
}

#[test]
fn reports_of_the_whole_country_decode_to_within_20_centimetres_of_where_they_are() {
    let siaga = Siaga::start();
    send_reports(&siaga);
    let topology = siaga.result("/v1/reports");
    let transform = &topology["transform"];
    let [scale, translate] =
        ["scale", "translate"].map(|member| <[f64; 2]>::deserialize(&transform[member]).unwrap());
    let decoded = coordinates(&topology)
        .into_iter()
        .map(|at| [0, 1].map(|axis| at[axis] * scale[axis] + translate[axis]));
    let places = places(&siaga.result("/v1/reports?geoformat=geojson"));
    assert!(places.len() > 40, "{}", places.len());
    for (decoded, place) in decoded.zip(places) {
        let metres = |axis: usize| (decoded[axis] - place[axis]) * 111_320.0;
        assert!(metres(0).hypot(metres(1)) < 0.2, "{decoded:?} {place:?}");
    }
}

#[test]
fn the_grid_has_as_many_lines_as_configured() {
    let scale = |lines: u32| {
        let figment = figment().merge(("siaga.formats.topojson.quantization", lines));
        let result = Siaga::with(figment, |builder| builder).result("/v1/floods");
        result["transform"]["scale"][0].as_f64().unwrap()
    };
    let ratio = scale(100_001) / scale(1_000_001);
    assert!((ratio - 10.0).abs() < 1e-6, "{ratio}");
    let coarse = scale(2);
    assert!((4.9e-5..=5e-5).contains(&coarse), "cells are no larger than 5e-5 degrees: {coarse}");
}

#[test]
fn without_quantization_positions_are_absolute() {
    let siaga =
        Siaga::with(figment().merge(("siaga.formats.topojson.quantization", "none")), |builder| builder);
    send_reports(&siaga);
    let topology = siaga.result("/v1/reports");
    assert_eq!(topology.get("transform"), None);
    assert_eq!(coordinates(&topology), places(&siaga.result("/v1/reports?geoformat=geojson")));
    let floods = siaga.result("/v1/floods");
    assert_eq!((floods.get("transform"), &floods["bbox"]), (None, &json!([106.8, -6.2, 106.85, -6.16])));
    let arcs = Vec::<Vec<[f64; 2]>>::deserialize(&floods["arcs"]).unwrap();
    assert!(
        arcs.iter().flatten().all(|at| (106.8..=106.85).contains(&at[0]) && (-6.2..=-6.16).contains(&at[1]))
    );
}

#[test]
fn outer_rings_run_clockwise_in_topojson_and_counter_clockwise_in_geojson() {
    let siaga =
        Siaga::with(figment().merge(("siaga.formats.topojson.quantization", "none")), |builder| builder);
    let doubled_area = |ring: &[[f64; 2]]| -> f64 {
        ring.windows(2).map(|pair| pair[0][0] * pair[1][1] - pair[1][0] * pair[0][1]).sum()
    };
    let floods = siaga.result("/v1/floods?city=bdg");
    let [ring] = <[Vec<[f64; 2]>; 1]>::deserialize(&floods["arcs"]).unwrap();
    assert!(doubled_area(&ring) < 0.0, "{ring:?}");
    let floods = siaga.result("/v1/floods?city=bdg&geoformat=geojson");
    let [ring] =
        <[Vec<[f64; 2]>; 1]>::deserialize(&floods["features"][0]["geometry"]["coordinates"]).unwrap();
    assert!(doubled_area(&ring) > 0.0, "{ring:?}");
}

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
    let exact = figment().merge(("siaga.formats.topojson.quantization", "none"));
    let siaga = Siaga::with(exact, |builder| builder);
    for address in empty {
        let topology = siaga.result(address);
        assert_eq!(topology.get("transform"), None, "{address}");
        assert_eq!(topology["bbox"], json!([106.8, -6.2, 106.85, -6.16]), "{address}");
    }
}
