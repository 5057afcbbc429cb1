//! Reports, and behaviour that all webhooks share.

use super::*;

#[rocket::async_test]
async fn a_thousand_reports_of_an_outage_are_sent_once_in_order_and_not_too_fast() {
    let mut bench = Bench::new(json!({ "thanks": webhook("report", json!({})) })).await;
    bench.receiver.respond_with(|_| Some(Outcome::Failed("connection refused".to_owned())));
    let mut sent = Vec::new();
    for _ in 0..60 {
        sent.extend(bench.reports(17).await);
        bench.run(60).await;
    }
    assert!(bench.receiver.requests().len() <= 20, "it is not tried all the time");
    let behind = |bench: &Bench| bench.server.dispatcher.shared.statuses.get()[0].behind(bench.clock.now());
    assert!(behind(&bench) >= Duration::from_mins(58), "{:?}", behind(&bench));
    bench.receiver.recover();
    let back = bench.clock.now();
    bench.run(600).await;
    let got = bench.receiver.requests();
    assert_eq!((sent.len(), bench.receiver.keys()), (1_020, sent));
    assert_eq!(ids(&got).len(), got.len(), "each has an identifier of its own");
    for ten in got.windows(11) {
        assert!(
            ten[10].at.saturating_duration_since(ten[0].at) >= Duration::from_secs(1),
            "more than ten a second"
        );
    }
    let took = got.last().unwrap().at.saturating_duration_since(back);
    assert!(took <= Duration::from_mins(10), "{took:?}");
    assert_eq!(behind(&bench), Duration::ZERO);
}

#[rocket::async_test]
async fn a_rejected_report_delays_the_next_by_less_than_a_minute() {
    let mut bench = Bench::new(json!({ "thanks": webhook("report", json!({})) })).await;
    let keys = bench.reports(3).await;
    let refused = keys[1].to_string();
    bench
        .receiver
        .respond_with(move |got| status(if got.body["data"]["pkey"] == refused { 400 } else { 200 }));
    let begun = bench.clock.now();
    bench.run(60).await;
    assert_eq!(bench.receiver.keys(), [keys[0], keys[1], keys[1], keys[1], keys[2]]);
    let got = bench.receiver.requests();
    assert_eq!(got[1].id, got[3].id, "a repeated request has the same identifier");
    assert!(got[4].at.saturating_duration_since(begun) < Duration::from_mins(1));
    let text = bench.server.metrics.text().unwrap();
    for (outcome, count) in [("sent", 2), ("failed", 2), ("skipped", 1), ("dropped", 0)] {
        let line =
            format!("siaga_webhook_requests_total{{webhook=\"thanks\",outcome=\"{outcome}\"}} {count}\n");
        assert!(text.contains(&line), "{line}");
    }
}

#[rocket::async_test]
async fn earlier_hidden_and_training_reports_are_not_sent() {
    let mut bench = Bench::new(json!({ "thanks": webhook("report", json!({})) })).await;
    bench.receiver.respond_with(|_| status(503));
    let keys = bench.reports(3).await;
    bench.run(2).await;
    assert_eq!(bench.receiver.keys(), [keys[0]]);
    for key in [keys[0], keys[2]] {
        let (action, reason) = (ModerationAction::Hide, "a test".to_owned());
        let report = key.try_into().unwrap();
        let order =
            Moderation { report, made_at: None, action, by: officer(), limit: AreaLimit::Everywhere, reason };
        assert!(bench.store.moderate(&order).await.unwrap());
    }
    bench.receiver.recover();
    bench.run(60).await;
    assert_eq!(bench.receiver.keys(), [keys[1]], "it is checked again before each try");
}

#[rocket::async_test]
async fn only_a_personal_webhook_includes_how_to_reach_the_sender() {
    let mut bench = Bench::new(json!({
        "news": webhook("report", json!({})),
        "thanks": webhook("report", json!({ "personal": true, "url": "https://bot.example/{{ network }}/send" })),
    }))
    .await;
    bench.report().await;
    bench.run(1).await;
    let got: BTreeMap<_, _> =
        bench.receiver.requests().into_iter().map(|got| (got.url.clone(), got)).collect();
    let thanks = &got["https://bot.example/telegram/send"].body["data"];
    assert_eq!((&thanks["username"], &thanks["language"]), (&json!("100200300"), &json!("id")));
    let news = got["https://receiver.example/"].body.to_string();
    assert!(!news.contains("100200300") && !news.contains("telegram"), "{news}");
}

#[rocket::async_test]
async fn a_filter_excludes_other_sources_and_cities() {
    let mut bench = Bench::new(json!({
        "here": webhook("report", json!({ "filter": { "source": ["grasp"], "city": ["jbd"] } })),
        "there": webhook("report", json!({ "filter": { "city": ["bdg"] } })),
        "qlue": webhook("report", json!({ "filter": { "source": ["qlue"] } })),
    }))
    .await;
    let keys = bench.reports(120).await;
    bench.run(30).await;
    assert_eq!(bench.receiver.keys(), keys);
    let checkpoints = checkpoints(&*bench.store).await.unwrap();
    let next = ["here", "qlue", "there"].map(|webhook| checkpoints[webhook].next_report().unwrap().number());
    assert_eq!(next, [keys[119] + 1; 3]);
}

#[rocket::async_test]
async fn a_slow_receiver_delays_no_other_webhook() {
    let webhooks = json!({
        "fast": webhook("report", json!({ "url": "https://fast.example/" })),
        "slow": webhook("report", json!({ "url": "https://slow.example/" })),
    });
    let mut bench = Bench::new(webhooks).await;
    bench.receiver.respond_with(|got| status(200).filter(|_| got.url.contains("fast")));
    let begun = bench.clock.now();
    bench.reports(5).await;
    let [fast, slow] = &mut bench.server.workers[..] else { panic!("two webhooks") };
    let mut waiting = Box::pin(slow.step());
    assert!((&mut waiting).now_or_never().is_none(), "it waits for its receiver");
    for _ in 0..5 {
        let due = fast.step().await.unwrap();
        bench.clock.set(time_at(&bench.clock, due));
    }
    let fast: Vec<_> = bench.receiver.requests().into_iter().filter(|got| got.url.contains("fast")).collect();
    let times: Vec<_> = fast.iter().map(|got| got.at.saturating_duration_since(begun).as_millis()).collect();
    assert_eq!(times, [0, 100, 200, 300, 400]);
}

#[rocket::async_test]
async fn a_template_that_fails_for_one_event_skips_only_that_event() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body.json");
    std::fs::write(&file, "{\"id\": {{ pkey }}, \"text\": {{ 1 / (7 - text|length) }}}").unwrap();
    let mut bench = Bench::new(json!({ "bot": webhook("report", json!({ "body": file })) })).await;
    for text in ["water", "seven__", "rising"] {
        bench.report_text(text).await;
    }
    bench.run(2).await;
    assert_eq!(bench.receiver.requests().len(), 2);
    let text = bench.server.metrics.text().unwrap();
    assert!(text.contains("siaga_webhook_requests_total{webhook=\"bot\",outcome=\"skipped\"} 1\n"), "{text}");
}

#[rocket::async_test]
async fn a_report_that_the_receiver_does_not_accept_is_retried_without_blocking_others() {
    let webhooks = json!({ "thanks": webhook("report", json!({})) });
    let mut bench = Bench::new(webhooks.clone()).await;
    let keys = bench.reports(6).await;
    let poisoned = [keys[1].to_string(), keys[3].to_string()];
    bench.receiver.respond_with(move |got| {
        let is_poisoned = poisoned.iter().any(|key| got.body["data"]["pkey"] == **key);
        status(if is_poisoned { 500 } else { 200 })
    });
    bench.run(60).await;
    let accepted = |bench: &Bench| {
        let mut accepted = bench.receiver.keys();
        accepted.retain(|key| ![keys[1], keys[3]].contains(key));
        accepted
    };
    assert_eq!(accepted(&bench), [keys[0], keys[2], keys[4], keys[5]], "in order, and within a minute");
    let late = bench.report().await;
    bench.run(1).await;
    assert_eq!(accepted(&bench).last(), Some(&late), "later ones come at once");

    bench.server = bench.new_server(&webhooks);
    bench.receiver.clear();
    bench.run(600).await;
    let tried: BTreeSet<_> = bench.receiver.keys().into_iter().collect();
    assert_eq!(tried, BTreeSet::from([keys[1], keys[3]]));
    assert!(bench.receiver.requests().len() < 20, "not all the time");
    bench.receiver.recover();
    bench.run(600).await;
    assert_eq!(bench.receiver.keys().len(), 2, "each once: {:?}", bench.receiver.keys());
}

#[rocket::async_test]
async fn a_new_webhook_starts_before_its_server_holds_the_lease() {
    let bench = Bench::new(json!({})).await;
    bench.server.dispatcher.shared.lease.release().await.unwrap();
    let webhooks = json!({ "thanks": webhook("report", json!({})), "states": webhook("state", json!({})) });
    let mut server = bench.new_server(&webhooks);
    for worker in &mut server.workers {
        assert!(worker.load_checkpoint(None).await.unwrap());
    }
    let first = bench.report().await;
    bench.set(1, 2).await;
    server.run(Duration::from_secs(3)).await;
    let got = bench.receiver.requests();
    assert_eq!(got.len(), 2, "{got:?}");
    assert_eq!(bench.receiver.keys(), [first]);
}
