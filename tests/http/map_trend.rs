//! `/map/trend`: the states of an hour ago, from the log.

use std::time::Duration;

use serde_json::{Value, json};

use crate::suite::support::{ADMIN_KEY, Siaga, key};

const MINUTE: Duration = Duration::from_mins(1);

fn trend(siaga: &Siaga, query: &str) -> Value {
    siaga.get(&format!("/map/trend{query}")).into_json().unwrap()
}

fn set(siaga: &Siaga, area: u64, state: u64) {
    let address = format!("/v1/floods/{area}");
    assert_eq!(siaga.put(&address, json!({ "state": state }).to_string()).status().code, 200);
}

#[test]
fn the_past_has_the_states_of_an_hour_ago_and_since_when_the_present_ones_are() {
    let siaga = Siaga::start();
    let before = trend(&siaga, "");
    assert_eq!((&before["then"], &before["since"]), (&json!({ "5": 2, "30": 3 }), &json!({})), "{before}");
    assert_eq!(before["logged"], true);
    assert_eq!(trend(&siaga, "?city=bdg")["then"], json!({ "30": 3 }));
    set(&siaga, 5, 4);
    let changed = siaga.now().to_string();
    siaga.pass(MINUTE * 10);
    set(&siaga, 5, 4);
    let after = trend(&siaga, "");
    assert_eq!(
        (&after["then"]["5"], &after["since"]),
        (&json!(2), &json!({ "5": changed })),
        "a confirmation is no change"
    );
    siaga.pass(MINUTE * 70);
    assert_eq!(trend(&siaga, "")["then"]["5"], 4);
}

#[test]
fn an_undo_corrects_the_past_although_the_state_was_confirmed_since() {
    let siaga = Siaga::start();
    let change = |body: Value, path: &str| {
        let request = siaga.client.post(path.to_owned()).header(key(ADMIN_KEY)).body(body.to_string());
        request.dispatch().into_json::<Value>().unwrap()
    };
    let done = change(json!({ "changes": [{ "area_id": "1", "state": 4 }] }), "/v1/floods/changes");
    let batch = &done["result"]["batch"];
    siaga.pass(MINUTE);
    change(json!({}), &format!("/v1/floods/changes/{batch}/undo"));
    siaga.pass(MINUTE);
    set(&siaga, 1, 2);
    assert_eq!(trend(&siaga, "")["corrected"], json!(["1"]));
    siaga.pass(MINUTE * 70);
    assert_eq!(trend(&siaga, "")["corrected"], json!([]));
}
