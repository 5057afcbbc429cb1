//! What the metrics tell of the database: calls that wait and are retried, batches.

use figment::Figment;
use rocket::futures::future::join;
use rocket::tokio::join;
use sqlx::{Connection, Executor, PgConnection};

use crate::connections::SLOW_CARDS;
use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::postgres::Database;
use crate::server::{Server, built, figment};

async fn measured(figment: Figment) -> Server {
    Server::of(built(figment.merge(("siaga.metrics.enabled", true))).await.unwrap()).await
}

/// The value of a series, if it is there.
async fn value(server: &Server, series: &str) -> Option<f64> {
    let page = server.client.get("/metrics").dispatch().await.into_string().await.unwrap();
    page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

/// Waits until a series has a value.
async fn until(server: &Server, series: &str, expected: impl Fn(f64) -> bool) {
    let value = async || value(server, series).await;
    eventually(series, LONG, value, |value| value.is_some_and(&expected)).await;
}

const WAITING: &str = "siaga_database_calls_waiting{}";

#[test]
fn the_metrics_tell_how_many_calls_wait_for_a_connection() {
    block_on(async {
        let database = Database::with_fixture().await;
        let figment = figment(&database.url())
            .merge(("siaga.limits.timeout", "20s"))
            .merge(("databases.siaga.max_connections", 1));
        let server = measured(figment).await;
        until(&server, WAITING, |waiting| waiting == 0.0).await;
        let mut other = PgConnection::connect(&database.url()).await.unwrap();
        other.execute(SLOW_CARDS).await.unwrap();
        // A call of a background task may wait, too.
        let watched = until(&server, WAITING, |waiting| waiting >= 1.0);
        let made = join!(server.make_card(), server.make_card(), watched);
        assert_eq!(made, (200, 200, ()));
        until(&server, WAITING, |waiting| waiting == 0.0).await;
    });
}

#[test]
fn the_metrics_tell_of_batches_and_of_calls_that_are_retried() {
    block_on(async {
        let database = Database::with_fixture().await;
        let server = measured(figment(&database.url())).await;
        assert_eq!(server.set(5, 1).await, 200);
        let sizes = |what: &str| format!(r#"siaga_batch_size_{what}{{batch="flood_states"}}"#);
        let waiting = r#"siaga_batch_jobs_waiting{batch="flood_states"}"#;
        assert_eq!(value(&server, &sizes("count")).await, Some(1.0));
        assert_eq!(value(&server, &sizes("sum")).await, Some(1.0));
        assert_eq!(value(&server, waiting).await, Some(0.0));
        assert_eq!(value(&server, "siaga_database_retries_total").await, Some(0.0));

        let mut other = PgConnection::connect(&database.url()).await.unwrap();
        other.execute("BEGIN; SELECT FROM flood_states WHERE area_id = 5 FOR UPDATE").await.unwrap();
        let (status, ()) = join(server.set(5, 2), until(&server, waiting, |waiting| waiting == 1.0)).await;
        assert_eq!(status, 503);
        assert_eq!(value(&server, waiting).await, Some(0.0));
        let retried = value(&server, "siaga_database_retries_total").await.unwrap();
        assert!(retried >= 2.0, "{retried}");

        // Calls that are not written in batches are retried, too.
        other.execute("ROLLBACK; BEGIN; LOCK TABLE cards IN ACCESS EXCLUSIVE MODE").await.unwrap();
        assert_eq!(server.card().await, 503);
        assert!(value(&server, "siaga_database_retries_total").await.unwrap() > retried);
    });
}
