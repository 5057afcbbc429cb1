use rocket::http::Status;
use serde_json::json;

use crate::support::{Siaga, assert_invalid};

#[test]
fn the_regions_of_flooded_areas_are_listed_alphabetically() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/2", r#"{"state":1}"#);
    let body = siaga.get("/v1/stats/floodedRegionsSummary?city=jbd").into_string().unwrap();
    assert_eq!(
        body,
        concat!(
            r#"{"statusCode":200,"result":{"total number of regions with flooded RWs":2,"#,
            r#""regions with flooded RWs":["GROGOL","KÖLN, ÉTÉ"]}}"#
        )
    );
    assert_invalid(siaga.get("/v1/stats/floodedRegionsSummary?city=x"), "query", &["city"], "one of");
}

#[test]
fn flooded_areas_are_counted_by_depth() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/2", r#"{"state":1}"#);
    siaga.put("/v1/floods/1", r#"{"state":2}"#);
    assert_eq!(
        siaga.get("/v1/stats/floodedRWsSummary").into_string().unwrap(),
        concat!(
            r##"{"statusCode":200,"result":{"# hati-hati RWs":1,"# 10-70cm RWs":2,"##,
            r##""# 71-150cm RWs":1,"# 151cm+ RWs":0}}"##
        )
    );
    assert_eq!(siaga.result("/v1/stats/floodedRWsSummary?city=bdg")["# 71-150cm RWs"], 1);
    assert_eq!(siaga.result("/v1/stats/floodedRWsSummary?admin=ID-JK")["# 71-150cm RWs"], 0);
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
    assert_invalid(siaga.get("/v1/stats/reportsSummary?timeperiod=0"), "query", &["timeperiod"], "from 1");
}

#[test]
fn an_unknown_statistic_is_404() {
    assert_eq!(Siaga::start().get("/v1/stats/other").status(), Status::NotFound);
}
