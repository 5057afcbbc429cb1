//! How many connections to its database a server has, and for how long.

use std::time::{Duration, Instant};

use rocket::futures::future::{join, join_all};
use rocket::tokio::time;
use sqlx::{Connection, Executor, PgConnection};

use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::postgres::Database;
use crate::server::{Server, built, figment};

/// The server's connections for requests to this database.
const SESSIONS: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'siaga'";

/// A server with these settings of its database, and somebody else's connection to that.
async fn served(settings: &[(&str, u32)]) -> (Server, PgConnection, Database) {
    let database = Database::with_fixture().await;
    let figment = figment(&database.url()).merge(("siaga.limits.timeout", "20s"));
    let figment = settings
        .iter()
        .fold(figment, |figment, (key, number)| figment.merge((format!("databases.siaga.{key}"), *number)));
    let other = PgConnection::connect(&database.url()).await.unwrap();
    (Server::of(built(figment).await.unwrap()).await, other, database)
}

/// Waits until there are so many connections.
async fn until(connection: &mut PgConnection, expected: impl Fn(i64) -> bool) {
    let found = async || sqlx::query_scalar::<_, i64>(SESSIONS).fetch_one(&mut *connection).await.unwrap();
    eventually("the number of connections", LONG, found, |found| expected(*found)).await;
}

/// Has the server use a connection for each of many requests, and look at how many it has then.
async fn with_many_requests(server: &Server, other: &mut PgConnection, database: &Database, expected: i64) {
    // Within a transaction the same sessions are told again and again.
    let mut locking = PgConnection::connect(&database.url()).await.unwrap();
    let mut transaction = locking.begin().await.unwrap();
    transaction.execute("LOCK TABLE cards IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let asked = join_all((0..8).map(|_| server.card()));
    let watched = async {
        until(other, |found| found == expected).await;
        // There is time for more, if there were more.
        time::sleep(Duration::from_millis(300)).await;
        until(other, |found| found == expected).await;
        transaction.rollback().await.unwrap();
    };
    let (answered, ()) = join(asked, watched).await;
    assert_eq!(answered, [200; 8]);
}

#[test]
fn a_server_has_as_many_connections_as_it_may_and_no_more() {
    block_on(async {
        for most in [2, 5] {
            let (server, mut other, database) = served(&[("max_connections", most)]).await;
            with_many_requests(&server, &mut other, &database, i64::from(most)).await;
        }
    });
}

#[test]
fn connections_are_made_that_nobody_needs() {
    block_on(async {
        let (_server, mut other, _database) = served(&[("min_connections", 4)]).await;
        until(&mut other, |found| found >= 4).await;
    });
}

#[test]
fn connections_that_nobody_needed_for_a_while_are_closed() {
    block_on(async {
        let settings = [("max_connections", 5), ("idle_timeout", 1)];
        let (server, mut other, database) = served(&settings).await;
        with_many_requests(&server, &mut other, &database, 5).await;
        until(&mut other, |found| found <= 1).await;
    });
}

/// Has a new card take two seconds, for which it holds its connection.
pub(crate) const SLOW_CARDS: &str = "
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); RETURN NEW; END';
    CREATE TRIGGER slow BEFORE INSERT ON cards FOR EACH ROW EXECUTE FUNCTION wait()";
const WORKING: &str = "
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'siaga' AND wait_event = 'PgSleep'";

#[test]
fn a_connection_is_waited_for_as_long_as_configured() {
    block_on(async {
        for (seconds, status) in [(1, 503), (20, 200)] {
            let settings = [("max_connections", 1), ("connect_timeout", seconds)];
            let (server, mut other, _database) = served(&settings).await;
            other.execute(SLOW_CARDS).await.unwrap();
            // One has the only connection, the other waits for it.
            let asking = async {
                let working =
                    async || sqlx::query_scalar::<_, i64>(WORKING).fetch_one(&mut other).await.unwrap();
                eventually("a card is made", LONG, working, |working| *working > 0).await;
                let begun = Instant::now();
                (server.card().await, begun.elapsed())
            };
            let (made, (asked, took)) = join(server.make_card(), asking).await;
            assert_eq!((made, asked), (200, status));
            assert!(status == 200 || took >= Duration::from_secs(1), "{took:?}");
        }
    });
}

#[test]
fn the_metrics_tell_how_many_connections_there_are() {
    block_on(async {
        let database = Database::with_fixture().await;
        let metrics = figment(&database.url())
            .merge(("siaga.metrics.enabled", true))
            .merge(("databases.siaga.min_connections", 3));
        let server = Server::of(built(metrics).await.unwrap()).await;
        let mut other = PgConnection::connect(&database.url()).await.unwrap();
        until(&mut other, |found| found >= 3).await;
        let page = server.client.get("/metrics").dispatch().await.into_string().await.unwrap();
        let count = |state: &str| -> u32 {
            let series = format!("siaga_database_connections{{state=\"{state}\"}} ");
            let found = page.lines().find_map(|line| line.strip_prefix(&series));
            found.unwrap_or_else(|| panic!("{series}: {page}")).parse().unwrap()
        };
        assert!(count("idle") + count("in_use") >= 3, "{page}");
    });
}

#[test]
fn a_store_that_is_closed_holds_no_connections() {
    block_on(async {
        let (server, mut other, _database) = served(&[("min_connections", 3)]).await;
        assert_eq!(server.card().await, 200);
        until(&mut other, |found| found >= 3).await;
        server.store.close().await;
        until(&mut other, |found| found == 0).await;
    });
}
