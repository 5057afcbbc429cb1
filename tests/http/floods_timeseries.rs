use serde_json::json;

use crate::suite::support::Siaga;

#[test]
fn every_hour_from_start_to_end_has_its_count_as_a_string() {
    let series = "/v1/floods/timeseries?start=2016-12-14T06%3A30%3A00Z&end=2016-12-14T09%3A00%3A00Z";
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

#[test]
fn the_example_of_the_interface_gives_five_hours() {
    let series = "/v1/floods/timeseries?start=2017-11-20T11%3A00%3A00-0500&end=2017-11-20T15%3A00%3A00-0500";
    let result = Siaga::start().result(series);
    let points = result.as_array().unwrap();
    assert_eq!(points.len(), 5);
    assert_eq!(points[0]["ts"], "2017-11-20T16:00:00.000Z");
    assert_eq!(points[4]["ts"], "2017-11-20T20:00:00.000Z");
}
