//! Several servers, disabled webhooks, and commands.

use super::*;

use crate::model::bodies::{GaugeReadings, SettingsUpdate};
use crate::model::{Mute, Observation};

fn reports_and_states() -> Value {
    json!({ "thanks": webhook("report", json!({})), "states": webhook("state", json!({})) })
}

#[rocket::async_test]
async fn exactly_one_of_two_servers_sends_and_the_other_takes_over() {
    let webhooks = reports_and_states();
    let mut bench = Bench::new(webhooks.clone()).await;
    let mut second = bench.new_server(&webhooks);
    let mut sent = Vec::new();
    for area in [1, 2, 5] {
        sent.extend(bench.reports(5).await);
        bench.set(area, 2).await;
        run(&mut [&mut bench.server, &mut second], Duration::from_secs(20)).await;
    }
    let got = bench.receiver.requests();
    assert_eq!(ids(&got).len(), got.len(), "nothing twice");
    sent.extend(bench.reports(5).await);
    bench.set(10, 2).await;
    second.run(Duration::from_mins(1)).await;
    let got = bench.receiver.requests();
    assert_eq!((got.len(), ids(&got).len()), (24, 24));
    second.dispatcher.shared.lease.release().await.unwrap();
    let mut third = bench.new_server(&webhooks);
    sent.extend(bench.reports(5).await);
    third.run(Duration::from_secs(2)).await;
    assert_eq!(bench.receiver.keys(), sent);
}

#[rocket::async_test]
async fn the_only_server_of_a_store_continues_at_once_after_a_kill() {
    let webhooks = json!({ "thanks": webhook("report", json!({})) });
    let bench = Bench::new(json!({})).await;
    bench.server.dispatcher.shared.lease.release().await.unwrap();
    let server = || Server::new(&webhooks, &bench.store, &bench.clock, &bench.receiver, true);
    let mut killed = server();
    killed.run(Duration::from_secs(1)).await;
    let first = bench.report().await;
    killed.run(Duration::from_secs(1)).await;
    drop(killed);
    let second = bench.report().await;
    server().run(Duration::from_secs(1)).await;
    assert_eq!(bench.receiver.keys(), [first, second]);
}

#[rocket::async_test]
async fn status_410_disables_the_webhook_permanently() {
    let webhooks = json!({ "thanks": webhook("report", json!({})) });
    let mut bench = Bench::new(webhooks.clone()).await;
    bench.receiver.respond_with(|_| status(410));
    bench.reports(2).await;
    bench.run(3_600).await;
    assert_eq!(bench.receiver.requests().len(), 1);
    bench.receiver.respond_with(|_| status(200));
    bench.server = bench.new_server(&webhooks);
    bench.run(3_600).await;
    assert_eq!(bench.receiver.requests().len(), 1, "also after a restart");
    assert_eq!(bench.server.dispatcher.shared.statuses.long_behind(bench.clock.now()).len(), 1);
}

#[rocket::async_test]
async fn an_event_is_dropped_after_max_age() {
    let webhooks = json!({ "thanks": webhook("report", json!({ "max_age": "2h" })), "s": webhook("state", json!({ "max_age": "2h" })) });
    let mut bench = Bench::new(webhooks).await;
    bench.receiver.respond_with(|_| status(503));
    bench.reports(2).await;
    bench.set(1, 2).await;
    bench.server.run(2 * HOUR + Duration::from_mins(10)).await;
    bench.receiver.recover();
    let late = bench.report().await;
    bench.set(2, 3).await;
    bench.run(60).await;
    let got = bench.receiver.requests();
    assert_eq!(got.len(), 2, "{got:?}");
    assert_eq!(bench.receiver.keys(), [late]);
    let text = bench.server.metrics.text().unwrap();
    assert!(
        text.contains("siaga_webhook_requests_total{webhook=\"thanks\",outcome=\"dropped\"} 2\n"),
        "{text}"
    );
}

#[rocket::async_test]
async fn commands_resume_and_replay_webhooks_while_a_server_runs() {
    let webhooks = reports_and_states();
    let mut bench = Bench::new(webhooks).await;
    bench.reports(3).await;
    bench.set(1, 2).await;
    bench.run(5).await;
    let before = bench.receiver.requests();
    assert_eq!(before.len(), 4);
    for (name, kind) in [("thanks", EventKind::Report), ("states", EventKind::State)] {
        assert!(replay(&*bench.store, name, kind, Duration::from_mins(1), bench.clock.now()).await.unwrap());
    }
    bench.run(10).await;
    let all = bench.receiver.requests();
    assert_eq!((all.len(), ids(&all)), (8, ids(&before)), "the same events again");

    bench.receiver.respond_with(|_| status(410));
    let late = bench.report().await;
    bench.run(5).await;
    assert!(checkpoints(&*bench.store).await.unwrap()["thanks"].off);
    bench.receiver.recover();
    update_checkpoint(&*bench.store, "thanks", |checkpoint| checkpoint.off = false).await.unwrap();
    bench.run(10).await;
    assert_eq!(bench.receiver.keys(), [late]);
}

#[rocket::async_test]
async fn imported_reports_and_states_are_not_sent() {
    let webhooks = reports_and_states();
    let mut bench = Bench::new(webhooks).await;
    // Simulates an import, which adds all reports and changes at once.
    bench.reports(3).await;
    bench.set(1, 2).await;
    bench.clock.set(bench.clock.now().saturating_add(Duration::from_millis(1)));
    skip_imported(&*bench.store, &[EventKind::Report, EventKind::State], bench.clock.now()).await.unwrap();
    bench.run(10).await;
    assert!(bench.receiver.requests().len() <= 1, "{:?}", bench.receiver.requests());
    bench.receiver.clear();
    let next = bench.report().await;
    bench.run(10).await;
    assert_eq!(bench.receiver.keys(), [next]);
}

#[rocket::async_test]
async fn an_alert_active_because_of_an_import_is_sent() {
    let mut bench = Bench::new(json!({ "alerts": webhook("alert", json!({})) })).await;
    bench.set(1, 4).await;
    bench.clock.set(bench.clock.now().saturating_add(Duration::from_millis(1)));
    skip_imported(&*bench.store, &[EventKind::Report, EventKind::State], bench.clock.now()).await.unwrap();
    bench.run(10).await;
    assert_eq!(bench.receiver.states("alerts"), [("1".to_owned(), json!(4))]);
}

#[rocket::async_test]
async fn a_silent_source_is_sent_once_and_again_when_it_reports() {
    let webhooks = json!({ "staff": webhook("source", json!({ "filter": { "source": ["desk"] } })) });
    let mut bench = Bench::new(webhooks).await;
    let sent = |bench: &Bench| {
        let all = bench.receiver.requests().into_iter().map(|got| got.body["data"].clone());
        all.map(|data| json!([data["name"], data["status"]])).collect::<Vec<_>>()
    };
    bench.run(60).await;
    let (silent, back) = (json!(["desk", "silent"]), json!(["desk", "ok"]));
    assert_eq!(sent(&bench), std::slice::from_ref(&silent), "it was never heard");
    bench.server.sources.record_subject("bpbd");
    bench.server.sources.record_subject("gauges");
    bench.run(1200).await;
    assert_eq!(sent(&bench), [silent.clone(), back.clone()]);
    bench.run(3_600).await;
    assert_eq!(sent(&bench), [silent.clone(), back.clone(), silent], "the other source is left out");
    assert_eq!(ids(&bench.receiver.requests()).len(), 3);

    bench.receiver.respond_with(|_| status(500));
    bench.server.sources.record_subject("bpbd");
    bench.run(60).await;
    bench.receiver.recover();
    bench.run(600).await;
    assert_eq!(sent(&bench), [back], "it is tried until the receiver takes it");
}

#[rocket::async_test]
async fn silent_gauges_are_sent_together_once_and_again_when_they_are_heard_or_muted() {
    let mut bench = Bench::new(json!({ "staff": webhook("gauge", json!({})) })).await;
    let sent = |bench: &Bench| -> Vec<_> {
        let all = bench.receiver.entries("gauges").into_iter();
        all.map(|gauge| json!([gauge["gaugeid"], gauge["status"]])).collect()
    };
    let read = async |bench: &Bench, id: &str| {
        let reading = Observation { observed_at: bench.clock.now(), ..fixture::reading(0, 7.0) };
        let location = fixture::place(1.0, 1.0);
        let (id, name, settings) = (id.to_owned(), id.to_owned(), SettingsUpdate::default());
        let readings = GaugeReadings { id, name, location, settings, observations: vec![reading.into()] };
        bench.store.store_gauge(readings).await.unwrap();
    };
    bench.run(60).await;
    assert_eq!(sent(&bench), [json!(["TMA00003", "silent"])], "its reading is five hours old");
    read(&bench, "TMA00003").await;
    bench.run(60).await;
    assert_eq!(sent(&bench)[1..], [json!(["TMA00003", "ok"])]);
    bench.receiver.clear();
    bench.run(7_200).await;
    let silent = ["TMA00001", "TMA00002", "TMA00003"].map(|id| json!([id, "silent"]));
    assert_eq!(sent(&bench).len(), 3);
    assert!(silent.iter().all(|gauge| sent(&bench).contains(gauge)), "{:?}", sent(&bench));
    bench.receiver.clear();

    let until = Some(bench.clock.now().saturating_add(HOUR));
    let mute = Mute { at: bench.clock.now(), until, reason: "under repair".into(), by: officer() };
    bench.store.mute_gauge("TMA00002", mute).await.unwrap();
    bench.run(1_800).await;
    assert_eq!(sent(&bench), [json!(["TMA00002", "muted"])]);
    bench.run(1_860).await;
    assert_eq!(sent(&bench)[1..], [json!(["TMA00002", "silent"])], "it is silent still");
    assert_eq!(ids(&bench.receiver.requests()).len(), 2);
}
