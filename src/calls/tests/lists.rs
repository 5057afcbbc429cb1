//! Alerts and areas that need attention: what is new on a list, once.

use super::*;

/// The area, type and state of each alert it got, in the order they came.
fn alerts(bench: &Bench) -> Vec<(String, String, Value)> {
    let all = bench
        .receiver
        .got()
        .into_iter()
        .flat_map(|got| got.body["data"]["alerts"].as_array().unwrap().clone());
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    all.map(|alert| (word(&alert["area_id"]), word(&alert["message_type"]), alert["state"].clone())).collect()
}

/// The areas it got, in the order they came.
fn areas(bench: &Bench) -> Vec<String> {
    let all = bench
        .receiver
        .got()
        .into_iter()
        .flat_map(|got| got.body["data"]["areas"].as_array().unwrap().clone());
    all.map(|area| area["area_id"].as_str().unwrap().to_owned()).collect()
}

#[rocket::async_test]
async fn each_alert_is_told_once_from_its_issue_to_its_cancel() {
    let mut bench = Bench::new(json!({ "alerts": call("alert", json!({ "for": "7d" })) })).await;
    assert_eq!(alerts(&bench), [], "those in force are not new");
    bench.set(10, 0).await;
    bench.server.run(Duration::from_secs(2)).await;
    bench.receiver.forget();

    bench.set(10, 2).await;
    bench.server.run(Duration::from_secs(2)).await;
    assert_eq!(alerts(&bench).len(), 1, "{:?}", alerts(&bench));
    assert_eq!((&*alerts(&bench)[0].0, &alerts(&bench)[0].2), ("10", &json!(2)));
    bench.set(10, 3).await;
    bench.server.run(Duration::from_secs(2)).await;
    bench.set(10, 0).await;
    bench.server.run(Duration::from_secs(2)).await;
    let told = alerts(&bench);
    assert_eq!(
        told[1..],
        [
            ("10".to_owned(), "Update".to_owned(), json!(3)),
            ("10".to_owned(), "Cancel".to_owned(), Value::Null),
        ]
    );

    bench.server.run(30 * HOUR).await;
    let got = bench.receiver.got();
    let identifiers: Vec<_> =
        got.iter().flat_map(|got| got.body["data"]["alerts"].as_array().unwrap()).collect();
    let distinct: BTreeSet<_> =
        identifiers.iter().map(|alert| alert["identifier"].as_str().unwrap()).collect();
    assert_eq!(distinct.len(), identifiers.len(), "renewals of the other areas are told once, too");
    assert_eq!(ids(&got).len(), got.len());
}

#[rocket::async_test]
async fn while_a_receiver_is_away_only_the_newest_alert_of_an_area_waits_and_a_replay_tells_all_in_force() {
    let mut bench = Bench::new(json!({ "alerts": call("alert", json!({})) })).await;
    bench.receiver.answers(|_| status(500));
    for code in [1, 2, 4] {
        bench.set(1, code).await;
        bench.server.run(Duration::from_mins(10)).await;
    }
    bench.receiver.forget();
    bench.receiver.answers(|_| status(200));
    bench.server.run(Duration::from_mins(10)).await;
    let told: Vec<_> = alerts(&bench).into_iter().filter(|(area, ..)| area == "1").collect();
    assert_eq!(told.iter().map(|(.., state)| state).collect::<Vec<_>>(), [&json!(4)]);

    bench.receiver.forget();
    let now = bench.clock.now();
    assert!(replay(&*bench.store, "alerts", EventKind::Alert, HOUR * 24, now).await.unwrap());
    bench.server.run(Duration::from_secs(10)).await;
    assert!(alerts(&bench).iter().any(|(area, _, state)| area == "1" && *state == json!(4)));
}

#[rocket::async_test]
async fn a_minimum_state_and_a_city_select_alerts() {
    let filter = json!({ "where": { "minimum_state": 3, "city": ["jbd"] } });
    let mut bench = Bench::new(json!({ "high": call("alert", filter) })).await;
    for (area, code) in [(1, 4), (2, 2), (5, 4), (30, 4)] {
        bench.set(area, code).await;
    }
    bench.server.run(Duration::from_secs(5)).await;
    let told: BTreeSet<_> = alerts(&bench).into_iter().map(|(area, ..)| area).collect();
    assert_eq!(told, BTreeSet::from(["1".to_owned(), "5".to_owned()]));
}

#[rocket::async_test]
async fn an_area_that_needs_attention_is_told_when_it_comes_onto_the_list() {
    let mut bench = Bench::new(json!({ "staff": call("attention", json!({})) })).await;
    assert_eq!(areas(&bench), [] as [&str; 0], "those on the list are not new");
    for area in [1, 2, 5, 10, 30] {
        bench.set(area, 1).await;
    }
    bench.server.run(Duration::from_secs(2)).await;
    bench.report().await;
    bench.server.run(Duration::from_secs(2)).await;
    bench.report().await;
    bench.server.run(Duration::from_secs(2)).await;
    let told = areas(&bench);
    assert_eq!(told.len(), 1, "{told:?}");
    let got = bench.receiver.got();
    assert_eq!(got[0].body["type"], "attention");
    assert_eq!(got[0].body["data"]["areas"][0]["reasons"][0]["reason"], "reports");

    let area: u64 = told[0].parse().unwrap();
    bench.set(area, 2).await;
    bench.server.run(Duration::from_secs(2)).await;
    assert_eq!(areas(&bench), told, "an area that leaves the list is not told");
    bench.report().await;
    bench.server.run(Duration::from_secs(2)).await;
    assert_eq!(areas(&bench), [told[0].clone(), told[0].clone()], "it is on the list again");
}

#[rocket::async_test]
async fn thousands_of_alerts_come_once_in_calls_of_at_most_20_kb() {
    const AREAS: u64 = 1_000;
    let dataset = super::states::many_areas(AREAS);
    let mut bench = Bench::of(dataset, json!({ "alerts": call("alert", json!({})) })).await;
    super::states::order(&*bench.store, 1..=AREAS, 3).await;
    bench.server.run(Duration::from_secs(30)).await;
    let got = bench.receiver.got();
    assert!(got.iter().all(|got| got.size <= 20_000), "{:?}", got.iter().map(|got| got.size).max());
    let told = alerts(&bench);
    assert_eq!(told.len(), AREAS as usize, "each once");
    assert_eq!(told.iter().map(|(area, ..)| area).collect::<BTreeSet<_>>().len(), AREAS as usize);
}

#[rocket::async_test]
async fn an_alert_that_joins_one_that_is_refused_has_tries_of_its_own() {
    let mut bench = Bench::new(json!({ "alerts": call("alert", json!({})) })).await;
    bench.receiver.answers(|got| {
        let alerts = got.body["data"]["alerts"].as_array().unwrap();
        status(if alerts.iter().any(|alert| alert["area_id"] == "1") { 400 } else { 200 })
    });
    bench.set(1, 4).await;
    bench.server.run(Duration::from_secs(20)).await;
    assert_eq!(bench.receiver.got().len(), 2, "tried twice");
    bench.set(2, 4).await;
    bench.server.run(Duration::from_mins(1)).await;
    let told: Vec<_> = alerts(&bench).into_iter().map(|(area, ..)| area).collect();
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
    bench.server.run(Duration::from_secs(10)).await;
    bench.set(2, 4).await;
    bench.server.run(Duration::from_mins(1)).await;
    bench.set(5, 4).await;
    bench.server.run(Duration::from_secs(3)).await;
    let mut states = bench.receiver.states();
    states.retain(|(area, _)| area != "1");
    assert_eq!(states, [("2".to_owned(), json!(4)), ("5".to_owned(), json!(4))]);
    // A newer state of the area is another event.
    bench.receiver.answers(|_| status(200));
    bench.receiver.forget();
    bench.set(1, 2).await;
    bench.server.run(Duration::from_mins(10)).await;
    assert_eq!(bench.receiver.states(), [("1".to_owned(), json!(2))]);
}
