//! Contention: locked tables, slow statements, abandoned operations.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rocket::futures::future::{join, join_all};
use rocket::http::Header;
use rocket::tokio::{self, time};

use siaga::model::CardHolder;
use siaga::stores::StoreError;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::connections::SESSIONS;
use crate::eventually::{LONG, eventually, patiently};
use crate::postgres::Database;
use crate::server::{KEY, Server, build, figment};

/// Connections of a server, and the areas that clients write.
const MOST: i64 = 4;
const AREAS: std::ops::Range<u64> = 100..163;
/// The limit for a request that needs no locked row.
const QUICK: Duration = Duration::from_secs(1);

const LOCKED_OUT: &str = "
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'siaga' AND wait_event_type = 'Lock'";

/// A server with many areas, its database, and a separate connection.
async fn served(timeout: &str) -> (Server, PgConnection, Database) {
    let database = Database::with_fixture().await;
    let mut other = PgConnection::connect(&database.url()).await.unwrap();
    let areas = "INSERT INTO areas
        SELECT number, '', 'RW', '', '', 'jbd', 'ID-JK', ST_Multi(ST_MakeEnvelope(0, 0, 1, 1, 4326))
        FROM generate_series(100, 162) AS number";
    other.execute(areas).await.unwrap();
    let figment = figment(&database.url())
        .merge(("siaga.limits.timeout", timeout))
        .merge(("databases.siaga.max_connections", MOST));
    (Server::new(build(figment).await.unwrap()).await, other, database)
}

async fn count(connection: &mut PgConnection, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(connection).await.unwrap()
}

/// Asserts that requests without locked rows succeed and the server is ready.
async fn others_are_served(server: &Server) {
    let begun = Instant::now();
    assert_eq!(server.get("/v1/reports").await.0, 200);
    assert_eq!(server.get("/health/ready").await.0, 200);
    assert!(begun.elapsed() < patiently(QUICK), "{:?}", begun.elapsed());
}

#[rocket::async_test]
async fn many_writers_on_a_locked_table_do_not_block_other_requests_or_readiness() {
    let (server, mut other, database) = served("8s").await;
    let mut watching = PgConnection::connect(&database.url()).await.unwrap();
    other.execute("BEGIN; LOCK TABLE flood_states IN EXCLUSIVE MODE").await.unwrap();
    let begun = Instant::now();
    let writes = join_all(AREAS.map(|area| {
        let client = Arc::clone(&server.client);
        async move {
            let request = client.put(format!("/v1/floods/{area}")).header(Header::new("X-Api-Key", KEY));
            let response = request.body(r#"{"state":1}"#).dispatch().await;
            (response.status().code, response.headers().get_one("Retry-After").map(str::to_owned))
        }
    }));
    let served = async {
        let mut rounds = 0;
        while begun.elapsed() < Duration::from_secs(3) {
            let begin_time = Instant::now();
            assert_eq!(server.card().await, 200);
            assert!(begin_time.elapsed() < patiently(QUICK), "{:?}", begin_time.elapsed());
            others_are_served(&server).await;
            let previewed = Instant::now();
            let preview = r#"{"changes":[{"area_id":"100","state":2}],"preview":true}"#;
            let request = server.client.post("/v1/floods/changes").header(Header::new("X-Api-Key", KEY));
            assert_eq!(
                request.body(preview).dispatch().await.status().code,
                200,
                "a preview waits for no writer"
            );
            assert!(previewed.elapsed() < patiently(QUICK), "{:?}", previewed.elapsed());
            assert!(count(&mut watching, LOCKED_OUT).await < MOST, "some connections are left to reads");
            rounds += 1;
        }
        rounds
    };
    let (results, rounds) = join(writes, served).await;
    assert!(rounds >= 3, "{rounds}");
    assert!(results.iter().all(|reply| *reply == (503, Some("1".to_owned()))), "{results:?}");
    assert!(begun.elapsed() < patiently(Duration::from_secs(8)), "{:?}", begun.elapsed());
    other.execute("ROLLBACK").await.unwrap();
    assert_eq!(server.set(AREAS.start, 4).await, 200);
    assert_eq!(server.state(AREAS.start).await, Some(4));
}

#[rocket::async_test]
async fn batches_continue_while_a_few_areas_are_locked() {
    let (server, mut other, _database) = served("20s").await;
    let locked = "BEGIN; SELECT FROM areas JOIN flood_states USING (area_id) WHERE area_id < 103 FOR UPDATE";
    for area in AREAS.take(3) {
        assert_eq!(server.set(area, 1).await, 200);
    }
    other.execute(locked).await.unwrap();
    // Each area twice, so that some batches meet an area already known to be locked.
    let writes = AREAS.chain(AREAS).map(|area| {
        let begun = Instant::now();
        let server = &server;
        async move { (area, server.set(area, 2).await, begun.elapsed()) }
    });
    let results = join_all(writes).await;
    for (area, status, took) in results {
        if area < 103 {
            assert_eq!(status, 503, "area {area}");
        } else {
            assert_eq!(status, 200, "area {area}");
            assert!(took < patiently(Duration::from_secs(2)), "area {area} took {took:?}");
        }
    }
    other.execute("ROLLBACK").await.unwrap();
    assert_eq!(server.set(100, 3).await, 200);
}

#[rocket::async_test]
async fn batches_that_wait_for_a_lock_succeed_when_it_is_released_in_time() {
    let (server, mut other, database) = served("20s").await;
    other.execute("BEGIN; LOCK TABLE flood_states IN EXCLUSIVE MODE").await.unwrap();
    let writes = join_all(AREAS.map(|area| server.set(area, 1)));
    // Inside a transaction `pg_stat_activity` does not change.
    let mut watching = PgConnection::connect(&database.url()).await.unwrap();
    let releasing = async {
        let locked_out = async || count(&mut watching, LOCKED_OUT).await;
        eventually("batches wait", LONG, locked_out, |locked_out| *locked_out > 0).await;
        other.execute("ROLLBACK").await.unwrap();
    };
    let (statuses, ()) = join(writes, releasing).await;
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
}

#[rocket::async_test]
async fn operations_that_wait_for_locks_leave_connections_to_others() {
    for mode in ["EXCLUSIVE", "ACCESS EXCLUSIVE"] {
        let (server, mut other, _database) = served("8s").await;
        let lock = format!("BEGIN; LOCK TABLE cards IN {mode} MODE");
        other.execute(AssertSqlSafe(lock)).await.unwrap();
        let waiting = async {
            join(join_all((0..32).map(|_| server.make_card())), join_all((0..32).map(|_| server.card())))
                .await
        };
        let served = async {
            for _ in 0..3 {
                others_are_served(&server).await;
                let begun = Instant::now();
                assert_eq!(server.set(100, 1).await, 200);
                assert!(begun.elapsed() < patiently(2 * QUICK), "{:?}", begun.elapsed());
            }
        };
        let ((created, read), ()) = join(waiting, served).await;
        assert_eq!(created, [503; 32], "{mode}");
        assert_eq!(read, [if mode == "EXCLUSIVE" { 200 } else { 503 }; 32], "{mode}");
    }
}

/// Makes the creation of a card take a minute.
const SLOW_CARDS: &str = "
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
    CREATE TRIGGER slow BEFORE INSERT ON cards FOR EACH ROW EXECUTE FUNCTION wait()";
const WORKING: &str = "
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'siaga' AND state = 'active'";

/// Abandons a running creation of a card.
async fn give_up(server: &Server) {
    let [username, network, language] = ["u", "n", "id"].map(str::to_owned);
    let holder = CardHolder { username, network, language, network_data: None };
    let making = server.store.create_card(holder);
    assert!(time::timeout(Duration::from_millis(100), making).await.is_err(), "it was made");
}

#[rocket::async_test]
async fn statements_of_abandoned_operations_are_cancelled_and_their_sessions_end() {
    let (server, mut other, database) = served("60s").await;
    other.execute(SLOW_CARDS).await.unwrap();
    let giving_up = async {
        for _ in 0..3 {
            join_all((0..6).map(|_| give_up(&server))).await;
        }
    };
    let mut watching = PgConnection::connect(&database.url()).await.unwrap();
    let watched = tokio::spawn(async move {
        let mut samples = Vec::new();
        for _ in 0..200 {
            samples.push(count(&mut watching, SESSIONS).await);
            // The pace of the samples.
            time::sleep(Duration::from_millis(5)).await;
        }
        samples
    });
    giving_up.await;
    let working = async || count(&mut other, WORKING).await;
    eventually("they end in the database", Duration::from_secs(2), working, |working| *working == 0).await;
    let samples = watched.await.unwrap();
    // A closed session is listed beside its successor until its process has ended.
    let most = samples.iter().max();
    assert!(most.is_some_and(|most| (1..=2 * MOST).contains(most)), "{samples:?} sessions");
}

#[rocket::async_test]
async fn readiness_does_not_wait_for_a_connection_of_the_request_pool() {
    let (server, mut other, _database) = served("5s").await;
    other.execute(SLOW_CARDS).await.unwrap();
    let making = join_all((0..8).map(|_| server.make_card()));
    let requesting = async {
        let working = async || count(&mut other, WORKING).await;
        eventually("cards are made", LONG, working, |working| *working >= 3).await;
        others_are_served(&server).await;
    };
    let (created, ()) = join(making, requesting).await;
    assert_eq!(created, [503; 8]);
}

#[rocket::async_test]
async fn a_transaction_that_writes_reports_is_open_until_it_ends() {
    let (server, mut other, _database) = served("5s").await;
    // The tasks of the server write reports too.
    let open = async || server.store.open_writes().await.unwrap();
    for end in ["COMMIT", "ROLLBACK"] {
        other.execute("BEGIN; DELETE FROM reports WHERE false").await.unwrap();
        let own = transaction(&mut other).await;
        assert!(open().await.contains(&own), "{own}");
        other.execute(end).await.unwrap();
        assert!(!open().await.contains(&own), "{own}, {end}");
    }
    other.execute("BEGIN; DELETE FROM flood_changes WHERE false").await.unwrap();
    let own = transaction(&mut other).await;
    assert!(!open().await.contains(&own), "reports do not wait for it");
}

/// Returns the name of the transaction of a connection.
async fn transaction(connection: &mut PgConnection) -> String {
    let sql = "SELECT virtualtransaction FROM pg_locks WHERE pid = pg_backend_pid() LIMIT 1";
    sqlx::query_scalar(sql).fetch_one(connection).await.unwrap()
}

#[rocket::async_test]
async fn a_database_error_is_classified_by_its_code() {
    let (server, mut other, _database) = served("2s").await;
    other.execute("ALTER TABLE cards RENAME TO gone").await.unwrap();
    let Err(StoreError::Backend { source }) = server.store.card(&"used-card".parse().unwrap()).await else {
        panic!("the table is gone");
    };
    assert!(source.to_string().ends_with("(SQLSTATE 42P01)"), "{source}");
}
