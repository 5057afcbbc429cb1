//! Reports, and what all calls have in common.

use super::*;

#[rocket::async_test]
async fn a_thousand_reports_of_an_hour_without_the_receiver_come_once_in_order_and_not_too_fast() {
    let mut bench = Bench::new(json!({ "thanks": call("report", json!({})) })).await;
    bench.receiver.answers(|_| Some(Outcome::Failed("connection refused".to_owned())));
    let mut sent = Vec::new();
    for _ in 0..60 {
        sent.extend(bench.reports(17).await);
        bench.run(60).await;
    }
    assert!(bench.receiver.got().len() <= 20, "it is not called all the time");
    let behind = |bench: &Bench| bench.server.sender.shared.statuses.get()[0].behind(bench.clock.now());
    assert!(behind(&bench) >= Duration::from_mins(58), "{:?}", behind(&bench));
    bench.receiver.is_back();
    let back = bench.clock.now();
    bench.run(600).await;
    let got = bench.receiver.got();
    assert_eq!((sent.len(), bench.receiver.keys()), (1_020, sent));
    assert_eq!(ids(&got).len(), got.len(), "each has an identifier of its own");
    for ten in got.windows(11) {
        assert!(ten[10].at.since(ten[0].at) >= Duration::from_secs(1), "more than ten a second");
    }
    let took = got.last().unwrap().at.since(back);
    assert!(took <= Duration::from_mins(10), "{took:?}");
    assert_eq!(behind(&bench), Duration::ZERO);
}

#[rocket::async_test]
async fn a_report_that_is_refused_delays_the_next_by_less_than_a_minute() {
    let mut bench = Bench::new(json!({ "thanks": call("report", json!({})) })).await;
    let keys = bench.reports(3).await;
    let refused = keys[1].to_string();
    bench.receiver.answers(move |got| status(if got.body["data"]["pkey"] == refused { 400 } else { 200 }));
    let begun = bench.clock.now();
    bench.run(60).await;
    assert_eq!(bench.receiver.keys(), [keys[0], keys[1], keys[1], keys[1], keys[2]]);
    let got = bench.receiver.got();
    assert_eq!(got[1].id, got[3].id, "a repeated request has the same identifier");
    assert!(got[4].at.since(begun) < Duration::from_mins(1));
    let text = bench.server.metrics.text().unwrap();
    for (outcome, count) in [("sent", 2), ("failed", 2), ("skipped", 1), ("dropped", 0)] {
        let line = format!("siaga_outgoing_calls_total{{call=\"thanks\",outcome=\"{outcome}\"}} {count}\n");
        assert!(text.contains(&line), "{line}");
    }
}

#[rocket::async_test]
async fn what_was_there_before_is_not_told_and_nothing_that_is_hidden_or_of_a_training() {
    let mut bench = Bench::new(json!({ "thanks": call("report", json!({})) })).await;
    bench.receiver.answers(|_| status(503));
    let keys = bench.reports(3).await;
    bench.run(2).await;
    assert_eq!(bench.receiver.keys(), [keys[0]]);
    for key in [keys[0], keys[2]] {
        let (action, reason) = (ModerationAction::Hide, "a test".to_owned());
        let report = key.try_into().unwrap();
        let order = Moderation { report, made_at: None, action, by: officer(), reason };
        assert!(bench.store.moderate(&order).await.unwrap());
    }
    bench.receiver.is_back();
    bench.run(60).await;
    assert_eq!(bench.receiver.keys(), [keys[1]], "it is looked at again before each try");
}

#[rocket::async_test]
async fn only_a_personal_call_has_what_reaches_the_sender() {
    let mut bench = Bench::new(json!({
        "news": call("report", json!({})),
        "thanks": call("report", json!({ "personal": true, "url": "https://bot.example/{{ network }}/send" })),
    }))
    .await;
    bench.report().await;
    bench.run(1).await;
    let got: BTreeMap<_, _> = bench.receiver.got().into_iter().map(|got| (got.url.clone(), got)).collect();
    let thanks = &got["https://bot.example/telegram/send"].body["data"];
    assert_eq!((&thanks["username"], &thanks["language"]), (&json!("100200300"), &json!("id")));
    let news = got["https://receiver.example/"].body.to_string();
    assert!(!news.contains("100200300") && !news.contains("telegram"), "{news}");
}

#[rocket::async_test]
async fn a_filter_leaves_out_other_sources_and_cities() {
    let mut bench = Bench::new(json!({
        "here": call("report", json!({ "where": { "source": ["grasp"], "city": ["jbd"] } })),
        "there": call("report", json!({ "where": { "city": ["bdg"] } })),
        "qlue": call("report", json!({ "where": { "source": ["qlue"] } })),
    }))
    .await;
    let keys = bench.reports(120).await;
    bench.run(30).await;
    assert_eq!(bench.receiver.keys(), keys);
    let checkpoints = checkpoints(&*bench.store).await.unwrap();
    let next = ["here", "qlue", "there"].map(|call| checkpoints[call].next_report().unwrap().number());
    assert_eq!(next, [keys[119] + 1; 3]);
}

#[rocket::async_test]
async fn a_slow_receiver_delays_itself_alone() {
    let calls = json!({
        "fast": call("report", json!({ "url": "https://fast.example/" })),
        "slow": call("report", json!({ "url": "https://slow.example/" })),
    });
    let mut bench = Bench::new(calls).await;
    bench.receiver.answers(|got| status(200).filter(|_| got.url.contains("fast")));
    let begun = bench.clock.now();
    bench.reports(5).await;
    let [fast, slow] = &mut bench.server.workers[..] else { panic!("two calls") };
    let mut waiting = Box::pin(slow.step());
    assert!((&mut waiting).now_or_never().is_none(), "it waits for its receiver");
    for _ in 0..5 {
        let due = fast.step().await.unwrap();
        bench.clock.set(due);
    }
    let fast: Vec<_> = bench.receiver.got().into_iter().filter(|got| got.url.contains("fast")).collect();
    let times: Vec<_> = fast.iter().map(|got| got.at.since(begun).as_millis()).collect();
    assert_eq!(times, [0, 100, 200, 300, 400]);
}

#[rocket::async_test]
async fn a_template_that_fails_for_an_event_skips_that_event_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body.json");
    std::fs::write(&file, "{\"id\": {{ pkey }}, \"text\": {{ 1 / (7 - text|length) }}}").unwrap();
    let mut bench = Bench::new(json!({ "bot": call("report", json!({ "body": file })) })).await;
    for text in ["water", "seven__", "rising"] {
        bench.report_text(text).await;
    }
    bench.run(2).await;
    assert_eq!(bench.receiver.got().len(), 2);
    let text = bench.server.metrics.text().unwrap();
    assert!(text.contains("siaga_outgoing_calls_total{call=\"bot\",outcome=\"skipped\"} 1\n"), "{text}");
}

#[rocket::async_test]
async fn a_report_that_the_receiver_does_not_take_does_not_hold_the_others_and_is_tried_beside_them() {
    let calls = json!({ "thanks": call("report", json!({})) });
    let mut bench = Bench::new(calls.clone()).await;
    let keys = bench.reports(6).await;
    let poisoned = [keys[1].to_string(), keys[3].to_string()];
    bench.receiver.answers(move |got| {
        let is_poisoned = poisoned.iter().any(|key| got.body["data"]["pkey"] == **key);
        status(if is_poisoned { 500 } else { 200 })
    });
    bench.run(60).await;
    let taken = |bench: &Bench| {
        let mut taken = bench.receiver.keys();
        taken.retain(|key| ![keys[1], keys[3]].contains(key));
        taken
    };
    assert_eq!(taken(&bench), [keys[0], keys[2], keys[4], keys[5]], "in order, and within a minute");
    let late = bench.report().await;
    bench.run(1).await;
    assert_eq!(taken(&bench).last(), Some(&late), "later ones come at once");

    // They are not forgotten by a restart, and are told once the receiver takes them.
    bench.server = bench.another(&calls);
    bench.receiver.forget();
    bench.run(600).await;
    let tried: BTreeSet<_> = bench.receiver.keys().into_iter().collect();
    assert_eq!(tried, BTreeSet::from([keys[1], keys[3]]));
    assert!(bench.receiver.got().len() < 20, "not all the time");
    bench.receiver.is_back();
    bench.run(600).await;
    assert_eq!(bench.receiver.keys().len(), 2, "each once: {:?}", bench.receiver.keys());
}

#[rocket::async_test]
async fn a_new_call_begins_before_its_server_sends() {
    let bench = Bench::new(json!({})).await;
    bench.server.sender.shared.lease.release().await.unwrap();
    let calls = json!({ "thanks": call("report", json!({})), "states": call("state", json!({})) });
    let mut server = bench.another(&calls);
    for worker in &mut server.workers {
        assert!(worker.begin(None).await.unwrap());
    }
    let first = bench.report().await;
    bench.set(1, 2).await;
    server.run(Duration::from_secs(3)).await;
    let got = bench.receiver.got();
    assert_eq!(got.len(), 2, "{got:?}");
    assert_eq!(bench.receiver.keys(), [first]);
}
