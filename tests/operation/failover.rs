//! A primary that is lost or demoted, and a standby that takes its place: the servers go on without a restart.

use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{Executor, PgConnection};

use crate::cluster::{Cluster, url_of};
use crate::crashes::{Acknowledged, ask, check, prepare, start, under_load};
use crate::eventually::{LONG, eventually, eventually_blocking};
use crate::fixture::block_on;
use crate::proxy::Proxy;
use crate::replicas::connected;
use crate::server::{Server, built, figment};

/// How soon after the promotion writes succeed.
const SOON: Duration = Duration::from_secs(5);
const LOG_OF_ANOTHER_HOST: &str = "the database is written to at another host now";

/// A primary with a schema and areas.
async fn primary() -> Cluster {
    let primary = Cluster::new();
    drop(Server::on(&primary.url()).await);
    prepare(&primary).await;
    primary
}

/// Sets area 5 to state 2 until that succeeds, which it must soon.
async fn writes_succeed(server: &Server) {
    let status = async || server.set(5, 2).await;
    eventually("a write succeeds", SOON, status, |status| *status == 200).await;
}

/// A primary with a schema and areas, and a standby that has each write before it is acknowledged.
async fn primary_and_standby() -> (Cluster, Cluster) {
    let primary = primary().await;
    let standby = Cluster::replica_of(&primary);
    // Set after the copy was made, so that the standby does not wait for one of its own when it is promoted.
    let mut connection = connected(&primary).await;
    connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'").await.unwrap();
    connection.execute("SELECT pg_reload_conf()").await.unwrap();
    let synchronous = async || {
        let sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut connection).await.unwrap()
    };
    eventually("the standby is synchronous", LONG, synchronous, |count| *count == 1).await;
    (primary, standby)
}

#[test]
fn nothing_acknowledged_is_lost_when_the_primary_crashes_under_load_and_its_standby_is_promoted() {
    let (primary, standby) = block_on(primary_and_standby());
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    let service = start(&url_of(&[&primary, &standby]));
    let mut back = Duration::MAX;
    let statuses = under_load(&service.authority, &next, &noted, || {
        noted.grow_by(100);
        primary.stop("immediate");
        // An operator needs some time to notice.
        thread::sleep(Duration::from_millis(500));
        standby.promote();
        let promoted = Instant::now();
        let state = json!({ "state": 1 });
        let status = || ask(&service.authority, "PUT", "/v1/floods/1", &state).map(|(status, _)| status);
        eventually_blocking("a write succeeds", SOON, status, |status| *status == Some(200));
        back = promoted.elapsed();
        noted.grow_by(100);
    });
    println!("back after {back:?}, {} writes acknowledged", noted.count());
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    block_on(check(&standby, &noted));
    let log = service.kill();
    assert_eq!(log.matches(LOG_OF_ANOTHER_HOST).count(), 1, "{log}");
}

#[test]
fn a_primary_that_is_demoted_without_a_restart_is_left_for_the_promoted_standby() {
    block_on(async {
        let (primary, standby) = primary_and_standby().await;
        let server = Server::on(&url_of(&[&primary, &standby])).await;
        assert_eq!(server.set(5, 1).await, 200);
        let mut demoted = connected(&primary).await;
        demoted.execute("ALTER SYSTEM SET default_transaction_read_only = on").await.unwrap();
        demoted.execute("SELECT pg_reload_conf()").await.unwrap();
        standby.promote();
        writes_succeed(&server).await;
        assert_eq!(server.state(5).await, Some(2));
        let mut other = connected(&standby).await;
        let state: i16 = sqlx::query_scalar("SELECT state FROM flood_states WHERE area_id = 5")
            .fetch_one(&mut other)
            .await
            .unwrap();
        assert_eq!(state, 2);
    });
}

#[test]
fn a_start_finds_the_host_that_accepts_writes_wherever_it_is_named() {
    block_on(async {
        let (primary, standby) = primary_and_standby().await;
        for hosts in [[&standby, &primary], [&primary, &standby]] {
            let server = Server::on(&url_of(&hosts)).await;
            assert_eq!(server.set(5, 1).await, 200);
        }
        primary.stop("fast");
        let only_standby = built(figment(&url_of(&[&primary, &standby]))).await.unwrap_err().to_string();
        assert!(only_standby.contains("the server accepts no writes"), "{only_standby}");
    });
}

/// Waits until a replica has all that its primary has now.
async fn caught_up(primary: &Cluster, replica: &Cluster) {
    let position: String = sqlx::query_scalar("SELECT pg_current_wal_flush_lsn()::text")
        .fetch_one(&mut connected(primary).await)
        .await
        .unwrap();
    let mut replica = connected(replica).await;
    let replayed = async || {
        let sql = "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)";
        sqlx::query_scalar::<_, bool>(sql).bind(&position).fetch_one(&mut replica).await.unwrap()
    };
    eventually("the replica follows", LONG, replayed, |replayed| *replayed).await;
}

/// Waits until a server reads from the replica that `follower` is connected to.
async fn reads_from(server: &Server, follower: &mut PgConnection) {
    let answered = "
        SELECT count(*) FROM pg_stat_activity
        WHERE application_name = 'siaga_read' AND query LIKE '%flood_states%' AND query_start > $1";
    let reading = async || {
        let asked: DateTime<Utc> =
            sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(&mut *follower).await.unwrap();
        server.stored_state(5).await;
        sqlx::query_scalar::<_, i64>(answered).bind(asked).fetch_one(&mut *follower).await.unwrap()
    };
    eventually("the replica is read", LONG, reading, |answered| *answered > 0).await;
}

/// A server that writes to the first two of these and reads from the third.
async fn reading(primary: &Cluster, standby: &Cluster, replica: &Cluster) -> Server {
    let figment = figment(&url_of(&[primary, standby])).merge(("databases.siaga_read.url", replica.url()));
    Server::of(built(figment).await.unwrap()).await
}

#[test]
fn a_replica_that_has_more_of_the_lost_primary_than_the_promoted_standby_is_not_read() {
    block_on(async {
        let primary = primary().await;
        let (standby, replica) = (Cluster::replica_of(&primary), Cluster::replica_of(&primary));
        let server = reading(&primary, &standby, &replica).await;
        assert_eq!(server.set(5, 1).await, 200);
        caught_up(&primary, &standby).await;
        standby.stop("fast");
        // A write that the standby does not get, and so much after it that the standby stays behind for long.
        assert_eq!(server.set(5, 3).await, 200);
        let filler = "SELECT pg_logical_emit_message(false, 'filler', repeat('x', 10000000))";
        connected(&primary).await.execute(filler).await.unwrap();
        caught_up(&primary, &replica).await;
        assert_eq!(server.stored_state(5).await, Some(3));

        primary.stop("immediate");
        standby.start();
        standby.promote();
        writes_succeed(&server).await;
        for _ in 0..20 {
            assert_eq!(server.stored_state(5).await, Some(2));
        }
        // Nor is it by a server that was started later and has written nothing.
        let later = reading(&primary, &standby, &replica).await;
        assert_eq!(later.stored_state(5).await, Some(2));
    });
}

#[test]
fn a_replica_that_follows_the_promoted_standby_is_read_again() {
    block_on(async {
        let primary = primary().await;
        let (standby, replica) = (Cluster::replica_of(&primary), Cluster::replica_of(&primary));
        let server = reading(&primary, &standby, &replica).await;
        assert_eq!(server.set(5, 1).await, 200);
        caught_up(&primary, &standby).await;
        primary.stop("immediate");
        standby.promote();
        let mut follower = connected(&replica).await;
        let follow = format!("ALTER SYSTEM SET primary_conninfo = '{}'", standby.url());
        follower.execute(sqlx::AssertSqlSafe(follow)).await.unwrap();
        follower.execute("SELECT pg_reload_conf()").await.unwrap();
        writes_succeed(&server).await;
        assert_eq!(server.stored_state(5).await, Some(2));
        caught_up(&standby, &replica).await;
        reads_from(&server, &mut follower).await;
        assert_eq!(server.stored_state(5).await, Some(2));

        // What another server writes while the replica stands still does not show: it is the replica that is read.
        follower.execute("SELECT pg_wal_replay_pause()").await.unwrap();
        let other = Server::on(&standby.url()).await;
        assert_eq!(other.set(5, 4).await, 200);
        assert_eq!(other.stored_state(5).await, Some(4));
        // On a busy machine the replica may respond too late once: the server then does not use it for a second.
        let stored = async || server.stored_state(5).await;
        eventually("what the replica has is read", LONG, stored, |state| *state == Some(2)).await;
    });
}

#[test]
fn a_primary_that_answers_nothing_any_more_is_left_for_the_promoted_standby() {
    block_on(async {
        let primary = primary().await;
        let standby = Cluster::replica_of(&primary);
        let proxy = Proxy::before(&primary.url());
        let through = proxy.through(&primary.url());
        let at = |url: &str| url.split(['@', '/']).nth(3).unwrap().to_owned();
        let url = through.replace(&at(&through), &format!("{},{}", at(&through), at(&standby.url())));
        let server = Server::on(&url).await;
        assert_eq!(server.set(5, 1).await, 200);
        caught_up(&primary, &standby).await;
        proxy.stall();
        standby.promote();
        writes_succeed(&server).await;
        assert_eq!(server.state(5).await, Some(2));
    });
}
