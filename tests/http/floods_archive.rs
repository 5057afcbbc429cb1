use serde_json::json;

use crate::suite::support::{Siaga, assert_invalid, figment};

#[test]
fn the_highest_state_of_each_area_in_the_period_is_given() {
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
fn a_selector_narrows_the_archive() {
    let archive = "/v1/floods/archive?start=2016-12-14T00:00:00Z&end=2016-12-15T23:00:00Z&city=bdg";
    let result = Siaga::start().result(archive);
    assert_eq!(result.as_array().unwrap().len(), 1);
    assert_eq!(result[0]["area_id"], "30");
}

#[test]
fn a_period_in_which_nothing_was_flooded_is_empty() {
    let archive = "/v1/floods/archive?start=2011-01-01T00:00:00Z&end=2011-01-02T00:00:00Z";
    assert_eq!(Siaga::start().result(archive), json!([]));
}

#[test]
fn start_and_end_are_required_and_judged_on_every_route_of_a_period() {
    let siaga = Siaga::start();
    let (start, end) = ("start=2016-12-14T00:00:00Z", "end=2016-12-15T00:00:00Z");
    for route in ["archive", "timeseries"] {
        for (query, key, says) in [
            (String::new(), "start", "is required"),
            (end.to_owned(), "start", "is required"),
            (start.to_owned(), "end", "is required"),
            (format!("{start}&end="), "end", "is required"),
            (format!("{start}&{end}&{end}"), "end", "given once"),
            (format!("start=yesterday&{end}"), "start", "YYYY-MM-DDTHH:mm:ss"),
            (format!("start=2016-12-14&{end}"), "start", "YYYY-MM-DDTHH:mm:ss"),
            (format!("start=2016-12-14T00:00:00&{end}"), "start", "offset"),
            (format!("start=2016-12-14T00:00:00+0700&{end}"), "start", "encode + as %2B"),
            (format!("{start}&end=2016-12-15T00:00:00%200700"), "end", "encode + as %2B"),
            (format!("start=2016-12-16T00:00:00Z&{end}"), "end", "must not be before"),
            (format!("{start}&end=2017-12-15T00:00:01Z"), "end", "at most 366d after"),
            (format!("start=%FF&{end}"), "start", "UTF-8"),
            (format!("{start}&end=9999-12-31T23:59:59Z"), "end", "at most"),
        ] {
            let response = siaga.client.get(format!("/v1/floods/{route}?{query}")).dispatch();
            assert_invalid(response, "query", &[key], says);
        }
    }
}

#[test]
fn the_longest_period_is_configured() {
    let siaga = Siaga::with(figment().merge(("siaga.limits.max_period", "2h")), |builder| builder);
    let address = |end| format!("/v1/floods/archive?start=2016-12-14T00:00:00Z&end=2016-12-14T{end}Z");
    siaga.result(&address("02:00:00"));
    assert_invalid(siaga.client.get(address("02:00:01")).dispatch(), "query", &["end"], "at most 2h");
}
