//! How many connections to its database a server has, and for how long.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use figment::Figment;
use rocket::futures::future::join_all;
use rocket::tokio::time;
use siaga::conformance::block_on;
use sqlx::{Connection, Executor, PgConnection};

use crate::postgres::Database;
use crate::server::{Server, built, figment};

/// The server's connections for requests, among those to this database.
const SESSIONS: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'siaga'";

async fn sessions(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar(SESSIONS).fetch_one(connection).await.unwrap()
}

/// Waits until there are so many connections.
async fn until(connection: &mut PgConnection, expected: i64) {
    let since = Instant::now();
    loop {
        let found = sessions(connection).await;
        if found == expected {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(10), "{found}, not {expected}");
        time::sleep(Duration::from_millis(20)).await;
    }
}

async fn server(database: &Database, settings: &[(&str, u32)]) -> Server {
    let figment = settings.iter().fold(figment(&database.url()), |figment, (key, number)| {
        figment.merge((format!("databases.siaga.{key}"), *number))
    });
    // Reads are answered by the database alone.
    Server::of(built(figment.merge(("siaga.cache.size", 0))).await.unwrap()).await
}

#[test]
fn a_server_has_as_many_connections_as_it_may_and_no_more() {
    block_on(async {
        for most in [2, 5] {
            let database = Database::with_fixture().await;
            let mut other = PgConnection::connect(&database.url()).await.unwrap();
            let server = server(&database, &[("max_connections", most)]).await;
            // Nobody is answered while the table is locked, for which every connection is taken.
            let mut transaction = other.begin().await.unwrap();
            transaction.execute("LOCK TABLE reports IN ACCESS EXCLUSIVE MODE").await.unwrap();
            let asked = (1..=8).map(|seconds| {
                let target = format!("/v1/reports?timeperiod={seconds}");
                let server = &server;
                async move { server.get(&target).await }
            });
            let watched = async {
                let mut seen = 0;
                let since = Instant::now();
                while since.elapsed() < Duration::from_millis(400) {
                    seen = sessions(&mut transaction).await.max(seen);
                    time::sleep(Duration::from_millis(20)).await;
                }
                transaction.rollback().await.unwrap();
                seen
            };
            let (_, seen) = rocket::futures::future::join(join_all(asked), watched).await;
            assert_eq!(seen, i64::from(most));
        }
    });
}

#[test]
fn connections_are_kept_that_nobody_needs_and_closed_when_they_are_too_many() {
    block_on(async {
        let database = Database::with_fixture().await;
        let mut other = PgConnection::connect(&database.url()).await.unwrap();
        let server = server(&database, &[("min_connections", 3), ("idle_timeout", 1)]).await;
        until(&mut other, 3).await;
        let asked = (1..=8).map(|seconds| {
            let target = format!("/v1/reports?timeperiod={seconds}");
            let server = &server;
            async move { server.get(&target).await.0 }
        });
        assert_eq!(join_all(asked).await, [200; 8]);
        until(&mut other, 3).await;
    });
    block_on(async {
        let database = Database::with_fixture().await;
        let mut other = PgConnection::connect(&database.url()).await.unwrap();
        let server = server(&database, &[("idle_timeout", 1)]).await;
        assert_eq!(server.get("/v1/reports").await.0, 200);
        until(&mut other, 0).await;
    });
}

/// How long a start takes to fail on a database that accepts connections and says nothing.
async fn patience(figment: impl FnOnce(Figment) -> Figment) -> Duration {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://siaga@{}/siaga", silent.local_addr().unwrap());
    let begun = Instant::now();
    assert!(built(figment(crate::server::figment(&url))).await.is_err());
    begun.elapsed()
}

#[test]
fn a_connection_is_waited_for_as_long_as_configured_and_never_beyond_the_limit_of_the_service() {
    block_on(async {
        let configured = patience(|figment| {
            figment.merge(("databases.siaga.connect_timeout", 1)).merge(("siaga.limits.timeout", "20s"))
        });
        let configured = configured.await;
        assert!((1..4).contains(&configured.as_secs()), "{configured:?}");
        let limited = patience(|figment| {
            figment.merge(("databases.siaga.connect_timeout", 20)).merge(("siaga.limits.timeout", "1s"))
        });
        let limited = limited.await;
        assert!((1..4).contains(&limited.as_secs()), "{limited:?}");
    });
}
