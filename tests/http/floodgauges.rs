use std::time::Duration;

use rocket::http::Status;
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};

use crate::suite::support::{OTHER_KEY, Siaga, assert_invalid, each, key, properties};

fn gauge() -> Value {
    json!({
        "gaugeid": "TMA00003", "gaugenameid": "Pos Depok", "location": { "lat": -6.19, "lng": 106.81 },
        "observations": [
            { "observed_at": "2016-12-19T22:00:00+07:00", "level": 130.5, "alert": 2, "label": "SIAGA II " },
            { "observed_at": "2016-12-19T16:00:00.500Z", "level": -3, "alert": 4 },
        ],
    })
}

fn put<'c>(siaga: &'c Siaga, body: &Value) -> LocalResponse<'c> {
    siaga.client.put("/v1/floodgauges").header(key(OTHER_KEY)).body(body.to_string()).dispatch()
}

#[test]
fn the_readings_of_the_last_hour_are_listed_by_default() {
    let result = Siaga::start().result("/v1/floodgauges");
    assert_eq!(
        properties(&result),
        [
            json!({ "gaugeid": "TMA00001", "gaugenameid": "Bendung Katulampa", "observations": [
                { "f1": "2016-12-19T15:08:52+00:00", "f2": 30, "f3": 4, "f4": "SIAGA IV" },
                { "f1": "2016-12-19T16:03:52+00:00", "f2": 40.5, "f3": 4, "f4": "SIAGA IV" },
            ], "every": 1200, "status": "ok" }),
            json!({ "gaugeid": "TMA00002", "gaugenameid": "Waduk", "observations": [
                { "f1": "2016-12-19T15:58:52+00:00", "f2": -165, "f3": 4, "f4": "SIAGA IV" },
            ], "every": 1200, "status": "ok" }),
        ]
    );
    assert_eq!(result["objects"]["output"]["geometries"][0]["coordinates"], json!([0, 0]));
}

#[test]
fn province_filters_the_list_and_timeperiod_sets_its_window() {
    let siaga = Siaga::start();
    for (query, expected) in [
        ("admin=ID-JK", &["TMA00001"][..]),
        ("city=ID-JK", &["TMA00001"]),
        ("admin=ID-JK&city=ID-JK", &["TMA00001"]),
        ("timeperiod=86400", &["TMA00001", "TMA00002", "TMA00003"]),
    ] {
        assert_eq!(each(&siaga.result(&format!("/v1/floodgauges?{query}")), "gaugeid"), expected, "{query}");
    }
}

#[test]
fn readings_are_stored_once_however_often_they_are_sent() {
    let siaga = Siaga::start();
    for _ in 0..2 {
        let response = put(&siaga, &gauge()).into_string();
        assert_eq!(response.unwrap(), r#"{"gaugeid":"TMA00003","stored":2,"updated":true}"#);
    }
    let listed = &properties(&siaga.result("/v1/floodgauges?timeperiod=7200"))[2];
    assert_eq!(
        listed["observations"],
        json!([
            { "f1": "2016-12-19T15:00:00+00:00", "f2": 130.5, "f3": 2, "f4": "SIAGA II " },
            { "f1": "2016-12-19T16:00:00.500+00:00", "f2": -3, "f3": 4, "f4": "SIAGA IV" },
        ])
    );
}

#[test]
fn a_wrong_gauge_is_400_naming_each_fault_by_its_path() {
    let siaga = Siaga::start();
    for (pointer, wrong, path, expected) in [
        ("/gaugeid", json!(5), "gaugeid", "text"),
        ("/gaugenameid", json!(""), "gaugenameid", "1 to 255"),
        ("/location", json!({}), "location", "lat"),
        ("/observations", json!({}), "observations", "array"),
        ("/observations/1", json!(5), "observations.1", "object"),
        ("/observations/0/observed_at", json!("x"), "observations.0.observed_at", "YYYY"),
        ("/observations/0/level", json!("high"), "observations.0.level", "number"),
        ("/observations/1/level", Value::Null, "observations.1.level", "is required"),
        ("/observations/0/alert", json!(5), "observations.0.alert", "one of [1, 2, 3, 4]"),
        ("/observations/0/label", json!(1), "observations.0.label", "text"),
    ] {
        let mut body = gauge();
        *body.pointer_mut(pointer).unwrap() = wrong;
        assert_invalid(put(&siaga, &body), "body", &[path], expected);
    }
    let mut several = gauge();
    several["observations"] = json!([{ "alert": 9 }, { "level": "x" }]);
    let keys = ["0.observed_at", "0.level", "0.alert", "1.observed_at", "1.level"];
    let keys = keys.map(|key| format!("observations.{key}"));
    assert_invalid(put(&siaga, &several), "body", &keys.each_ref().map(String::as_str), "; ");
    let mut many = gauge();
    many["observations"] = Value::from(vec![json!({}); 30_000]);
    let response = put(&siaga, &many).into_string().unwrap();
    assert!(response.contains("; and 59950 more") && response.len() < 10_000, "{} bytes", response.len());
}

#[test]
fn a_list_with_a_reading_from_the_future_is_400_naming_it_and_nothing_is_stored() {
    let siaga = Siaga::start();
    let mut local = gauge();
    // The clock stands at 16:08:52 UTC, 23:08:52 in Jakarta.
    local["observations"][1]["observed_at"] = json!("2016-12-19T23:08:51Z");
    let expected = "is 6 h 59 min in the future: is it local time written as UTC?";
    assert_invalid(put(&siaga, &local), "body", &["observations.1.observed_at"], expected);
    assert_eq!(each(&siaga.result("/v1/floodgauges"), "gaugeid"), ["TMA00001", "TMA00002"]);
    // The clock of a gauge may be ahead by some minutes. A reading is the same one each time it is sent.
    local["observations"][1]["observed_at"] = json!("2016-12-19T16:18:52Z");
    for _ in 0..2 {
        assert_eq!(put(&siaga, &local).status(), Status::Ok);
    }
    let count = || {
        let gauge = &properties(&siaga.result("/v1/floodgauges?timeperiod=7200"))[2];
        gauge["observations"].as_array().unwrap().len()
    };
    assert_eq!(count(), 1, "it is shown when its time comes");
    siaga.pass(Duration::from_mins(10));
    assert_eq!(count(), 2);
}

#[test]
fn a_list_of_too_many_readings_is_400_with_the_parameters_that_narrow_it() {
    let siaga = Siaga::with_setting("siaga.limits.features", 3);
    assert_eq!(each(&siaga.result("/v1/floodgauges"), "gaugeid").len(), 2, "of two gauges three readings");
    let expected = "must be shorter: there are more than 3 readings in it";
    assert_invalid(siaga.get("/v1/floodgauges?timeperiod=86400"), "query", &["timeperiod"], expected);
}

fn readings(result: &Value) -> Vec<Value> {
    let listed = properties(result);
    let gauge = listed.iter().find(|gauge| gauge["gaugeid"] == "TMA00003");
    gauge.map(|gauge| gauge["observations"].as_array().unwrap().clone()).unwrap_or_default()
}

/// The gauge with readings of these minutes ago and levels, without alert levels.
fn measured(levels: &[(u32, f64)], settings: Value) -> Value {
    let mut body = gauge();
    let reading = |(minutes, level): &(u32, f64)| {
        let at = crate::fixture::now().saturating_sub(Duration::from_mins((*minutes).into()));
        json!({ "observed_at": at, "level": level })
    };
    body["observations"] = levels.iter().map(reading).collect();
    body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    body
}

#[test]
fn thresholds_make_the_alert_level_and_stay_until_they_are_removed() {
    let siaga = Siaga::start();
    let thresholds = json!({ "critical": 950, "alert": 850.5, "watch": 750 });
    let settings = json!({ "thresholds": thresholds, "range": [-50, 1200], "every": 600 });
    let first = put(&siaga, &measured(&[(30, 850.5), (20, 749.9)], settings));
    assert_eq!(first.status(), Status::Ok);
    assert_eq!(put(&siaga, &measured(&[(10, 950.0)], json!({}))).status(), Status::Ok, "they are stored");
    let result = siaga.result("/v1/floodgauges");
    let levels: Vec<_> =
        readings(&result).iter().map(|reading| (reading["f3"].clone(), reading["f4"].clone())).collect();
    assert_eq!(
        levels,
        [(json!(2), json!("SIAGA II")), (json!(4), json!("SIAGA IV")), (json!(1), json!("SIAGA I"))]
    );
    let shown = &properties(&result)[2];
    assert_eq!(
        (&shown["thresholds"], &shown["range"], &shown["every"]),
        (&thresholds, &json!([-50, 1200]), &json!(600))
    );

    // The worse of both levels counts, and what was sent is kept.
    let mut better = measured(&[(5, 900.0)], json!({}));
    better["observations"][0]["alert"] = json!(4);
    better["observations"][0]["label"] = json!("aman");
    assert_eq!(put(&siaga, &better).status(), Status::Ok);
    let newest = readings(&siaga.result("/v1/floodgauges")).pop().unwrap();
    assert_eq!((&newest["f3"], &newest["reported"]), (&json!(2), &json!({ "alert": 4, "label": "aman" })));

    assert_eq!(put(&siaga, &measured(&[], json!({ "thresholds": null }))).status(), Status::Ok);
    let result = siaga.result("/v1/floodgauges");
    assert_eq!(readings(&result).pop().unwrap()["f3"], 2, "removed thresholds change no reading");
    assert_eq!(properties(&result)[2].get("thresholds"), None);
    let missing = put(&siaga, &measured(&[(1, 1.0)], json!({})));
    assert_invalid(missing, "body", &["observations.0.alert"], "send \"alert\", or \"thresholds\"");
}

#[test]
fn wrong_settings_of_a_gauge_are_400() {
    let siaga = Siaga::start();
    for (key, wrong, expected) in [
        ("thresholds", json!({ "critical": 1, "alert": 2 }), "critical above alert above watch"),
        ("thresholds", json!({}), "one or more of critical, alert and watch"),
        ("thresholds", json!({ "red": 1 }), "one or more of critical, alert and watch"),
        ("range", json!([5, 1]), "two ascending numbers"),
        ("range", json!([5]), "two ascending numbers"),
        ("every", json!(59), "from 60 to 86400"),
        ("every", json!("10m"), "from 60 to 86400"),
    ] {
        let mut body = gauge();
        body[key] = wrong;
        assert_invalid(put(&siaga, &body), "body", &[key], expected);
    }
}

#[test]
fn failed_readings_are_listed_only_on_request_and_are_no_evidence() {
    let siaga = Siaga::start();
    let settings = json!({ "thresholds": { "alert": 800 }, "range": [-50, 1200] });
    let sent = measured(&[(30, 100.0), (20, -888.0), (15, 1_300.0), (10, -999_999.0), (5, 110.0)], settings);
    assert_eq!(put(&siaga, &sent).status(), Status::Ok);
    let of = |query: &str| -> Vec<_> {
        let listed = readings(&siaga.result(&format!("/v1/floodgauges{query}")));
        listed.iter().map(|reading| (reading["f2"].as_f64().unwrap(), reading["quality"].clone())).collect()
    };
    assert_eq!(of(""), [(100.0, json!(1)), (110.0, json!(1))]);
    let all = [(100.0, 1), (-888.0, 9), (1_300.0, 4), (-999_999.0, 9), (110.0, 1)];
    assert_eq!(of("?quality=all"), all.map(|(level, flag)| (level, json!(flag))));
    assert_invalid(siaga.get("/v1/floodgauges?quality=good"), "query", &["quality"], "must be one of");
    let attention =
        siaga.client.get("/v1/floods/attention").header(key(crate::suite::support::KEY)).dispatch();
    assert!(!attention.into_string().unwrap().contains("TMA00003"), "a level that cannot be is no alarm");
}

#[test]
fn a_fast_rise_is_suspect_evidence_at_once_and_a_spike_is_gone() {
    let siaga = Siaga::with_setting("siaga.gauges.spike", 10);
    let settings = json!({ "thresholds": { "alert": 800 } });
    let flags = || -> Vec<_> {
        let listed = readings(&siaga.result("/v1/floodgauges?quality=all"));
        listed
            .iter()
            .map(|reading| (reading["quality"].as_u64().unwrap(), reading["reason"].clone()))
            .collect()
    };
    let suspect = || {
        let request = siaga.client.get("/v1/floods/attention").header(key(crate::suite::support::KEY));
        let list: Value = request.dispatch().into_json().unwrap();
        let reasons =
            list["result"].as_array().unwrap().iter().flat_map(|area| area["reasons"].as_array().unwrap());
        reasons
            .filter(|reason| reason["gaugeid"] == "TMA00003")
            .map(|reason| reason["suspect"].clone())
            .next()
    };
    assert_eq!(put(&siaga, &measured(&[(30, 500.0), (25, 810.0)], settings)).status(), Status::Ok);
    assert_eq!(flags(), [(1, Value::Null), (3, json!("spike"))]);
    assert_eq!(suspect(), Some(json!(true)), "a flood that rises fast is never hidden");
    siaga.pass(Duration::from_secs(3));
    assert_eq!(put(&siaga, &measured(&[(20, 815.0)], json!({}))).status(), Status::Ok);
    assert_eq!(flags(), [(1, Value::Null), (1, Value::Null), (1, Value::Null)], "confirmed");
    assert_eq!(suspect(), Some(Value::Null));
    assert_eq!(put(&siaga, &measured(&[(15, 2_000.0), (10, 820.0)], json!({}))).status(), Status::Ok);
    assert_eq!(flags()[3..], [(4, json!("spike")), (1, Value::Null)], "and back");
}
