use serde_json::json;

use crate::suite::support::{Siaga, assert_invalid};

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
fn the_longest_period_is_configured() {
    let siaga = Siaga::with_setting("siaga.limits.max_period", "2h");
    let address = |end| format!("/v1/floods/archive?start=2016-12-14T00:00:00Z&end=2016-12-14T{end}Z");
    siaga.result(&address("02:00:00"));
    assert_invalid(siaga.client.get(address("02:00:01")).dispatch(), "query", &["end"], "at most 2h");
}
