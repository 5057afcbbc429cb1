//! Reported faults of feeds, replayed.

use serde_json::json;

use super::server::{Reply, Server};
use super::{csv_document, csv_feed, csv_server, minutes, noon, reader};

#[tokio::test]
async fn sentinels_and_values_that_are_not_numbers_are_left_out_and_the_rest_is_sent() {
    let server = csv_server(&[
        "a,2026-11-27T11:00:00Z,-888",
        "a,2026-11-27T11:05:00Z,-999999",
        "a,2026-11-27T11:10:00Z,-999.00",
        "a,2026-11-27T11:15:00Z,NaN",
        "a,2026-11-27T11:20:00Z,",
        "a,2026-11-27T11:25:00Z,1e400",
        "a,2026-11-27T11:30:00Z,-12",
        "a,2026-11-27T11:35:00Z,-888.5",
    ])
    .await;
    let siaga = Server::siaga().await;
    let round = reader(&siaga, &csv_feed(&server.address)).round(noon()).await;
    assert_eq!(siaga.levels(), [("11:30".to_owned(), -12.0), ("11:35".to_owned(), -888.5)]);
    assert_eq!(
        round.omissions,
        [
            r#"left out 3: the value is a sentinel (first: "a" "-888")"#,
            r#"left out 3: the value is not a number (first: "a" "NaN")"#,
        ]
    );
}

#[tokio::test]
async fn sentinels_are_compared_before_units_are_converted() {
    let server = csv_server(&["a,2026-11-27T11:00:00Z,-999999", "a,2026-11-27T11:05:00Z,-9.99"]).await;
    for (unit, level) in [("ft", -304.495), ("m", -999.0), ("cm", -9.99)] {
        let siaga = Server::siaga().await;
        let settings = csv_feed(&server.address).replace("unit = \"cm\"", &format!("unit = \"{unit}\""));
        reader(&siaga, &settings).round(noon()).await;
        assert_eq!(siaga.levels(), [("11:05".to_owned(), level)], "{unit}");
    }
}

#[tokio::test]
async fn other_sentinels_and_a_zero_can_be_configured() {
    let server = csv_server(&["a,2026-11-27T11:00:00Z,-999", "a,2026-11-27T11:05:00Z,77"]).await;
    let siaga = Server::siaga().await;
    let settings = csv_feed(&server.address) + "sentinels = [77]\nzero = 12.5\n";
    reader(&siaga, &settings).round(noon()).await;
    assert_eq!(siaga.levels(), [("11:00".to_owned(), -986.5)]);
}

#[tokio::test]
async fn a_double_with_12_decimals_is_sent_without_noise() {
    let server = csv_server(&["a,2026-11-27T11:00:00Z,1.234567890123", "a,2026-11-27T11:05:00Z,1.1"]).await;
    let siaga = Server::siaga().await;
    reader(&siaga, &csv_feed(&server.address).replace("unit = \"cm\"", "unit = \"m\"")).round(noon()).await;
    assert_eq!(siaga.levels(), [("11:00".to_owned(), 123.457), ("11:05".to_owned(), 110.0)]);
}

#[tokio::test]
async fn times_out_of_order_are_sent_in_order_and_each_time_once() {
    let server = csv_server(&[
        "a,2026-11-27T11:20:00Z,3",
        "a,2026-11-27T11:00:00Z,1",
        "a,2026-11-27T18:10:00+07:00,9",
        "a,2026-11-27T11:10:00Z,2",
    ])
    .await;
    let siaga = Server::siaga().await;
    reader(&siaga, &csv_feed(&server.address)).round(noon()).await;
    assert_eq!(
        siaga.levels(),
        [("11:00".to_owned(), 1.0), ("11:10".to_owned(), 2.0), ("11:20".to_owned(), 3.0)]
    );
}

#[tokio::test]
async fn readings_from_tomorrow_from_last_week_and_without_an_offset_are_left_out() {
    let server = csv_server(&[
        "a,2026-11-28T12:00:00Z,1",
        "a,2026-11-27T12:10:00.001Z,2",
        "a,2026-11-27T12:10:00Z,3",
        "a,2026-11-20T12:00:00Z,4",
        "a,2026-11-27T12:00:00,5",
    ])
    .await;
    let siaga = Server::siaga().await;
    let round = reader(&siaga, &csv_feed(&server.address)).round(noon()).await;
    assert_eq!(siaga.levels(), [("12:10".to_owned(), 3.0)]);
    assert_eq!(
        round.omissions,
        [
            r#"left out 1: the reading is older than 24 hours (first: "a" "2026-11-20T12:00:00Z")"#,
            r#"left out 2: the time is in the future: is it local time? (first: "a" "2026-11-28T12:00:00Z")"#,
            r#"left out 1: the time is not readable: set `offset` or `time_format` (first: "a" "2026-11-27T12:00:00")"#,
        ]
    );
}

#[tokio::test]
async fn times_without_an_offset_get_the_configured_one_and_others_keep_theirs() {
    let server = csv_server(&["a,2026-11-27T18:20:00,1", "a,2026-11-27T11:30:00Z,2"]).await;
    let siaga = Server::siaga().await;
    reader(&siaga, &(csv_feed(&server.address) + "offset = \"+07:00\"\n")).round(noon()).await;
    assert_eq!(siaga.levels(), [("11:20".to_owned(), 1.0), ("11:30".to_owned(), 2.0)]);
}

#[tokio::test]
async fn gauges_without_a_place_or_thresholds_are_left_out() {
    let server = Server::start(|_| {
        Reply::ok("id,time,level,lat,lng\na,2026-11-27T11:00:00Z,1,0,0\nb,2026-11-27T11:00:00Z,1,x,9\n")
    })
    .await;
    let siaga = Server::siaga().await;
    let round = reader(&siaga, &csv_feed(&server.address)).round(noon()).await;
    assert!(round.omissions[0].starts_with("left out 2: the gauge has no location"), "{round:?}");
    let server = csv_server(&["a,2026-11-27T11:00:00Z,1"]).await;
    let settings = csv_feed(&server.address).replace("alert = \"normal\"", "");
    let round = reader(&siaga, &settings).round(noon()).await;
    assert!(round.omissions[0].starts_with("left out 1: the gauge has no thresholds"), "{round:?}");
    assert_eq!(siaga.bodies(), Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn thresholds_are_sent_without_alert_levels_which_siaga_computes() {
    let server = csv_server(&["a,2026-11-27T11:00:00Z,749.999", "a,2026-11-27T11:15:00Z,950"]).await;
    let siaga = Server::siaga().await;
    let settings = csv_feed(&server.address)
        + "[feed.gauge.a]\nthresholds = { critical = 950, alert = 850, watch = 750 }\n";
    let round = reader(&siaga, &settings).round(noon()).await;
    assert!(round.rejected.is_empty(), "{:?}", round.rejected);
    let body = siaga.bodies().remove(0);
    assert!(body["observations"].as_array().unwrap().iter().all(|one| one["alert"].is_null()));
    assert_eq!(body["thresholds"], json!({ "critical": 950.0, "alert": 850.0, "watch": 750.0 }));
}

#[tokio::test]
async fn a_gauge_whose_thresholds_siaga_has_stored_is_sent_without_an_alert() {
    let server = csv_server(&["a,2026-11-27T11:00:00Z,1"]).await;
    let siaga = Server::siaga().await;
    let settings = csv_feed(&server.address).replace("alert = \"normal\"", "alert = \"stored\"");
    let round = reader(&siaga, &settings).round(noon()).await;
    let observation = json!({ "observed_at": "2026-11-27T11:00:00.000Z", "level": 1.0, "alert": null });
    assert_eq!(siaga.bodies()[0]["observations"], json!([observation]));
    assert_eq!(round.rejected, [r#""a": 400 Bad Request "\"observations.0.alert\" is required""#]);
}

#[tokio::test]
async fn gauges_readings_and_bytes_are_limited() {
    let rows: Vec<_> = (0..10_002).map(|gauge| format!("g{gauge},2026-11-27T11:00:00Z,1")).collect();
    let document = csv_document(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let server = Server::start(move |_| Reply::ok(&document)).await;
    let siaga = Server::siaga().await;
    let (round, text) = reader(&siaga, &csv_feed(&server.address)).preview(noon()).await;
    assert!(text.starts_with("feed river: 10000 gauges to send\n  \"g0\": {"), "{}", &text[..99]);
    assert_eq!(text.lines().count(), 10_001);
    assert!(round.omissions[0].starts_with("left out 2: the feed has more than 10,000 gauges"), "{round:?}");

    let row =
        |second: i64| format!("a,{},{second}", (noon() - chrono::Duration::seconds(second)).to_rfc3339());
    let rows: Vec<_> = (0..1_003).map(row).collect();
    let document = csv_document(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let server = Server::start(move |_| Reply::ok(&document)).await;
    let mut reader = reader(&siaga, &csv_feed(&server.address));
    let round = reader.round(noon()).await;
    assert!(
        round.omissions[0].starts_with("left out 3: the gauge has more than 1,000 readings"),
        "{round:?}"
    );
    assert_eq!((round.sent, reader.wait(noon()).as_secs()), (500, 0), "the rest is due at once");
    assert_eq!(reader.round(noon()).await.sent, 500);
    assert_eq!(reader.wait(noon() + minutes(1)).as_secs(), 240);
    let levels: Vec<_> = siaga.levels().into_iter().map(|(_, level)| level).collect();
    assert_eq!((levels[0], levels[999]), (999.0, 0.0), "the newest are sent, oldest first");

    let server = Server::start(|_| Reply::ok(&"x".repeat(16 * 1024 * 1024 + 1))).await;
    assert!(self::reader(&siaga, &csv_feed(&server.address)).round(noon()).await.failed);
}
