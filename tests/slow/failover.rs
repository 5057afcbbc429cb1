//! Failover from a lost or demoted primary to a standby, without a restart of the servers.

use std::thread;
use std::time::Duration;

use sqlx::Executor;

use crate::cluster::{Cluster, url_of};
use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::proxy::Proxy;
use crate::server::{Server, build, figment};
use crate::service_config::add_areas;

/// Limit until writes succeed after the promotion.
const SOON: Duration = Duration::from_secs(5);

/// A primary with a schema and areas.
fn primary() -> Cluster {
    let primary = Cluster::new();
    thread::scope(|scope| scope.spawn(|| add_areas(&primary.url())).join().unwrap());
    primary
}

/// Sets area 5 to state 2 until it succeeds, within the limit.
async fn writes_succeed(server: &Server) {
    let status = async || server.set(5, 2).await;
    eventually("a write succeeds", SOON, status, |status| *status == 200).await;
    assert_eq!(server.state(5).await, Some(2));
}

/// A primary with a schema and areas, and a synchronous standby.
pub(crate) async fn primary_and_standby() -> (Cluster, Cluster) {
    let primary = primary();
    let standby = Cluster::standby_of(&primary);
    // Set after the base backup, so that the promoted standby does not wait for a standby itself.
    let mut connection = primary.connected().await;
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
fn servers_switch_from_a_primary_demoted_without_a_restart_to_the_promoted_standby() {
    block_on(async {
        let (primary, standby) = primary_and_standby().await;
        let server = Server::on(&url_of(&[&primary, &standby])).await;
        assert_eq!(server.set(5, 1).await, 200);
        let mut demoted = primary.connected().await;
        demoted.execute("ALTER SYSTEM SET default_transaction_read_only = on").await.unwrap();
        demoted.execute("SELECT pg_reload_conf()").await.unwrap();
        standby.promote();
        writes_succeed(&server).await;
        let stored = sqlx::query_scalar("SELECT state FROM flood_states WHERE area_id = 5");
        let stored: i16 = stored.fetch_one(&mut standby.connected().await).await.unwrap();
        assert_eq!(stored, 2);
    });
}

#[test]
fn startup_finds_the_host_that_accepts_writes_at_any_position_of_the_list() {
    block_on(async {
        let (primary, standby) = primary_and_standby().await;
        for hosts in [[&standby, &primary], [&primary, &standby]] {
            let server = Server::on(&url_of(&hosts)).await;
            assert_eq!(server.set(5, 1).await, 200);
        }
        primary.stop("fast");
        let only_standby = build(figment(&url_of(&[&primary, &standby]))).await.unwrap_err().to_string();
        assert!(only_standby.contains("the server accepts no writes"), "{only_standby}");
    });
}

/// Waits until a standby has caught up with its primary.
async fn caught_up(primary: &Cluster, standby: &Cluster) {
    let position = sqlx::query_scalar("SELECT pg_current_wal_flush_lsn()::text");
    let position: String = position.fetch_one(&mut primary.connected().await).await.unwrap();
    let mut standby = standby.connected().await;
    let replayed = async || {
        let sql = "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)";
        sqlx::query_scalar::<_, bool>(sql).bind(&position).fetch_one(&mut standby).await.unwrap()
    };
    eventually("the standby follows", LONG, replayed, |replayed| *replayed).await;
}

#[test]
fn servers_switch_from_a_hanging_primary_to_the_promoted_standby() {
    block_on(async {
        let primary = primary();
        let standby = Cluster::standby_of(&primary);
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
    });
}
