//! Alerts and areas that need attention.

use super::*;

#[rocket::async_test]
async fn each_alert_is_sent_once_from_its_issue_to_its_cancel() {
    let mut bench = Bench::new(json!({ "alerts": webhook("alert", json!({ "max_age": "7d" })) })).await;
    assert_eq!(bench.receiver.requests().len(), 0, "those in force are not new");
    bench.set(10, 0).await;
    bench.run(2).await;
    bench.receiver.clear();
    for code in [2, 3, 0] {
        bench.set(10, code).await;
        bench.run(2).await;
    }
    let sent = bench.receiver.entries("alerts");
    let sent = sent.iter().map(|alert| ["area_id", "state", "message_type"].map(|name| &alert[name]));
    let expected = json!([["10", 2, "Alert"], ["10", 3, "Update"], ["10", null, "Cancel"]]);
    assert_eq!(json!(sent.collect::<Vec<_>>()), expected);
    bench.server.run(30 * HOUR).await;
    let all = bench.receiver.entries("alerts");
    let distinct: BTreeSet<_> = all.iter().map(|alert| alert["identifier"].as_str().unwrap()).collect();
    assert_eq!(distinct.len(), all.len(), "renewals of the other areas are sent once, too");
    let got = bench.receiver.requests();
    assert_eq!(ids(&got).len(), got.len());
}

#[rocket::async_test]
async fn an_unreachable_receiver_gets_only_the_newest_alert_of_an_area_and_a_replay_sends_all_active_ones() {
    let mut bench = Bench::new(json!({ "alerts": webhook("alert", json!({})) })).await;
    bench.receiver.respond_with(|_| status(500));
    for code in [1, 2, 4] {
        bench.set(1, code).await;
        bench.run(600).await;
    }
    bench.receiver.recover();
    bench.run(600).await;
    let mut sent = bench.receiver.states("alerts");
    sent.retain(|(area, _)| area == "1");
    assert_eq!(sent, [("1".to_owned(), json!(4))]);

    bench.receiver.clear();
    let now = bench.clock.now();
    assert!(replay(&*bench.store, "alerts", EventKind::Alert, HOUR * 24, now).await.unwrap());
    bench.run(10).await;
    assert!(bench.receiver.states("alerts").contains(&sent[0]));
}

#[rocket::async_test]
async fn a_minimum_state_and_a_city_select_areas_and_alerts() {
    for (kind, list) in [("state", "areas"), ("alert", "alerts")] {
        let filter = json!({ "filter": { "minimum_state": 3, "city": ["jbd"] } });
        let mut bench = Bench::new(json!({ "high": webhook(kind, filter) })).await;
        for (area, code) in [(1, 3), (2, 2), (5, 4), (30, 4), (10, 0)] {
            bench.set(area, code).await;
        }
        bench.run(5).await;
        let sent: BTreeMap<_, _> = bench.receiver.states(list).into_iter().collect();
        assert_eq!(sent, [("1".to_owned(), json!(3)), ("5".to_owned(), json!(4))].into(), "{kind}");
    }
}

#[rocket::async_test]
async fn an_area_is_sent_when_it_starts_to_need_attention() {
    let mut bench = Bench::new(json!({ "staff": webhook("attention", json!({})) })).await;
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
    let sent = areas(&bench);
    assert_eq!(sent.len(), 1, "{sent:?}");
    let got = bench.receiver.requests();
    assert_eq!(got[0].body["type"], "attention");
    assert_eq!(got[0].body["data"]["areas"][0]["reasons"][0]["reason"], "reports");

    let area: u64 = sent[0].parse().unwrap();
    bench.set(area, 2).await;
    bench.run(2).await;
    assert_eq!(areas(&bench), sent, "an area that leaves the list is not sent");
    bench.report().await;
    bench.run(2).await;
    assert_eq!(areas(&bench), [sent[0].clone(), sent[0].clone()], "it is on the list again");
}

#[rocket::async_test]
async fn a_new_alert_beside_a_rejected_one_has_its_own_attempts() {
    let mut bench = Bench::new(json!({ "alerts": webhook("alert", json!({})) })).await;
    bench.receiver.respond_with(|got| {
        let alerts = got.body["data"]["alerts"].as_array().unwrap();
        status(if alerts.iter().any(|alert| alert["area_id"] == "1") { 400 } else { 200 })
    });
    bench.set(1, 4).await;
    bench.run(20).await;
    assert_eq!(bench.receiver.requests().len(), 2, "tried twice");
    bench.set(2, 4).await;
    bench.run(60).await;
    let sent: Vec<_> = bench.receiver.states("alerts").into_iter().map(|(area, _)| area).collect();
    assert_eq!(sent, ["1", "1", "1", "2"]);
}

#[rocket::async_test]
async fn an_area_that_the_receiver_does_not_accept_does_not_block_others() {
    let mut bench = Bench::new(json!({ "states": webhook("state", json!({})) })).await;
    bench.receiver.respond_with(|got| {
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
    bench.receiver.recover();
    bench.set(1, 2).await;
    bench.run(600).await;
    assert_eq!(bench.receiver.states("areas"), [("1".to_owned(), json!(2))]);
}
