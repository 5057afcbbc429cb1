use rocket::http::Status;
use serde_json::{Value, json};

use crate::suite::support::{Siaga, assert_invalid};

fn areas(result: &Value) -> Vec<(String, Value)> {
    let geometries = result["objects"]["output"]["geometries"].as_array().unwrap();
    let properties = geometries.iter().map(|geometry| &geometry["properties"]);
    properties.map(|of| (of["area_id"].as_str().unwrap().to_owned(), of["state"].clone())).collect()
}

fn expect(areas: &[(&str, Value)]) -> Vec<(String, Value)> {
    areas.iter().map(|(id, state)| ((*id).to_owned(), state.clone())).collect()
}

#[test]
fn all_areas_with_their_current_state_are_returned_when_minimum_state_is_absent() {
    let result = Siaga::start().result("/v1/floods");
    let all =
        [("1", Value::Null), ("2", Value::Null), ("5", json!(2)), ("10", Value::Null), ("30", json!(3))];
    assert_eq!(areas(&result), expect(&all));
}

#[test]
fn an_area_has_the_documented_properties() {
    let result = Siaga::start().result("/v1/floods?minimum_state=1&city=jbd");
    let [geometry] = &result["objects"]["output"]["geometries"].as_array().unwrap()[..] else {
        panic!("one area")
    };
    assert_eq!(geometry["type"], "Polygon");
    assert_eq!(
        serde_json::to_string(&geometry["properties"]).unwrap().parse::<Value>().unwrap(),
        json!({
            "area_id": "5", "geom_id": "3174040004009005", "area_name": "RW 09", "parent_name": "GROGOL",
            "city_name": "JAKARTA BARAT", "state": 2, "last_updated": "2016-12-19T13:41:35.000Z",
            "flooded_since": "2016-12-14T06:10:35.000Z", "confirmed": "2016-12-19T13:41:35.000Z",
        })
    );
}

#[test]
fn the_attributes_of_an_area_are_served_as_the_data_set_has_them() {
    let siaga = Siaga::start();
    let expected = r#""attributes":{"District":"Kota \"Tua\" & <Utara>","district_id":3174.0,"RT":[1,2],"none":null},"state":"#;
    for format in ["topojson", "geojson"] {
        let body =
            siaga.client.get(format!("/v1/floods?geoformat={format}")).dispatch().into_string().unwrap();
        assert!(body.contains(&format!("{expected}null")), "{format}: {body}");
        assert_eq!(body.matches("attributes").count(), 1, "{format}: absent where there are none");
    }
    siaga.put("/v1/floods/2", r#"{"state":1}"#);
    let flooded = siaga.get("/v1/floods?minimum_state=1").into_string().unwrap();
    assert!(flooded.contains(&format!("{expected}1")), "{flooded}");
}

#[test]
fn cap_is_an_atom_feed_whichever_parameter_asks_for_it() {
    let siaga = Siaga::start();
    for query in ["format=xml&geoformat=cap", "geoformat=cap", "format=xml"] {
        let response = siaga.client.get(format!("/v1/floods?city=jbd&minimum_state=1&{query}")).dispatch();
        assert_eq!(response.status(), Status::Ok, "{query}");
        assert_eq!(response.headers().get_one("Content-Type"), Some("application/atom+xml; charset=utf-8"));
        let feed = response.into_string().unwrap();
        assert!(feed.contains("<id>http://localhost/v1/floods</id>"), "{feed}");
        assert_eq!(feed.matches("<entry>").count(), 1, "{feed}");
    }
}

#[test]
fn a_format_that_does_not_go_with_the_geoformat_is_400_naming_both() {
    let siaga = Siaga::start();
    for query in
        ["format=json&geoformat=cap", "format=xml&geoformat=topojson", "format=xml&geoformat=geojson"]
    {
        let response = siaga.client.get(format!("/v1/floods?{query}")).dispatch();
        assert_invalid(response, "query", &["format", "geoformat"], "do not go together");
    }
}

#[test]
fn an_empty_parameter_counts_as_absent_and_an_unknown_one_is_ignored() {
    let siaga = Siaga::start();
    let all = siaga.result("/v1/floods");
    for query in ["city=", "city", "minimum_state=&admin=&format=&geoformat=", "foo=bar&foo=bar", "&&=&", ""]
    {
        assert_eq!(siaga.result(&format!("/v1/floods?{query}")), all, "{query}");
    }
}

#[test]
fn the_path_of_the_base_address_is_the_mount_point() {
    let siaga = Siaga::with_setting("siaga.base_url", "https://example.org/api/v2");
    assert_eq!(siaga.get("/api/v2/floods").status(), Status::Ok);
    assert_eq!(siaga.get("/v1/floods").status(), Status::NotFound);
    let feed = siaga.get("/api/v2/floods?geoformat=cap").into_string().unwrap();
    assert!(feed.contains("<id>https://example.org/api/v2/floods</id>"));
    let at_root = Siaga::with_setting("siaga.base_url", "https://example.org");
    assert_eq!(at_root.get("/floods").status(), Status::Ok);
}
