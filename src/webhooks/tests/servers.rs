//! Servers that end, are killed, or share a store; receivers that are gone; and commands.

use super::*;

fn reports_and_states() -> Value {
    json!({ "thanks": call("report", json!({})), "states": call("state", json!({})) })
}

#[rocket::async_test]
async fn of_two_servers_one_sends_and_the_other_goes_on_when_it_ends_or_is_killed() {
    let calls = reports_and_states();
    let mut bench = Bench::new(calls.clone()).await;
    let mut second = bench.another(&calls);
    let mut sent = Vec::new();
    for area in [1, 2, 5] {
        sent.extend(bench.reports(5).await);
        bench.set(area, 2).await;
        run(&mut [&mut bench.server, &mut second], Duration::from_secs(20)).await;
    }
    let got = bench.receiver.got();
    assert_eq!(ids(&got).len(), got.len(), "nothing twice");
    // The first is gone without a word.
    sent.extend(bench.reports(5).await);
    bench.set(10, 2).await;
    second.run(Duration::from_mins(1)).await;
    let got = bench.receiver.got();
    assert_eq!((got.len(), ids(&got).len()), (24, 24));
    // The second gives its lease back.
    second.sender.shared.lease.release().await.unwrap();
    let mut third = bench.another(&calls);
    sent.extend(bench.reports(5).await);
    third.run(Duration::from_secs(2)).await;
    assert_eq!(bench.receiver.keys(), sent);
}

#[rocket::async_test]
async fn the_only_server_of_a_store_goes_on_at_once_after_it_was_killed() {
    let calls = json!({ "thanks": call("report", json!({})) });
    let bench = Bench::new(json!({})).await;
    bench.server.sender.shared.lease.release().await.unwrap();
    let server = || Server::new(&calls, &bench.store, &bench.clock, &bench.receiver, true);
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
async fn a_server_that_is_killed_while_it_sends_loses_nothing_and_repeats_by_the_same_identifier() {
    let calls = reports_and_states();
    let mut bench = Bench::new(calls.clone()).await;
    let mut sent = Vec::new();
    for kill in 0..20 {
        sent.extend(bench.reports(3).await);
        bench.set([1, 2, 5, 10, 30][kill % 5], 1 + (kill as u64 / 5) % 4).await;
        // The receiver has got the request, and its response never comes.
        let left = Mutex::new(kill % 4);
        bench.receiver.answers(move |_| {
            let mut left = left.lock().unwrap();
            *left = left.checked_sub(1)?;
            status(200)
        });
        assert!(bench.run(120).now_or_never().is_none(), "it waits for a response");
        bench.receiver.answers(|_| status(200));
        bench.server = bench.another(&calls);
    }
    bench.run(120).await;
    let got = bench.receiver.got();
    let reports = got.iter().filter(|got| got.body["type"] == "report");
    let pairs: BTreeSet<_> = reports.map(|got| (got.key(), &got.id)).collect();
    let keys: Vec<_> = pairs.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys, sent, "a repeated report has the identifier it had");
    assert_eq!(pairs.iter().map(|(_, id)| id).collect::<BTreeSet<_>>().len(), sent.len(), "of its own");
    assert!(got.len() > ids(&got).len(), "something was repeated");
}

#[rocket::async_test]
async fn a_receiver_that_is_gone_switches_its_call_off_for_good() {
    let calls = json!({ "thanks": call("report", json!({})) });
    let mut bench = Bench::new(calls.clone()).await;
    bench.receiver.answers(|_| status(410));
    bench.reports(2).await;
    bench.run(3_600).await;
    assert_eq!(bench.receiver.got().len(), 1);
    bench.receiver.answers(|_| status(200));
    bench.server = bench.another(&calls);
    bench.run(3_600).await;
    assert_eq!(bench.receiver.got().len(), 1, "also after a restart");
    assert_eq!(bench.server.sender.shared.statuses.long_behind(bench.clock.now()).len(), 1);
}

#[rocket::async_test]
async fn an_event_is_dropped_after_the_time_of_its_call() {
    let calls = json!({ "thanks": call("report", json!({ "for": "2h" })), "s": call("state", json!({ "for": "2h" })) });
    let mut bench = Bench::new(calls).await;
    bench.receiver.answers(|_| status(503));
    bench.reports(2).await;
    bench.set(1, 2).await;
    bench.server.run(2 * HOUR + Duration::from_mins(10)).await;
    bench.receiver.is_back();
    let late = bench.report().await;
    bench.set(2, 3).await;
    bench.run(60).await;
    let got = bench.receiver.got();
    assert_eq!(got.len(), 2, "{got:?}");
    assert_eq!(bench.receiver.keys(), [late]);
    let text = bench.server.metrics.text().unwrap();
    assert!(text.contains("siaga_outgoing_calls_total{call=\"thanks\",outcome=\"dropped\"} 2\n"), "{text}");
}

#[rocket::async_test]
async fn commands_resume_and_repeat_calls_beside_a_running_server() {
    let calls = reports_and_states();
    let mut bench = Bench::new(calls).await;
    bench.reports(3).await;
    bench.set(1, 2).await;
    bench.run(5).await;
    let before = bench.receiver.got();
    assert_eq!(before.len(), 4);
    for (name, kind) in [("thanks", EventKind::Report), ("states", EventKind::State)] {
        assert!(replay(&*bench.store, name, kind, Duration::from_mins(1), bench.clock.now()).await.unwrap());
    }
    bench.run(10).await;
    let all = bench.receiver.got();
    assert_eq!((all.len(), ids(&all)), (8, ids(&before)), "the same events again");

    bench.receiver.answers(|_| status(410));
    let late = bench.report().await;
    bench.run(5).await;
    assert!(checkpoints(&*bench.store).await.unwrap()["thanks"].off);
    bench.receiver.is_back();
    change(&*bench.store, "thanks", |checkpoint| checkpoint.off = false).await.unwrap();
    bench.run(10).await;
    assert_eq!(bench.receiver.keys(), [late]);
}

#[rocket::async_test]
async fn an_import_is_not_told() {
    let calls = reports_and_states();
    let mut bench = Bench::new(calls).await;
    // What an import has added is there at once.
    bench.reports(3).await;
    bench.set(1, 2).await;
    bench.clock.set(bench.clock.now().after(Duration::from_millis(1)));
    pass_import(&*bench.store, &[EventKind::Report, EventKind::State], bench.clock.now()).await.unwrap();
    bench.run(10).await;
    assert!(bench.receiver.got().len() <= 1, "{:?}", bench.receiver.got());
    bench.receiver.forget();
    let next = bench.report().await;
    bench.run(10).await;
    assert_eq!(bench.receiver.keys(), [next]);
}

#[rocket::async_test]
async fn an_alert_that_is_in_force_because_of_an_import_is_told() {
    let mut bench = Bench::new(json!({ "alerts": call("alert", json!({})) })).await;
    bench.set(1, 4).await;
    bench.clock.set(bench.clock.now().after(Duration::from_millis(1)));
    pass_import(&*bench.store, &[EventKind::Report, EventKind::State], bench.clock.now()).await.unwrap();
    bench.run(10).await;
    assert_eq!(bench.receiver.states("alerts"), [("1".to_owned(), json!(4))]);
}

#[rocket::async_test]
async fn a_source_that_falls_silent_is_told_once_and_again_when_it_is_back() {
    let calls = json!({ "staff": call("source", json!({ "where": { "source": ["desk"] } })) });
    let mut bench = Bench::new(calls).await;
    let told = |bench: &Bench| {
        let all = bench.receiver.got().into_iter().map(|got| got.body["data"].clone());
        all.map(|data| json!([data["name"], data["status"]])).collect::<Vec<_>>()
    };
    bench.run(60).await;
    let (silent, back) = (json!(["desk", "silent"]), json!(["desk", "ok"]));
    assert_eq!(told(&bench), std::slice::from_ref(&silent), "it was never heard");
    bench.server.sources.hear_subject("bpbd");
    bench.server.sources.hear_subject("gauges");
    bench.run(1200).await;
    assert_eq!(told(&bench), [silent.clone(), back.clone()]);
    bench.run(3_600).await;
    assert_eq!(told(&bench), [silent.clone(), back.clone(), silent], "the other source is left out");
    assert_eq!(ids(&bench.receiver.got()).len(), 3);

    bench.receiver.answers(|_| status(500));
    bench.server.sources.hear_subject("bpbd");
    bench.run(60).await;
    bench.receiver.is_back();
    bench.run(600).await;
    assert_eq!(told(&bench), [back], "it is tried until the receiver takes it");
}
