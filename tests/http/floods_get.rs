//! Reads of floods: the map, the list of states, the archive and the time series.

use rocket::http::Status;
use serde_json::{Value, json};

use crate::suite::support::{Siaga, assert_invalid, each};

#[test]
fn all_areas_with_their_current_state_are_returned_when_minimum_state_is_absent() {
    let result = Siaga::start().result("/v1/floods");
    assert_eq!(each(&result, "area_id"), ["1", "2", "5", "10", "30"]);
    assert_eq!(each(&result, "state"), [Value::Null, Value::Null, json!(2), Value::Null, json!(3)]);
}

#[test]
fn an_area_has_the_documented_properties() {
    let result = Siaga::start().result("/v1/floods?minimum_state=1&city=jbd");
    let geometries = result["objects"]["output"]["geometries"].as_array().unwrap();
    assert_eq!((geometries.len(), &geometries[0]["type"]), (1, &json!("Polygon")));
    assert_eq!(
        geometries[0]["properties"],
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
    let expected = r#""attributes":{"District":"Kota \"Tua\" & <Utara>","district_id":3174.0,"RT":[1,2],"none":null},"state":null"#;
    for format in ["topojson", "geojson"] {
        let response = siaga.client.get(format!("/v1/floods?geoformat={format}")).dispatch();
        let body = response.into_string().unwrap();
        assert!(body.contains(expected), "{format}: {body}");
        assert_eq!(body.matches("attributes").count(), 1, "{format}: absent where there are none");
    }
}

#[test]
fn cap_is_an_atom_feed_for_either_format_parameter() {
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
    for query in ["city=", "city", "minimum_state=&admin=&format=&geoformat=", "foo=bar&foo=bar", "&&=&"] {
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

#[test]
fn only_areas_with_a_state_are_listed_as_states_by_number() {
    assert_eq!(
        Siaga::start().result("/v1/floods/states"),
        json!([
            {
                "area_id": "5", "state": 2, "last_updated": "2016-12-19T13:41:35.000Z",
                "flooded_since": "2016-12-14T06:10:35.000Z", "confirmed": "2016-12-19T13:41:35.000Z",
            },
            {
                "area_id": "30", "state": 3, "last_updated": "2016-12-13T08:00:35.000Z",
                "flooded_since": "2016-12-13T08:00:35.000Z", "confirmed": "2016-12-13T08:00:35.000Z",
            },
        ])
    );
}

#[test]
fn map_and_states_are_filtered_by_city_province_and_state() {
    let siaga = Siaga::start();
    for (query, areas) in [
        ("minimum_state=2", &["5", "30"][..]),
        ("minimum_state=3", &["30"]),
        ("minimum_state=4", &[]),
        ("city=jbd&minimum_state=1", &["5"]),
        ("city=jbd&minimum_state=3", &[]),
        ("admin=ID-JK&minimum_state=1", &["5"]),
    ] {
        let states = siaga.result(&format!("/v1/floods/states?{query}"));
        assert!(
            states.as_array().unwrap().iter().map(|state| &state["area_id"]).eq(areas),
            "{query}: {states}"
        );
        assert_eq!(each(&siaga.result(&format!("/v1/floods?{query}")), "area_id"), areas, "{query}");
    }
}

#[test]
fn the_archive_has_the_highest_state_of_each_area_in_a_period() {
    let archive = "/v1/floods/archive?start=2016-12-14T00:00:00%2B0700&end=2016-12-15T23:00:00%2B0700";
    assert_eq!(
        Siaga::start().result(archive),
        json!([
            { "area_id": "1", "last_updated": "2016-12-14T07:30:35.000Z", "max_state": 2 },
            { "area_id": "5", "last_updated": "2016-12-14T09:00:35.000Z", "max_state": 4 },
            { "area_id": "30", "last_updated": "2016-12-13T08:00:35.000Z", "max_state": 3 },
        ])
    );
}

#[test]
fn the_longest_period_is_configured() {
    let siaga = Siaga::with_setting("siaga.limits.max_period", "2h");
    let address = |end| format!("/v1/floods/archive?start=2016-12-14T00:00:00Z&end=2016-12-14T{end}Z");
    siaga.result(&address("02:00:00"));
    assert_invalid(siaga.client.get(address("02:00:01")).dispatch(), "query", &["end"], "at most 2h");
}

#[test]
fn the_series_has_a_count_as_a_string_for_every_hour_from_start_to_end() {
    let series = "/v1/floods/timeseries?start=2016-12-14T01%3A30%3A00-0500&end=2016-12-14T09%3A00%3A00Z";
    assert_eq!(
        Siaga::start().result(series),
        json!([
            { "ts": "2016-12-14T06:00:00.000Z", "count": "1" },
            { "ts": "2016-12-14T07:00:00.000Z", "count": "2" },
            { "ts": "2016-12-14T08:00:00.000Z", "count": "3" },
            { "ts": "2016-12-14T09:00:00.000Z", "count": "3" },
        ])
    );
}
