//! Alerts and areas that need attention: what is new on a list, once.

use super::*;

#[rocket::async_test]
async fn each_alert_is_told_once_from_its_issue_to_its_cancel() {
    let mut bench = Bench::new(json!({ "alerts": call("alert", json!({ "for": "7d" })) })).await;
    assert_eq!(bench.receiver.got().len(), 0, "those in force are not new");
    bench.set(10, 0).await;
    bench.run(2).await;
    bench.receiver.forget();
    for code in [2, 3, 0] {
        bench.set(10, code).await;
        bench.run(2).await;
    }
    let told = bench.receiver.entries("alerts");
    let told = told.iter().map(|alert| ["area_id", "state", "message_type"].map(|name| &alert[name]));
    let expected = json!([["10", 2, "Alert"], ["10", 3, "Update"], ["10", null, "Cancel"]]);
    assert_eq!(json!(told.collect::<Vec<_>>()), expected);
    bench.server.run(30 * HOUR).await;
    let all = bench.receiver.entries("alerts");
    let distinct: BTreeSet<_> = all.iter().map(|alert| alert["identifier"].as_str().unwrap()).collect();
    assert_eq!(distinct.len(), all.len(), "renewals of the other areas are told once, too");
    let got = bench.receiver.got();
    assert_eq!(ids(&got).len(), got.len());
}

#[rocket::async_test]
async fn while_a_receiver_is_away_only_the_newest_alert_of_an_area_waits_and_a_replay_tells_all_in_force() {
    let mut bench = Bench::new(json!({ "alerts": call("alert", json!({})) })).await;
    bench.receiver.answers(|_| status(500));
    for code in [1, 2, 4] {
        bench.set(1, code).await;
        bench.run(600).await;
    }
    bench.receiver.is_back();
    bench.run(600).await;
    let mut told = bench.receiver.states("alerts");
    told.retain(|(area, _)| area == "1");
    assert_eq!(told, [("1".to_owned(), json!(4))]);

    bench.receiver.forget();
    let now = bench.clock.now();
    assert!(replay(&*bench.store, "alerts", EventKind::Alert, HOUR * 24, now).await.unwrap());
    bench.run(10).await;
    assert!(bench.receiver.states("alerts").contains(&told[0]));
}

#[rocket::async_test]
async fn a_minimum_state_and_a_city_select_areas_and_alerts() {
    for (kind, list) in [("state", "areas"), ("alert", "alerts")] {
        let filter = json!({ "where": { "minimum_state": 3, "city": ["jbd"] } });
        let mut bench = Bench::new(json!({ "high": call(kind, filter) })).await;
        for (area, code) in [(1, 3), (2, 2), (5, 4), (30, 4), (10, 0)] {
            bench.set(area, code).await;
        }
        bench.run(5).await;
        let told: BTreeMap<_, _> = bench.receiver.states(list).into_iter().collect();
        assert_eq!(told, [("1".to_owned(), json!(3)), ("5".to_owned(), json!(4))].into(), "{kind}");
    }
}

#[rocket::async_test]
async fn an_area_that_needs_attention_is_told_when_it_comes_onto_the_list() {
    let mut bench = Bench::new(json!({ "staff": call("attention", json!({})) })).await;
    let areas = |bench: &Bench| -> Vec<String> {
        bench.receiver.states("areas").into_iter().map(|(area, _)| area).collect()
    };
    assert_eq!(areas(&bench), [""; 0], "those on the list are not new");
    for area in [1, 2, 5, 10, 30] {
        bench.set(area, 1).await;
    }
    bench.run(2).await;
    bench.report().await;
    bench.run(2).await;
    bench.report().await;
    bench.run(2).await;
    let told = areas(&bench);
    assert_eq!(told.len(), 1, "{told:?}");
    let got = bench.receiver.got();
    assert_eq!(got[0].body["type"], "attention");
    assert_eq!(got[0].body["data"]["areas"][0]["reasons"][0]["reason"], "reports");

    let area: u64 = told[0].parse().unwrap();
    bench.set(area, 2).await;
    bench.run(2).await;
    assert_eq!(areas(&bench), told, "an area that leaves the list is not told");
    bench.report().await;
    bench.run(2).await;
    assert_eq!(areas(&bench), [told[0].clone(), told[0].clone()], "it is on the list again");
}

#[rocket::async_test]
async fn an_alert_that_joins_one_that_is_refused_has_tries_of_its_own() {
    let mut bench = Bench::new(json!({ "alerts": call("alert", json!({})) })).await;
    bench.receiver.answers(|got| {
        let alerts = got.body["data"]["alerts"].as_array().unwrap();
        status(if alerts.iter().any(|alert| alert["area_id"] == "1") { 400 } else { 200 })
    });
    bench.set(1, 4).await;
    bench.run(20).await;
    assert_eq!(bench.receiver.got().len(), 2, "tried twice");
    bench.set(2, 4).await;
    bench.run(60).await;
    let told: Vec<_> = bench.receiver.states("alerts").into_iter().map(|(area, _)| area).collect();
    assert_eq!(told, ["1", "1", "1", "2"]);
}

#[rocket::async_test]
async fn an_area_that_the_receiver_does_not_take_does_not_hold_the_others() {
    let mut bench = Bench::new(json!({ "states": call("state", json!({})) })).await;
    bench.receiver.answers(|got| {
        let areas = got.body["data"]["areas"].as_array().unwrap();
        status(if areas.iter().any(|area| area["area_id"] == "1") { 500 } else { 200 })
    });
    bench.set(1, 4).await;
    bench.run(10).await;
    bench.set(2, 4).await;
    bench.run(60).await;
    bench.set(5, 4).await;
    bench.run(3).await;
    let mut states = bench.receiver.states("areas");
    states.retain(|(area, _)| area != "1");
    assert_eq!(states, [("2".to_owned(), json!(4)), ("5".to_owned(), json!(4))]);
    // A newer state of the area is another event.
    bench.receiver.is_back();
    bench.set(1, 2).await;
    bench.run(600).await;
    assert_eq!(bench.receiver.states("areas"), [("1".to_owned(), json!(2))]);
}
