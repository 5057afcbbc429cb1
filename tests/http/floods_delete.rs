use rocket::http::Status;
use serde_json::json;

use crate::suite::support::{Siaga, assert_invalid, json_of};

#[test]
fn a_state_is_cleared_and_answered_with_null() {
    let siaga = Siaga::start();
    let response = siaga.delete("/v1/floods/5");
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.into_string().unwrap(), r#"{"localAreaId":5,"state":null,"updated":true}"#);
    let map = siaga.result("/v1/floods?city=jbd");
    let cleared = &map["objects"]["output"]["geometries"][2]["properties"];
    assert_eq!(
        (&cleared["area_id"], &cleared["state"], &cleared["last_updated"]),
        (&json!("5"), &().into(), &().into())
    );
    assert_eq!(siaga.result("/v1/floods/states?city=jbd"), json!([]));
    assert_eq!(json_of(siaga.delete("/v1/floods/5"))["updated"], true, "twice is the same as once");
    assert_eq!(siaga.result("/v1/floods/states?city=jbd"), json!([]));
    let archive = "/v1/floods/archive?start=2016-12-19T16:00:00Z&end=2016-12-19T17:00:00Z&city=jbd";
    assert_eq!(siaga.result(archive)[0]["max_state"], 2, "the history keeps what was cleared");
}

#[test]
fn clearing_an_unknown_area_is_404_and_a_wrong_id_400() {
    let siaga = Siaga::start();
    assert_eq!(siaga.delete("/v1/floods/3").status(), Status::NotFound);
    assert_invalid(siaga.delete("/v1/floods/x"), "params", &["localAreaId"], "must be a whole number");
}
