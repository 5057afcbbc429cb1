use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::server::{Reply, Server, accept};
use super::{csv_document, csv_feed, csv_server, minutes, noon, reader, reader_with_timeout};

/// A server whose status the test changes. With 200, it does the same as `reply`.
async fn switched(reply: impl Fn(&Value) -> Reply + Send + 'static) -> (Server, Arc<AtomicU16>) {
    let status = Arc::new(AtomicU16::new(200));
    let current = Arc::clone(&status);
    let server = Server::start(move |request| match current.load(Ordering::Relaxed) {
        200 => reply(&request.body),
        status => {
            Reply::Status(status, "Retry-After: 1200\r\n".to_owned(), r#"{"message":"away"}"#.to_owned())
        }
    });
    (server.await, status)
}

#[tokio::test]
async fn a_reading_is_sent_once_and_after_a_restart_the_last_window_again() {
    let server = csv_server(&["a,2026-11-27T11:00:00Z,1", "a,2026-11-27T11:05:00Z,2"]).await;
    let siaga = Server::siaga().await;
    let mut first = reader(&siaga, &csv_feed(&server.address));
    assert_eq!(first.round(noon()).await.sent, 2);
    assert_eq!(first.round(noon() + minutes(4)).await.sent, 0, "it is not due");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(first.round(noon() + minutes(5)).await.sent, 0, "nothing is new");
    assert_eq!((server.requests().len(), siaga.bodies().len()), (1, 1));
    assert_eq!(reader(&siaga, &csv_feed(&server.address)).round(noon() + minutes(6)).await.sent, 2);
}

#[tokio::test]
async fn a_feed_that_is_away_is_read_again_after_pauses_that_double_up_to_ten_minutes() {
    let (server, status) = switched(|_| Reply::ok(&csv_document(&["a,2026-11-27T11:55:00Z,1"]))).await;
    let siaga = Server::siaga().await;
    status.store(404, Ordering::Relaxed);
    let settings = csv_feed(&server.address).replace("/levels.csv", "/levels.csv?key=hidden");
    let mut feed = reader(&siaga, &settings);
    assert!(feed.round(noon()).await.failed);
    assert_eq!(feed.wait(noon()), Duration::from_mins(20), "Retry-After");

    // Nothing listens there.
    let mut feed = reader(&siaga, &csv_feed("http://127.0.0.1:1"));
    let mut now = noon();
    for seconds in [10, 20, 40, 80, 160, 320, 600, 600] {
        assert!(feed.round(now).await.failed);
        assert_eq!(feed.wait(now), Duration::from_secs(seconds));
        now += feed.wait(now);
    }

    status.store(200, Ordering::Relaxed);
    let mut feed = reader(&siaga, &settings);
    assert_eq!(feed.round(noon()).await.sent, 1);
    assert_eq!(feed.wait(noon()), Duration::from_mins(5));
}

#[tokio::test]
async fn while_siaga_is_away_the_feed_is_read_and_all_is_sent_afterwards() {
    let minute = Arc::new(AtomicU16::new(0));
    let current = Arc::clone(&minute);
    let server = Server::start(move |_| {
        let at = noon() + minutes(current.load(Ordering::Relaxed).into());
        Reply::ok(&csv_document(&[&format!("a,{},1", at.to_rfc3339())]))
    })
    .await;
    let (siaga, status) = switched(accept).await;
    let mut feed = reader(&siaga, &csv_feed(&server.address));
    status.store(429, Ordering::Relaxed);
    assert!(feed.round(noon()).await.failed);
    for passed in [5, 10, 15] {
        minute.store(passed, Ordering::Relaxed);
        let round = feed.round(noon() + minutes(passed.into())).await;
        assert!(!round.failed, "the feed is read, and nothing is sent before Retry-After: {round:?}");
    }
    assert_eq!(siaga.requests().len(), 1);
    status.store(200, Ordering::Relaxed);
    minute.store(20, Ordering::Relaxed);
    assert_eq!(feed.round(noon() + minutes(20)).await.sent, 5);
    let times: Vec<_> = siaga.levels().into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, ["12:00", "12:05", "12:10", "12:15", "12:20"]);
}

#[tokio::test]
async fn readings_that_siaga_does_not_accept_for_a_day_are_dropped() {
    let (server, feed_status) = switched(|_| Reply::ok(&csv_document(&["a,2026-11-27T11:55:00Z,1"]))).await;
    let (siaga, status) = switched(accept).await;
    let mut feed = reader(&siaga, &csv_feed(&server.address));
    status.store(503, Ordering::Relaxed);
    feed.round(noon()).await;
    feed_status.store(500, Ordering::Relaxed);
    status.store(200, Ordering::Relaxed);
    assert_eq!(feed.round(noon() + minutes(24 * 60)).await.sent, 0);
}

#[tokio::test]
async fn a_rejected_gauge_is_logged_with_the_message_of_siaga_and_does_not_stop_others() {
    let server =
        csv_server(&["a,2026-11-27T11:55:00Z,1", "b,2026-11-27T11:55:00Z,1", "c,2026-11-27T11:55:00Z,1"])
            .await;
    let siaga = Server::start(|request| match request.body["gaugeid"].as_str() {
        Some("b") => Reply::Status(400, String::new(), r#"{"message":"no\nsuch place"}"#.to_owned()),
        _ => accept(&request.body),
    })
    .await;
    let mut feed = reader(&siaga, &csv_feed(&server.address));
    let round = feed.round(noon()).await;
    assert_eq!((round.sent, round.failed), (2, false));
    assert_eq!(round.rejected, [r#""b": 400 Bad Request "no\nsuch place""#], "one line");
    assert_eq!(feed.round(noon() + minutes(5)).await.rejected, [""; 0], "it is not sent again");
}

#[tokio::test]
async fn a_key_that_siaga_does_not_accept_stops_the_round_and_is_tried_again_later() {
    let server = csv_server(&["a,2026-11-27T11:55:00Z,1", "b,2026-11-27T11:55:00Z,1"]).await;
    let siaga = Server::start(|_| Reply::Status(403, String::new(), String::new())).await;
    let mut feed = reader(&siaga, &csv_feed(&server.address));
    let round = feed.round(noon()).await;
    assert!(round.failed && round.rejected.is_empty());
    assert_eq!(feed.wait(noon()), Duration::from_secs(10));
    feed.round(noon() + Duration::from_secs(10)).await;
    assert_eq!(feed.wait(noon() + Duration::from_secs(10)), Duration::from_secs(20));
    assert!(!format!("{feed:?}").contains("secret"), "the key is never shown");
}

#[tokio::test]
async fn a_feed_that_never_ends_its_response_is_given_up() {
    let server = Server::start(|_| Reply::Slow).await;
    let siaga = Server::siaga().await;
    let mut feed = reader_with_timeout(&siaga, &csv_feed(&server.address), Duration::from_millis(100));
    assert!(feed.round(noon()).await.failed);
    assert_eq!(feed.wait(noon()), Duration::from_secs(10));
}

#[tokio::test]
async fn a_clock_that_is_set_back_does_not_stop_a_feed() {
    let server = csv_server(&["a,2026-11-27T11:55:00Z,1"]).await;
    let siaga = Server::siaga().await;
    let mut feed = reader(&siaga, &csv_feed(&server.address));
    feed.round(noon() + minutes(5)).await;
    assert_eq!(feed.wait(noon()), Duration::ZERO);
}
