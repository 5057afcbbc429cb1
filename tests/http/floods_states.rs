use serde_json::json;

use crate::suite::support::Siaga;

#[test]
fn only_areas_with_a_state_are_listed_by_number() {
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
fn the_list_is_filtered_as_floods_is() {
    let siaga = Siaga::start();
    for (query, areas) in [
        ("minimum_state=2", vec!["5", "30"]),
        ("minimum_state=3", vec!["30"]),
        ("minimum_state=4", vec![]),
        ("city=jbd", vec!["5"]),
        ("city=jbd&minimum_state=3", vec![]),
        ("admin=ID-JK", vec!["5"]),
    ] {
        let result = siaga.result(&format!("/v1/floods/states?{query}"));
        let found: Vec<_> =
            result.as_array().unwrap().iter().map(|record| record["area_id"].as_str().unwrap()).collect();
        assert_eq!(found, areas, "{query}");
    }
}
