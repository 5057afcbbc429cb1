//! Database connections of a server, and their metrics.

use std::time::{Duration, Instant};

use rocket::futures::future::{join, join_all};
use rocket::tokio::{join, time};
use sqlx::{Connection, Executor, PgConnection};

use crate::eventually::{LONG, eventually};
use crate::postgres::Database;
use crate::server::{Server, build, figment};

/// Counts the server's request connections to this database.
pub(crate) const SESSIONS: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'siaga'";

/// A server with database settings, and a separate connection to the database.
async fn served(settings: &[(&str, u32)]) -> (Server, PgConnection, Database) {
    let database = Database::with_fixture().await;
    let figment = figment(&database.url())
        .merge(("siaga.limits.timeout", "20s"))
        .merge(("siaga.metrics.enabled", true));
    let figment = settings
        .iter()
        .fold(figment, |figment, (key, number)| figment.merge((format!("databases.siaga.{key}"), *number)));
    let other = PgConnection::connect(&database.url()).await.unwrap();
    (Server::new(build(figment).await.unwrap()).await, other, database)
}

/// Waits for a number of connections.
async fn until(connection: &mut PgConnection, expected: impl Fn(i64) -> bool) {
    let found = async || sqlx::query_scalar::<_, i64>(SESSIONS).fetch_one(&mut *connection).await.unwrap();
    eventually("the number of connections", LONG, found, |found| expected(*found)).await;
}

/// Sends many blocking requests and checks the number of connections meanwhile.
async fn with_many_requests(server: &Server, other: &mut PgConnection, database: &Database, expected: i64) {
    // Inside a transaction `pg_stat_activity` does not change.
    let mut locking = PgConnection::connect(&database.url()).await.unwrap();
    let mut transaction = locking.begin().await.unwrap();
    transaction.execute("LOCK TABLE cards IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let requests = join_all((0..8).map(|_| server.card()));
    let watched = async {
        until(other, |found| found == expected).await;
        // Leaves time for further connections.
        time::sleep(Duration::from_millis(300)).await;
        until(other, |found| found == expected).await;
        transaction.rollback().await.unwrap();
    };
    let (results, ()) = join(requests, watched).await;
    assert_eq!(results, [200; 8]);
}

#[rocket::async_test]
async fn a_server_opens_connections_up_to_its_limit_and_closes_idle_ones() {
    for most in [2, 5] {
        let settings = [("max_connections", most), ("idle_timeout", 1)];
        let (server, mut other, database) = served(&settings).await;
        with_many_requests(&server, &mut other, &database, i64::from(most)).await;
        until(&mut other, |found| found <= 1).await;
    }
}

#[rocket::async_test]
async fn min_connections_are_opened_and_counted_until_the_store_is_closed() {
    let (server, mut other, _database) = served(&[("min_connections", 3)]).await;
    until(&mut other, |found| found >= 3).await;
    let count = async |state: &str| {
        value(&server, &format!("siaga_database_connections{{state=\"{state}\"}}")).await.unwrap()
    };
    assert!(count("idle").await + count("in_use").await >= 3.0);
    server.store.close().await;
    until(&mut other, |found| found == 0).await;
}

/// Makes the creation of a card hold its connection for two seconds.
pub(crate) const SLOW_CARDS: &str = "
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); RETURN NEW; END';
    CREATE TRIGGER slow BEFORE INSERT ON cards FOR EACH ROW EXECUTE FUNCTION wait()";
const WORKING: &str = "
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'siaga' AND wait_event = 'PgSleep'";

#[rocket::async_test]
async fn waiting_for_a_connection_ends_at_the_configured_timeout() {
    for (seconds, status) in [(1, 503), (20, 200)] {
        let settings = [("max_connections", 1), ("connect_timeout", seconds)];
        let (server, mut other, _database) = served(&settings).await;
        other.execute(SLOW_CARDS).await.unwrap();
        // One request holds the only connection, the other waits for it.
        let requesting = async {
            let working = async || sqlx::query_scalar::<_, i64>(WORKING).fetch_one(&mut other).await.unwrap();
            eventually("a card is made", LONG, working, |working| *working > 0).await;
            let begun = Instant::now();
            (server.card().await, begun.elapsed())
        };
        let (created, (read, took)) = join(server.make_card(), requesting).await;
        assert_eq!((created, read), (200, status));
        assert!(status == 200 || took >= Duration::from_secs(1), "{took:?}");
    }
}

async fn value(server: &Server, series: &str) -> Option<f64> {
    let page = server.client.get("/metrics").dispatch().await.into_string().await.unwrap();
    page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

async fn until_value(server: &Server, series: &str, expected: impl Fn(f64) -> bool) {
    let value = async || value(server, series).await;
    eventually(series, LONG, value, |value| value.is_some_and(&expected)).await;
}

const WAITING: &str = "siaga_database_calls_waiting{}";

#[rocket::async_test]
async fn the_metrics_have_the_number_of_operations_that_wait_for_a_connection() {
    let (server, mut other, _database) = served(&[("max_connections", 1)]).await;
    until_value(&server, WAITING, |waiting| waiting == 0.0).await;
    other.execute(SLOW_CARDS).await.unwrap();
    // A background task may wait too.
    let watched = until_value(&server, WAITING, |waiting| waiting >= 1.0);
    let created = join!(server.make_card(), server.make_card(), watched);
    assert_eq!(created, (200, 200, ()));
    until_value(&server, WAITING, |waiting| waiting == 0.0).await;
}

#[rocket::async_test]
async fn the_metrics_count_retried_operations() {
    let database = Database::with_fixture().await;
    let figment = figment(&database.url()).merge(("siaga.metrics.enabled", true));
    let server = Server::new(build(figment).await.unwrap()).await;
    assert_eq!(server.set(5, 1).await, 200);
    assert_eq!(value(&server, "siaga_database_retries_total").await, Some(0.0));

    let mut other = PgConnection::connect(&database.url()).await.unwrap();
    other.execute("BEGIN; SELECT FROM flood_states WHERE area_id = 5 FOR UPDATE").await.unwrap();
    assert_eq!(server.set(5, 2).await, 503);
    let retried = value(&server, "siaga_database_retries_total").await.unwrap();
    assert!(retried >= 2.0, "{retried}");

    other.execute("ROLLBACK; BEGIN; LOCK TABLE cards IN ACCESS EXCLUSIVE MODE").await.unwrap();
    assert_eq!(server.card().await, 503);
    assert!(value(&server, "siaga_database_retries_total").await.unwrap() > retried);
}
