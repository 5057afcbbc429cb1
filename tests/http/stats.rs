use serde_json::json;

use crate::suite::support::{Siaga, json_of};

#[test]
fn the_regions_of_flooded_areas_are_listed_alphabetically() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/2", r#"{"state":1}"#);
    assert_eq!(
        siaga.result("/v1/stats/floodedRegionsSummary?city=jbd"),
        json!({
            "total number of regions with flooded RWs": 2,
            "regions with flooded RWs": ["GROGOL", "KÖLN, ÉTÉ"],
        })
    );
}

#[test]
fn flooded_areas_are_counted_by_depth() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/2", r#"{"state":1}"#);
    siaga.put("/v1/floods/1", r#"{"state":2}"#);
    for (query, counts) in [("", [1, 2, 1, 0]), ("?city=bdg", [0, 0, 1, 0]), ("?admin=ID-JK", [1, 2, 0, 0])] {
        let [unknown, minor, moderate, severe] = counts;
        let expected = json!({
            "# hati-hati RWs": unknown, "# 10-70cm RWs": minor, "# 71-150cm RWs": moderate,
            "# 151cm+ RWs": severe,
        });
        assert_eq!(siaga.result(&format!("/v1/stats/floodedRWsSummary{query}")), expected, "{query}");
    }
}

#[test]
fn reports_are_counted_by_source_and_by_disaster() {
    let siaga = Siaga::start();
    let hour = json!({
        "total number of reports": 5, "by source": { "grasp": 5 },
        "by disaster": { "flood": 3, "haze": 1, "wind": 1 },
    });
    assert_eq!(siaga.result("/v1/stats/reportsSummary"), hour);
    let longer = siaga.result("/v1/stats/reportsSummary?timeperiod=7200");
    assert_eq!(longer["by source"], json!({ "grasp": 5, "partner": 1 }));
    assert_eq!(siaga.result("/v1/stats/reportsSummary?city=bdg")["total number of reports"], 1);
    assert_eq!(siaga.result("/v1/stats/reportsSummary?admin=ID-JK")["total number of reports"], 3);
}

#[test]
fn statistics_stand_in_result_and_beside_it() {
    let siaga = Siaga::start();
    for name in ["floodedRegionsSummary", "floodedRWsSummary", "reportsSummary"] {
        let address = format!("/v1/stats/{name}");
        let mut body = json_of(siaga.get(&address));
        let members = body.as_object_mut().unwrap();
        let first: Vec<_> = members.keys().take(2).cloned().collect();
        assert_eq!(first, ["statusCode", "result"], "{name}");
        assert_eq!(members.shift_remove("statusCode"), Some(json!(200)));
        let result = members.shift_remove("result").unwrap();
        assert_eq!(body, result, "{name}");
    }
}
