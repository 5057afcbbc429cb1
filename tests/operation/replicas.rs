//! Reads from a replica: a server's own writes always show.

use std::sync::Arc;
use std::time::{Duration, Instant};

use figment::Figment;
use rocket::tokio::time;
use siaga::model::SystemClock;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{OpenStore, StoreSettings};
use sqlx::{Connection, Executor, PgConnection};

use crate::cluster::Cluster;
use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::server::{Server, built, figment};

pub(crate) fn with_replica(primary: &Cluster, replica: &Cluster) -> Figment {
    figment(&primary.url()).merge(("databases.siaga_read.url", replica.url()))
}

pub(crate) async fn connected(cluster: &Cluster) -> PgConnection {
    PgConnection::connect(&cluster.url()).await.unwrap()
}

pub(crate) const AREA: &str = "
    INSERT INTO areas VALUES (5, '', 'RW 05', '', '', 'jbd', 'ID-JK', ST_Multi(ST_MakeEnvelope(0, 0, 1, 1, 4326)))";
const READS: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'siaga_read'";

#[test]
fn reads_go_to_a_replica_that_has_what_the_server_wrote_and_else_to_the_primary() {
    block_on(async {
        let primary = Cluster::new();
        drop(Server::on(&primary.url()).await);
        connected(&primary).await.execute(AREA).await.unwrap();
        let replica = Cluster::replica_of(&primary);
        let server = Server::of(built(with_replica(&primary, &replica)).await.unwrap()).await;
        let mut follower = connected(&replica).await;
        // Another one, whose first read is from the primary, to find out which timeline that is on.
        let other = Server::of(built(with_replica(&primary, &replica)).await.unwrap()).await;
        assert_eq!(other.stored_state(5).await, None);

        // While the replica stands still, what the server has written comes from the primary.
        assert_eq!(server.state(5).await, None);
        follower.execute("SELECT pg_wal_replay_pause()").await.unwrap();
        for state in [1, 4, 2] {
            assert_eq!(server.set(5, state).await, 200);
            assert_eq!(server.state(5).await, Some(state));
        }
        // The other server, which has written nothing, reads the replica as it stands.
        assert_eq!(other.state(5).await, None);
        let reads: i64 = sqlx::query_scalar(READS).fetch_one(&mut follower).await.unwrap();
        assert!(reads >= 1, "the replica is read");

        follower.execute("SELECT pg_wal_replay_resume()").await.unwrap();
        let shown = async || other.state(5).await;
        eventually("the replica follows", LONG, shown, |state| *state == Some(2)).await;

        // A replica that is lost is done without, and taken again when it is back.
        follower.close().await.unwrap();
        replica.stop("immediate");
        for state in [3, 1] {
            assert_eq!(server.set(5, state).await, 200);
            assert_eq!(server.state(5).await, Some(state), "no request is lost by it");
        }

        // One that has crashed comes back as it was before, and stays behind for a while.
        replica.configure("recovery_min_apply_delay = '1min'");
        replica.start();
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(3) {
            assert_eq!(server.stored_state(5).await, Some(1));
            // Now and then: the replica must not be read too early.
            time::sleep(Duration::from_millis(50)).await;
        }
        replica.stop("immediate");
        replica.configure("recovery_min_apply_delay = 0");
        replica.start();
        let mut follower = connected(&replica).await;
        let reads = async || {
            assert_eq!(server.stored_state(5).await, Some(1));
            sqlx::query_scalar::<_, i64>(READS).fetch_one(&mut follower).await.unwrap()
        };
        eventually("the replica is read again", LONG, reads, |reads| *reads >= 1).await;
    });
}

#[test]
fn status_tells_how_far_a_replica_is_behind() {
    block_on(async {
        let upkeep = OpenPostgres.upkeep().unwrap();
        let primary = Cluster::new();
        let settings = |figment: Figment| StoreSettings::new(figment, Arc::new(SystemClock));
        upkeep.migrate(&settings(figment(&primary.url()))).await.unwrap();
        let replica = Cluster::replica_of(&primary);
        let settings_of_both = settings(with_replica(&primary, &replica));
        let behind = || async { upkeep.status(&settings_of_both).await.unwrap().replica.unwrap() };
        connected(&primary).await.execute(AREA).await.unwrap();
        assert!(behind().await.unwrap() < Duration::from_secs(2));

        connected(&replica).await.execute("SELECT pg_wal_replay_pause()").await.unwrap();
        connected(&primary).await.execute("UPDATE areas SET area_name = 'RW 06'").await.unwrap();
        assert!(behind().await.unwrap() >= Duration::from_secs(2));
        connected(&replica).await.execute("SELECT pg_wal_replay_resume()").await.unwrap();
        assert!(behind().await.unwrap() < Duration::from_secs(2));

        replica.stop("fast");
        assert!(behind().await.is_err(), "a replica that is lost is told of, and no failure");
        let itself = settings(with_replica(&primary, &primary));
        let error = upkeep.status(&itself).await.unwrap().replica.unwrap().unwrap_err();
        assert!(error.starts_with("it is no replica"), "{error}");
    });
}
