//! How subscriptions are made, changed and ended, and how messages are repeated.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::stores::{NewPushRecord, PushUpdate};

const UNCOUNTED: fn() -> Result<(), PushError> = || Ok(());

#[rocket::async_test]
async fn a_phone_that_is_gone_ends_and_one_that_fails_is_tried_again() {
    let mut bench = Bench::new().await;
    for phone in [PHONE, OTHER, THIRD] {
        bench.subscribe(phone, &[1]).await;
    }
    bench.respond(|endpoint| match endpoint {
        PHONE => status(410),
        OTHER => Outcome::Response { status: 429, retry_after: Some(Duration::from_secs(90)) },
        _ => Outcome::Failed("timed out".to_owned()),
    });
    bench.set(1, 4).await;
    bench.run(3).await;
    assert_eq!(bench.delivered().len(), 3);
    assert_eq!(bench.count().await, 2, "the one that is gone has ended");
    bench.run(60).await;
    let again = bench.delivered();
    assert!(again.iter().all(|told| told.endpoint == THIRD) && (3..=5).contains(&again.len()), "{again:?}");
    bench.respond(|_| status(201));
    bench.run(60).await;
    let mut told: Vec<_> = bench.delivered().into_iter().map(|told| told.endpoint).collect();
    told.sort();
    assert_eq!(told, [OTHER, THIRD], "each once");
}

#[rocket::async_test]
async fn a_dry_season_ends_no_subscription_and_400_days_without_a_visit_do() {
    const DAY: u64 = 86_400;
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    let later = |bench: &Bench, days| bench.clock.now().saturating_add(Duration::from_secs(days * DAY));
    bench.clock.set(later(&bench, 200));
    bench.run(2).await;
    bench.set(1, 4).await;
    bench.run(2).await;
    assert_eq!(bench.delivered().len(), 1, "after 200 days");
    let body = Bench::body(PHONE, &[1]);
    bench.push.replace(id, &secret, &body, UNCOUNTED).await.unwrap();
    for (days, count) in [(399, 1), (2, 0)] {
        bench.clock.set(later(&bench, days));
        bench.run(2).await;
        assert_eq!(bench.count().await, count, "{days}");
    }
}

#[rocket::async_test]
async fn a_phone_that_fails_for_60_days_ends_at_its_next_failure() {
    let mut bench = Bench::new().await;
    bench.subscribe(PHONE, &[1]).await;
    bench.respond(|_| status(403));
    bench.set(1, 4).await;
    bench.run(200).await;
    assert!(bench.delivered().len() >= 3);
    for (days, state, count) in [(59, Some(3), 1), (30, None, 1), (1, Some(4), 0)] {
        bench.clock.set(bench.clock.now().saturating_add(Duration::from_hours(24 * days)));
        bench.run(2).await;
        assert_eq!(bench.count().await, 1, "a dry season ends none");
        bench.set(1, state).await;
        bench.run(62).await;
        assert_eq!(bench.count().await, count, "{days}");
    }
}

#[rocket::async_test]
async fn after_a_crash_nobody_is_left_out_and_nobody_is_told_again() {
    let mut bench = Bench::new().await;
    for phone in 0..30 {
        bench.subscribe(&format!("https://fcm.googleapis.com/{phone}"), &[1]).await;
    }
    bench.set(1, 4).await;
    // The fan-out ends, but nothing is sent; then it is repeated from the beginning.
    while bench.fan_out.step().await.unwrap().is_zero() {}
    bench.restart();
    bench.run(5).await;
    assert_eq!(bench.delivered().len(), 30);
    bench.restart();
    bench.run(120).await;
    assert!(bench.delivered().is_empty());
}

#[rocket::async_test]
async fn a_secret_changes_and_ends_its_own_subscription_only() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    let (other, others) = bench.subscribe(OTHER, &[1]).await;
    let body = Bench::body(PHONE, &[2]);
    for (id, secret) in [(id, &others), (other, &secret), (id + 99, &secret), (id, &String::new())] {
        let refused = [
            bench.push.remove(id, secret).await,
            bench.push.replace(id, secret, &body, UNCOUNTED).await.map(drop),
            bench.push.send_trial(id, secret).await,
        ];
        assert!(refused.iter().all(|refused| matches!(refused, Err(PushError::NotFound))), "{refused:?}");
    }
    bench.push.send_trial(id, &secret).await.unwrap();
    assert_eq!(bench.delivered()[0].body(), "Trial: the messages of this service arrive.");
    let again = bench.push.send_trial(id, &secret).await;
    assert!(matches!(again, Err(PushError::TooMany(_))), "{again:?}");
    bench.push.replace(id, &secret, &body, UNCOUNTED).await.unwrap();
    bench.run(61).await;
    bench.set(2, 4).await;
    bench.run(61).await;
    assert_eq!(bench.delivered().len(), 1, "of the new area");
    bench.push.remove(id, &secret).await.unwrap();
    assert_eq!(bench.count().await, 1);
}

#[rocket::async_test]
async fn only_what_a_push_service_accepts_is_stored() {
    let bench = Bench::with(json!({ "push": { "enabled": true, "max": 2 } })).await;
    let field = async |body: &PushBody| match bench.push.subscribe(body, || Ok(())).await {
        Err(PushError::Field(field, _)) => field,
        other => panic!("{other:?}"),
    };
    for endpoint in [
        "http://fcm.googleapis.com/a",
        "https://fcm.googleapis.com:444/a",
        "https://you@fcm.googleapis.com/a",
        "https://googleapis.com/a",
        "https://fcm.googleapis.com.evil.example/a",
        "https://evilgoogleapis.com/a",
        "https://127.0.0.1/a",
        "https://[::1]/a",
        "ftp://fcm.googleapis.com/a",
        "fcm.googleapis.com",
        "",
        "https://fcm.googleapis.com/a#b",
        "https://FCM.googleapis.com/a",
    ] {
        assert_eq!(field(&Bench::body(endpoint, &[1])).await, "endpoint", "{endpoint}");
    }
    let right = Bench::body(PHONE, &[1]);
    assert_eq!(field(&PushBody { auth: "AAAA".to_owned(), ..right.clone() }).await, "keys");
    assert_eq!(field(&PushBody { language: "xx".to_owned(), ..right.clone() }).await, "language");
    assert_eq!(field(&Bench::body(PHONE, &[998, 999])).await, "areas");
    assert!(bench.delivered().is_empty(), "nothing was sent");
    bench.respond(|_| status(400));
    assert_eq!(field(&right).await, "endpoint");
    for code in [404, 410] {
        bench.respond(move |_| status(code));
        assert!(matches!(bench.push.subscribe(&right, || Ok(())).await, Err(PushError::Ended)), "{code}");
    }
    for outcome in [status(500), status(429), Outcome::Failed("timed out".to_owned())] {
        bench.respond(move |_| outcome.clone());
        assert!(matches!(
            bench.push.subscribe(&Bench::body(PHONE, &[1]), || Ok(())).await,
            Err(PushError::Busy(..))
        ));
    }
    assert_eq!(bench.count().await, 0);
    bench.respond(|_| status(201));
    for endpoint in [PHONE, PHONE, OTHER] {
        bench.push.subscribe(&Bench::body(endpoint, &[1]), || Ok(())).await.unwrap();
    }
    assert!(matches!(bench.push.subscribe(&Bench::body(THIRD, &[1]), || Ok(())).await, Err(PushError::Full)));
    assert_eq!(bench.count().await, 2, "an endpoint has one subscription");
}

#[rocket::async_test]
async fn a_renewal_keeps_what_is_not_told_yet() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    bench.set(1, 4).await;
    while bench.fan_out.step().await.unwrap().is_zero() {}
    let body = Bench::body(PHONE, &[1]);
    bench.push.replace(id, &secret, &body, UNCOUNTED).await.unwrap();
    bench.run(61).await;
    assert_eq!(bench.delivered().len(), 1);
}

#[rocket::async_test]
async fn a_renewal_while_a_message_is_sent_repeats_nothing_and_keeps_what_it_chooses() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    // Area 5 is flooded, and the page on which the phone chooses it says so.
    let (push, body) = (bench.push.clone(), Bench::body(PHONE, &[1, 5]));
    bench.meanwhile(async move {
        push.replace(id, &secret, &body, UNCOUNTED).await.unwrap();
    });
    bench.set(1, 4).await;
    bench.run(300).await;
    assert_eq!(bench.delivered().len(), 1);
    bench.set(5, None).await;
    bench.run(61).await;
    let told = bench.delivered();
    assert_eq!(told.len(), 1);
    assert!(told[0].body().contains("Over since"), "{told:?}");
}

#[rocket::async_test]
async fn a_trial_that_finds_the_browsers_subscription_ended_ends_this_one_too() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    bench.respond(|_| status(500));
    assert!(matches!(bench.push.send_trial(id, &secret).await, Err(PushError::Busy(..))));
    bench.run(61).await;
    bench.respond(|_| status(410));
    assert!(matches!(bench.push.send_trial(id, &secret).await, Err(PushError::NotFound)));
    assert_eq!(bench.count().await, 0);
    // The browser gets another subscription while the trial is sent.
    bench.respond(|_| status(201));
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    bench.respond(|endpoint| status(if endpoint == PHONE { 410 } else { 201 }));
    let (push, own) = (bench.push.clone(), secret.clone());
    bench.meanwhile(async move {
        push.replace(id, &own, &Bench::body(OTHER, &[1]), UNCOUNTED).await.unwrap();
    });
    assert!(matches!(bench.push.send_trial(id, &secret).await, Err(PushError::Busy(..))));
    assert_eq!(bench.count().await, 1);
}

#[rocket::async_test]
async fn a_renewal_that_finds_the_browsers_subscription_ended_ends_this_one_too() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    bench.respond(|_| status(403));
    bench.set(1, 4).await;
    bench.run(5).await;
    bench.respond(|_| status(410));
    let renewed = bench.push.replace(id, &secret, &Bench::body(PHONE, &[1]), UNCOUNTED).await;
    assert!(matches!(renewed, Err(PushError::Ended)), "{renewed:?}");
    assert_eq!(bench.count().await, 0);
}

#[rocket::async_test]
async fn a_subscription_whose_areas_are_gone_ends_with_a_last_message_but_not_in_an_exercise() {
    for (status, delivered) in [("Actual", 1), ("Exercise", 0)] {
        let mut bench = Bench::with(json!({ "formats": { "cap": { "status": status } } })).await;
        let (id, _) = bench.subscribe(PHONE, &[1]).await;
        let record = bench.store.push_record(id).await.unwrap().unwrap();
        let mut text: Value = serde_json::from_str(&record.content.text).unwrap();
        text["areas"] = json!([999]);
        let content = NewPushRecord { text: text.to_string(), ..record.content.clone() };
        let update = PushUpdate { id, version: record.version, content: Some(content) };
        assert_eq!(bench.store.update_push_records(vec![update]).await.unwrap(), [id]);
        bench.clock.set(bench.clock.now().saturating_add(Duration::from_hours(25)));
        bench.run(62).await;
        let messages = bench.delivered();
        assert_eq!(messages.len(), delivered, "{messages:?}");
        assert!(messages.iter().all(|message| message.body().contains("do not exist any more")));
        assert_eq!(bench.count().await, u64::from(delivered == 0));
    }
}

#[rocket::async_test]
async fn only_a_request_that_sends_a_message_is_counted() {
    let bench = Bench::with(json!({ "push": { "enabled": true, "max": 1 } })).await;
    let counted = AtomicU32::new(0);
    let count = || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let right = Bench::body(PHONE, &[1]);
    let refused = [
        Bench::body("https://evil.example/a", &[1]),
        Bench::body(PHONE, &[999]),
        PushBody { auth: "AAAA".to_owned(), ..right.clone() },
    ];
    for body in &refused {
        bench.push.subscribe(body, count).await.unwrap_err();
    }
    assert_eq!(counted.load(Ordering::Relaxed), 0);
    bench.push.subscribe(&right, count).await.unwrap();
    bench.push.subscribe(&Bench::body(OTHER, &[1]), count).await.unwrap_err();
    assert_eq!(counted.load(Ordering::Relaxed), 1, "the service is full");
    assert_eq!(bench.delivered().len(), 1);
    let bench = Bench::new().await;
    let limited = bench.push.subscribe(&right, || Err(PushError::TooMany(Duration::from_mins(1)))).await;
    assert!(matches!(limited, Err(PushError::TooMany(_))), "{limited:?}");
    assert!(bench.delivered().is_empty());
}

#[rocket::async_test]
async fn a_phone_whose_messages_arrive_again_is_told_within_a_minute() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    bench.respond(|_| Outcome::Response { status: 429, retry_after: Some(Duration::from_hours(1)) });
    bench.set(1, 4).await;
    bench.run(5).await;
    bench.respond(|_| status(201));
    bench.push.replace(id, &secret, &Bench::body(PHONE, &[1]), UNCOUNTED).await.unwrap();
    bench.delivered();
    bench.run(62).await;
    assert_eq!(bench.delivered().len(), 1);
}

#[rocket::async_test]
async fn phones_are_told_within_a_minute_after_their_push_service_was_away_for_hours() {
    let mut bench = Bench::new().await;
    for phone in 0..30 {
        let body = Bench::body(&format!("https://fcm.googleapis.com/{phone}"), &[1]);
        bench.push.subscribe(&body, || Ok(())).await.unwrap();
    }
    bench.run(61).await;
    bench.respond(|_| Outcome::Failed("timed out".to_owned()));
    bench.set(1, 4).await;
    bench.run(3 * 3_600).await;
    bench.delivered();
    bench.respond(|_| status(201));
    bench.run(60).await;
    assert_eq!(bench.delivered().len(), 30);
}

#[rocket::async_test]
async fn a_stored_subscription_has_no_name_no_place_and_no_secret() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    let record = bench.store.push_record(id).await.unwrap().unwrap();
    let stored: Value = serde_json::from_str(&record.content.text).unwrap();
    let known = [
        "p256dh",
        "auth",
        "secret",
        "areas",
        "parent",
        "language",
        "minimum_state",
        "created",
        "renewed",
        "accepted",
        "fan_out",
        "sent",
        "failures",
        "failed_since",
    ];
    assert_eq!(stored.as_object().unwrap().keys().collect::<Vec<_>>(), known);
    assert!(!record.content.text.contains(&secret));
    assert!(Subscription::read(&record).unwrap().is_secret(&secret));
}

#[rocket::async_test]
async fn a_renewal_says_whether_messages_arrive_and_is_counted_only_if_it_sends_one() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1]).await;
    let counted = AtomicU32::new(0);
    let count = || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok::<_, PushError>(())
    };
    let body = Bench::body(PHONE, &[1]);
    bench.push.replace(id, &secret, &body, count).await.unwrap();
    assert_eq!((bench.delivered().len(), counted.load(Ordering::Relaxed)), (0, 0));
    bench.respond(|_| status(403));
    bench.set(1, 3).await;
    bench.run(5).await;
    let failed = bench.push.replace(id, &secret, &body, count).await;
    assert!(matches!(failed, Err(PushError::Field("endpoint", _))), "{failed:?}");
    bench.respond(|_| status(201));
    bench.push.replace(id, &secret, &body, count).await.unwrap();
    assert_eq!(counted.load(Ordering::Relaxed), 2);
}
