//! Two servers on one database: notifications of changes.

use std::time::{Duration, Instant};

use siaga::stores::Resource;
use sqlx::{Connection, Executor, PgConnection};

use crate::eventually::{LONG, eventually};
use crate::health::until;
use crate::postgres::Database;
use crate::proxy::Proxy;
use crate::server::Server;

/// Maximum age of a revision.
const OLDEST: Duration = Duration::from_secs(1);

/// Waits for a number of listeners.
async fn until_listeners(connection: &mut PgConnection, expected: i64) {
    let sql = "SELECT count(*) FROM pg_stat_activity
        WHERE application_name = 'siaga listener' AND datname = current_database()";
    let listeners = async || sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut *connection).await.unwrap();
    eventually("each server has one listener", LONG, listeners, |listeners| *listeners == expected).await;
}

#[rocket::async_test]
async fn no_revision_is_older_than_a_second_while_the_listener_is_killed_again_and_again() {
    let database = Database::with_fixture().await;
    let (one, other) = (Server::on(&database.url()).await, Server::on(&database.url()).await);
    let mut killer = PgConnection::connect(&database.url()).await.unwrap();
    for _ in 0..10 {
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'siaga listener' AND datname = current_database()";
        killer.execute(kill).await.unwrap();
        lag(&one, &other).await;
        assert_eq!(other.state(1).await, Some(2));
        until_listeners(&mut killer, 2).await;
    }
}

#[rocket::async_test]
async fn no_revision_is_older_than_a_second_while_the_listener_is_stalled() {
    let database = Database::with_fixture().await;
    let proxy = Proxy::before(&database.url());
    let (one, other) = (Server::on(&database.url()).await, Server::on(&proxy.through(&database.url())).await);
    until(&other, "ready").await;
    proxy.stall_matching("siaga listener");
    let stalled = Instant::now();
    while stalled.elapsed() < Duration::from_secs(4) {
        lag(&one, &other).await;
        assert_eq!(other.state(1).await, Some(2));
    }
    proxy.restore();
    until(&other, "ready").await;
    until_listeners(&mut PgConnection::connect(&database.url()).await.unwrap(), 2).await;
}

#[rocket::async_test]
async fn a_change_by_sql_increments_the_revision() {
    let database = Database::with_fixture().await;
    let server = Server::on(&database.url()).await;
    let mut editor = PgConnection::connect(&database.url()).await.unwrap();
    for (resource, edit) in [
        (
            Resource::Floods,
            "UPDATE areas SET outline = ST_Translate(outline, 0.5, 0), area_name = 'RW 99' WHERE area_id = 2",
        ),
        (Resource::Gauges, "TRUNCATE gauge_readings"),
    ] {
        let revision = async || server.store.revision(resource).await.unwrap();
        let before = revision().await;
        editor.execute(edit).await.unwrap();
        eventually("no revision is older than a second", OLDEST, revision, |known| *known > before).await;
    }
    assert!(server.get("/v1/floods").await.1.to_string().contains("RW 99"));
}

/// The time from a change by `writer` until `reader` has a new revision.
async fn lag(writer: &Server, reader: &Server) -> Duration {
    let before = reader.store.revision(Resource::Floods).await.unwrap();
    assert_eq!(writer.set(1, 2).await, 200);
    let written = Instant::now();
    let known = async || reader.store.revision(Resource::Floods).await.unwrap();
    eventually("no revision is older than a second", OLDEST, known, |known| *known != before).await;
    written.elapsed()
}

#[rocket::async_test]
async fn the_other_server_sees_a_change_by_notification_without_polling() {
    /// The polling interval of a server without notifications.
    const POLLING: Duration = Duration::from_millis(300);
    let database = Database::with_fixture().await;
    let (one, other) = (Server::on(&database.url()).await, Server::on(&database.url()).await);
    until(&one, "ready").await;
    until(&other, "ready").await;
    // From here on each change follows right after a poll, so polling would find it almost 300 ms later.
    // On a busy machine a few notifications take that long, but not all.
    lag(&one, &other).await;
    let mut lags = Vec::new();
    for _ in 0..8 {
        lags.push(lag(&one, &other).await);
    }
    let quick = lags.iter().filter(|lag| **lag < POLLING / 2).count();
    assert!(quick > lags.len() / 2, "{lags:?}");
}

#[rocket::async_test]
async fn places_that_return_to_an_older_revision_are_reloaded() {
    let database = Database::with_fixture().await;
    let server = Server::on(&database.url()).await;
    let mut editor = PgConnection::connect(&database.url()).await.unwrap();
    editor.execute("UPDATE areas SET area_name = 'RW 99' WHERE area_id = 2").await.unwrap();
    assert!(server.get("/v1/floods").await.1.to_string().contains("RW 99"));
    // As after the restore of an older backup.
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
    let posted = server.client.post("/v1/feeds/partner").header(key).body(post.to_string()).dispatch().await;
    assert_eq!(posted.status().code, 200);
    assert!(server.get("/v1/floods").await.1.to_string().contains("RW 02"));
}

#[rocket::async_test]
async fn the_revision_trigger_gives_an_editing_role_no_further_rights() {
    let database = Database::with_fixture().await;
    let mut owner = PgConnection::connect(&database.url()).await.unwrap();
    // Roles belong to the cluster, so the name is unique to this process.
    let before = counted(&mut owner).await;
    let editor = format!("editor_of_{}", std::process::id());
    let sql = |text: &str| sqlx::AssertSqlSafe(text.replace("EDITOR", &editor));
    owner
        .execute(sql("CREATE ROLE EDITOR; GRANT SELECT, UPDATE ON areas TO EDITOR; SET ROLE EDITOR"))
        .await
        .unwrap();
    // A temporary table that shadows the counters would be changed with their owner's rights.
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
}

async fn counted(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar("SELECT sum(changes)::bigint FROM public.revisions WHERE resource = 'places'")
        .fetch_one(connection)
        .await
        .unwrap()
}
