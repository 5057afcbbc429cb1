//! Whether a gauge still sends readings, and gauges that are switched off.

use std::time::Duration;

use rocket::http::Status;
use serde_json::{Value, json};

use crate::suite::support::{KEY, OTHER_KEY, Siaga, assert_invalid, each, key, properties};

/// Sends readings of TMA00003 of these minutes ago, by the clock at the start.
fn send(siaga: &Siaga, levels: &[(u64, f64)], settings: Value) {
    let reading = |(minutes, level): &(u64, f64)| {
        let at = crate::fixture::now().saturating_sub(Duration::from_mins(*minutes));
        json!({ "observed_at": at, "level": level })
    };
    let mut body = json!({
        "gaugeid": "TMA00003", "gaugenameid": "Pos Depok", "location": { "lat": -6.19, "lng": 106.81 },
        "observations": levels.iter().map(reading).collect::<Vec<_>>(), "thresholds": { "alert": 800 },
    });
    body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let sent = siaga.client.put("/v1/floodgauges").header(key(OTHER_KEY)).body(body.to_string()).dispatch();
    assert_eq!(sent.status(), Status::Ok);
}

/// The listed properties of TMA00003.
fn listed(siaga: &Siaga, query: &str) -> Option<Value> {
    let all = properties(&siaga.result(&format!("/v1/floodgauges{query}")));
    all.into_iter().find(|gauge| gauge["gaugeid"] == "TMA00003")
}

fn reasons(siaga: &Siaga) -> Vec<Value> {
    let list: Value =
        siaga.client.get("/v1/floods/attention").header(key(KEY)).dispatch().into_json().unwrap();
    let areas = list["result"].as_array().unwrap().clone();
    let all = areas.iter().flat_map(|area| area["reasons"].as_array().unwrap().clone());
    all.filter(|reason| reason["gaugeid"] == "TMA00003").collect()
}

#[test]
fn a_gauge_that_falls_silent_stays_on_the_list_that_asks_for_it_with_its_last_reading() {
    let siaga = Siaga::start();
    send(&siaga, &[(20, 100.0), (10, -999.0), (10, 110.0), (0, 120.0)], json!({ "every": 600 }));
    let gauge = listed(&siaga, "").unwrap();
    assert_eq!((&gauge["status"], &gauge["every"], gauge.get("last")), (&json!("ok"), &json!(600), None));
    siaga.pass(Duration::from_mins(29));
    assert_eq!(listed(&siaga, "").unwrap()["status"], "ok");
    siaga.pass(Duration::from_mins(1));
    let gauge = listed(&siaga, "").unwrap();
    assert_eq!(
        (&gauge["status"], &gauge["silent_since"]),
        (&json!("silent"), &json!("2016-12-19T16:38:52.000Z"))
    );
    siaga.pass(Duration::from_mins(31));
    assert_eq!(listed(&siaga, ""), None, "the default list is what it was");
    let gauge = listed(&siaga, "?silent=true").unwrap();
    assert_eq!(gauge["observations"], json!([]));
    let last = json!({ "f1": "2016-12-19T16:08:52+00:00", "f2": 120, "f3": 4, "f4": "SIAGA IV" });
    assert_eq!((&gauge["status"], &gauge["last"]), (&json!("silent"), &last));
    assert_eq!(each(&siaga.result("/v1/floodgauges?silent=true"), "gaugeid").len(), 3);
    assert_eq!(
        each(&siaga.result("/v1/floodgauges?silent=true&admin=ID-JK"), "gaugeid"),
        ["TMA00001", "TMA00003"]
    );
    assert_invalid(siaga.get("/v1/floodgauges?silent=yes"), "query", &["silent"], "must be one of");
}

#[test]
fn the_latest_reading_of_each_gauge_is_one_and_never_one_of_the_future() {
    let siaga = Siaga::with_setting("siaga.limits.features", 3);
    send(&siaga, &[(30, 100.0), (20, 110.0), (10, 120.0), (5, -999.0)], json!({}));
    let too_many =
        "must be shorter: there are more than 3 readings in it; latest=true lists one of each gauge";
    assert_invalid(siaga.get("/v1/floodgauges?timeperiod=86400"), "query", &["timeperiod"], too_many);
    let levels = |query: &str| -> Vec<_> {
        let gauge = listed(&siaga, query).unwrap();
        gauge["observations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|reading| reading["f2"].as_f64().unwrap())
            .collect()
    };
    assert_eq!(levels("?latest=true"), [120.0]);
    assert_eq!(levels("?latest=true&quality=all"), [-999.0]);
    let ahead = crate::fixture::now().saturating_add(Duration::from_mins(5));
    let reading = json!([{ "observed_at": ahead, "level": 130 }]);
    send(&siaga, &[], json!({ "observations": reading }));
    assert_eq!(levels("?latest=true"), [120.0], "it is shown when its time comes");
    siaga.pass(Duration::from_mins(5));
    assert_eq!(levels("?latest=true"), [130.0]);
    siaga.pass(Duration::from_hours(2));
    assert_eq!(listed(&siaga, "?latest=true"), None);
    assert_eq!(listed(&siaga, "?latest=true&silent=true").unwrap()["last"]["f2"], 130);
    assert_eq!(levels("?latest=true&timeperiod=86400"), [130.0]);
}

#[test]
fn the_trend_is_listed_with_the_times_between_which_it_was_seen() {
    let siaga = Siaga::start();
    send(&siaga, &[(60, 100.0), (40, 104.0), (20, 108.0)], json!({}));
    assert_eq!(listed(&siaga, "").unwrap().get("trend"), None, "three readings are too few");
    send(&siaga, &[(0, 112.0)], json!({}));
    let trend = json!({
        "cm_per_hour": 12.0, "from": "2016-12-19T15:08:52+00:00", "to": "2016-12-19T16:08:52+00:00",
    });
    assert_eq!(listed(&siaga, "?latest=true").unwrap()["trend"], trend);
}

#[test]
fn a_muted_gauge_is_no_evidence_until_it_ends_and_only_officers_see_why() {
    let siaga = Siaga::start();
    send(&siaga, &[(10, 810.0)], json!({}));
    assert!(!reasons(&siaga).is_empty());
    let mute = |body: Value| {
        let put = siaga.client.put("/v1/floodgauges/TMA00003/mute?username=desk").header(key(KEY));
        put.body(body.to_string()).dispatch()
    };
    siaga.pass(Duration::from_secs(3));
    let answer: Value = mute(json!({ "reason": "under repair" })).into_json().unwrap();
    let expected =
        json!({ "gaugeid": "TMA00003", "muted_until": "2016-12-20T16:08:55.000Z", "updated": true });
    assert_eq!(answer, expected, "for 24 hours");
    assert_eq!(reasons(&siaga), [] as [Value; 0]);
    let gauge = listed(&siaga, "").unwrap();
    assert_eq!((&gauge["status"], &gauge["muted_until"]), (&json!("muted"), &expected["muted_until"]));
    assert!(!gauge.to_string().contains("repair"), "{gauge}");
    siaga.pass(Duration::from_secs(3));
    let ended = siaga.client.delete("/v1/floodgauges/TMA00003/mute").header(key(OTHER_KEY)).dispatch();
    assert_eq!(ended.into_json::<Value>().unwrap()["muted_until"], Value::Null);
    assert!(!reasons(&siaga).is_empty(), "the alarm is back");

    siaga.pass(Duration::from_secs(3));
    assert_eq!(mute(json!({ "reason": "again", "until": "2016-12-19T16:30:00Z" })).status(), Status::Ok);
    assert!(reasons(&siaga).is_empty());
    siaga.pass(Duration::from_mins(22));
    assert!(!reasons(&siaga).is_empty(), "and back when it ends");
    let log = siaga.client.get("/v1/floodgauges/TMA00003/log").header(key(KEY)).dispatch();
    let log: Value = log.into_json().unwrap();
    let entries = log["result"].as_array().unwrap();
    let told = |entry: &Value| (entry["reason"].clone(), entry["until"].is_null(), entry["username"].clone());
    assert_eq!(
        entries.iter().map(told).collect::<Vec<_>>(),
        [
            (json!("again"), false, json!("desk")),
            (json!(""), true, Value::Null),
            (json!("under repair"), false, json!("desk")),
        ]
    );
}

#[test]
fn a_wrong_order_to_mute_is_refused() {
    let siaga = Siaga::start();
    let put = |path: &str, body: Value| {
        let put = siaga.client.put(format!("/v1/floodgauges/{path}/mute")).header(key(KEY));
        put.body(body.to_string()).dispatch()
    };
    for until in ["2016-12-19T16:08:52Z", "2017-01-18T16:08:53Z", "tomorrow"] {
        let answer = put("TMA00001", json!({ "reason": "x", "until": until }));
        assert_eq!(answer.status(), Status::BadRequest, "{until}");
        assert!(answer.into_string().unwrap().contains("until"));
    }
    assert_invalid(put("TMA00001", json!({})), "body", &["reason"], "is required");
    assert_eq!(put("X", json!({ "reason": "x" })).status(), Status::NotFound);
    let log = siaga.client.get("/v1/floodgauges/X/log").header(key(KEY)).dispatch();
    assert_eq!(log.status(), Status::NotFound);
    let stranger = siaga.client.put("/v1/floodgauges/TMA00001/mute").body(r#"{"reason":"x"}"#).dispatch();
    assert_eq!(stranger.status(), Status::Forbidden);
}

#[test]
fn an_alarm_of_a_gauge_that_fell_silent_stays_a_reason_with_the_time_it_was_last_heard() {
    let siaga = Siaga::start();
    send(&siaga, &[(10, 810.0)], json!({}));
    assert_eq!(reasons(&siaga)[0].get("last_heard"), None);
    siaga.pass(Duration::from_hours(3));
    assert_eq!(reasons(&siaga)[0]["last_heard"], "2016-12-19T15:58:52.000Z");
    siaga.pass(Duration::from_hours(24));
    assert!(reasons(&siaga).is_empty(), "the window has ended");
}

#[test]
fn silent_gauges_are_named_where_operators_look_and_are_a_failure_only_if_none_is_heard() {
    let source = json!({ "river": { "subject": "gauges", "every": "366d", "covers": ["gauges"] } });
    for (settings, status) in [(json!({}), Status::Ok), (source, Status::ServiceUnavailable)] {
        let siaga = Siaga::with_setting("siaga.sources", settings);
        // A source that was never heard is silent itself.
        send(&siaga, &[], json!({}));
        let gauges = |siaga: &Siaga| {
            let health = siaga.get("/health/data");
            let status = health.status();
            (status, health.into_json::<Value>().unwrap()["result"]["gauges"].clone())
        };
        let some = json!({ "total": 3, "silent": ["TMA00003"], "never": 0 });
        assert_eq!(gauges(&siaga), (Status::Ok, some.clone()));
        assert_eq!(siaga.get("/v1/sources").into_json::<Value>().unwrap()["gauges"], some);
        siaga.pass(Duration::from_hours(2));
        let all = json!({ "total": 3, "silent": ["TMA00001", "TMA00002", "TMA00003"], "never": 0 });
        assert_eq!(gauges(&siaga), (status, all));
    }
}
