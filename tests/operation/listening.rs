//! Two servers on one database: what one writes the other shows.

use std::time::{Duration, Instant};

use rocket::tokio::time;
use siaga::conformance::block_on;
use siaga::stores::Resource;
use sqlx::{Connection, Executor, PgConnection};

use crate::postgres::Database;
use crate::proxy::Proxy;
use crate::server::Server;

/// For how long at most a revision may be behind.
const OLDEST: Duration = Duration::from_secs(1);

/// Waits until a server shows the state of an area, which may not take longer than a revision may be behind.
async fn shows(server: &Server, area: u64, state: u64) {
    let written = Instant::now();
    while server.state(area).await != Some(state) {
        assert!(written.elapsed() < OLDEST, "an answer is older than a second");
        time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn what_one_server_writes_it_shows_at_once_and_the_other_when_it_has_heard_of_it() {
    block_on(async {
        let database = Database::with_fixture().await;
        let (one, other) = (Server::on(&database.url()).await, Server::on(&database.url()).await);
        for state in [1, 4, 2, 3] {
            for (writer, reader, area) in [(&one, &other, 10), (&other, &one, 2)] {
                assert_eq!(writer.set(area, state).await, 200);
                assert_eq!(writer.state(area).await, Some(state));
                shows(reader, area, state).await;
            }
        }
    });
}

/// How long after a change by `writer` the other server's revision has grown.
async fn lag(writer: &Server, reader: &Server) -> Duration {
    let before = reader.store.revision(Resource::Floods).await.unwrap();
    assert_eq!(writer.set(1, 2).await, 200);
    let written = Instant::now();
    while reader.store.revision(Resource::Floods).await.unwrap() == before {
        assert!(written.elapsed() < OLDEST, "a revision is older than a second");
        time::sleep(Duration::from_millis(1)).await;
    }
    written.elapsed()
}

#[test]
fn a_change_is_known_to_the_other_server_within_100_milliseconds_at_the_median() {
    block_on(async {
        let database = Database::with_fixture().await;
        let (one, other) = (Server::on(&database.url()).await, Server::on(&database.url()).await);
        // Until both listen.
        time::sleep(Duration::from_millis(500)).await;
        let mut lags = Vec::new();
        for _ in 0..31 {
            lags.push(lag(&one, &other).await);
            // As changes come that do not follow one another in step.
            time::sleep(Duration::from_millis(37)).await;
        }
        lags.sort_unstable();
        assert!(lags[15] < Duration::from_millis(100), "{lags:?}");
    });
}

#[test]
fn no_revision_is_older_than_a_second_while_the_listener_is_killed_again_and_again() {
    block_on(async {
        let database = Database::with_fixture().await;
        let (one, other) = (Server::on(&database.url()).await, Server::on(&database.url()).await);
        let mut killer = PgConnection::connect(&database.url()).await.unwrap();
        for _ in 0..20 {
            killer
                .execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE application_name = 'siaga listener' AND datname = current_database()",
                )
                .await
                .unwrap();
            lag(&one, &other).await;
            assert_eq!(other.state(1).await, Some(2));
            time::sleep(Duration::from_millis(50)).await;
        }
    });
}

#[test]
fn no_revision_is_older_than_a_second_while_the_listener_is_stalled() {
    block_on(async {
        let database = Database::with_fixture().await;
        let proxy = Proxy::before(&database.url());
        let (one, other) =
            (Server::on(&database.url()).await, Server::on(&proxy.through(&database.url())).await);
        time::sleep(Duration::from_millis(500)).await;
        proxy.stall_those_with("siaga listener");
        let stalled = Instant::now();
        while stalled.elapsed() < Duration::from_secs(4) {
            lag(&one, &other).await;
            assert_eq!(other.state(1).await, Some(2));
        }
        proxy.restore();
        // It listens again: the median is that of a hint, not that of a question a second.
        time::sleep(Duration::from_secs(2)).await;
        let listeners: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity
             WHERE application_name = 'siaga listener' AND datname = current_database()",
        )
        .fetch_one(&mut PgConnection::connect(&database.url()).await.unwrap())
        .await
        .unwrap();
        assert_eq!(listeners, 2, "one for each server");
    });
}

#[test]
fn what_is_changed_by_sql_is_a_change_too() {
    block_on(async {
        let database = Database::with_fixture().await;
        let server = Server::on(&database.url()).await;
        let before = server.store.revision(Resource::Floods).await.unwrap();
        let (_, map) = server.get("/v1/floods").await;
        let mut editor = PgConnection::connect(&database.url()).await.unwrap();
        editor
            .execute("UPDATE areas SET outline = ST_Translate(outline, 0.5, 0), area_name = 'RW 99' WHERE area_id = 2")
            .await
            .unwrap();
        let written = Instant::now();
        let edited = loop {
            let (_, edited) = server.get("/v1/floods").await;
            if edited != map {
                break edited;
            }
            assert!(written.elapsed() < OLDEST, "an answer is older than a second");
            time::sleep(Duration::from_millis(10)).await;
        };
        assert!(edited.to_string().contains("RW 99"));
        assert!(server.store.revision(Resource::Floods).await.unwrap() > before);
    });
}

#[test]
fn a_truncated_table_is_a_change_too() {
    block_on(async {
        let database = Database::with_fixture().await;
        let server = Server::on(&database.url()).await;
        let mut editor = PgConnection::connect(&database.url()).await.unwrap();
        let gauges = |server: &Server| {
            let store = std::sync::Arc::clone(&server.store);
            async move { store.revision(Resource::Gauges).await.unwrap() }
        };
        let before = gauges(&server).await;
        editor.execute("TRUNCATE gauge_readings").await.unwrap();
        time::sleep(OLDEST).await;
        assert!(gauges(&server).await > before);
    });
}

#[test]
fn places_that_go_back_to_an_older_revision_are_read_anew() {
    block_on(async {
        let database = Database::with_fixture().await;
        let server = Server::on(&database.url()).await;
        let mut editor = PgConnection::connect(&database.url()).await.unwrap();
        editor.execute("UPDATE areas SET area_name = 'RW 99' WHERE area_id = 2").await.unwrap();
        assert!(server.get("/v1/floods").await.1.to_string().contains("RW 99"));
        // As a restored backup of the time before has it.
        editor
            .execute(
                "UPDATE areas SET area_name = 'RW 02' WHERE area_id = 2;
                 UPDATE revisions SET changes = 0 WHERE resource = 'places' AND shard < 32",
            )
            .await
            .unwrap();
        let post = serde_json::json!({
            "post_id": 1, "created_at": "2016-12-19T15:00:00Z", "partner_city": "bandung", "disaster_type": "flood",
            "location": { "lat": -6.2, "lng": 106.8 },
        });
        let key = rocket::http::Header::new("X-Api-Key", crate::server::KEY);
        let posted =
            server.client.post("/v1/feeds/partner").header(key).body(post.to_string()).dispatch().await;
        assert_eq!(posted.status().code, 200);
        assert!(server.get("/v1/floods").await.1.to_string().contains("RW 02"));
    });
}

#[test]
fn a_role_that_may_edit_gains_nothing_by_the_counting() {
    block_on(async {
        let database = Database::with_fixture().await;
        let mut owner = PgConnection::connect(&database.url()).await.unwrap();
        // Roles are the cluster's: this one is of this database's test alone.
        let before = counted(&mut owner).await;
        let editor = format!("editor_of_{}", std::process::id());
        let sql = |text: &str| sqlx::AssertSqlSafe(text.replace("EDITOR", &editor));
        owner
            .execute(sql("CREATE ROLE EDITOR; GRANT SELECT, UPDATE ON areas TO EDITOR; SET ROLE EDITOR"))
            .await
            .unwrap();
        // A table of the editor's own, found before the counters, would be changed with their owner's rights.
        owner
            .execute(sql("CREATE TEMPORARY TABLE revisions (resource text, shard smallint, changes bigint);
                 UPDATE areas SET area_name = 'RW 99' WHERE area_id = 2"))
            .await
            .unwrap();
        let counting = "CREATE TEMPORARY TABLE bait (); CREATE TRIGGER trap AFTER TRUNCATE ON bait
             EXECUTE FUNCTION public.count_change('places')";
        let error = owner.execute(counting).await.unwrap_err().to_string();
        assert!(error.contains("permission denied for function public.count_change"), "{error}");
        owner.execute("RESET ROLE").await.unwrap();
        assert_eq!(counted(&mut owner).await, before + 1, "the edit is counted where servers look");
        owner.execute(sql("DROP OWNED BY EDITOR; DROP ROLE EDITOR")).await.unwrap();
    });
}

/// How often the places have changed, by the counters.
async fn counted(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar("SELECT sum(changes)::bigint FROM public.revisions WHERE resource = 'places'")
        .fetch_one(connection)
        .await
        .unwrap()
}
