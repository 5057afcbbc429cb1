use std::error::Error;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection};
use tokio::sync::Mutex;
use tokio::time;

use super::connections::Connections;
use super::listener::Listener;
use super::schema;
use crate::model::{Clock, SystemClock, Timestamp};
use crate::stores::{Check, StoreError};

/// Readiness checks. They use their own connection, so they do not wait for other operations or for locks.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    connection: Mutex<Option<PgConnection>>,
}

const NAME: &str = "siaga health";
/// How long the database may take to respond; less over a reused connection, which may be lost.
const TIMEOUT: Duration = Duration::from_secs(2);
const REUSE_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(2);

impl Readiness {
    /// Checks that the database responds and the listener is current, and checks the schema and the clock.
    pub(super) async fn checks(&self, connections: &Connections, listener: &Listener) -> Vec<Check> {
        let mut probed = None;
        let store = Check::run("store", "the database does not respond", async {
            probed = match time::timeout(TIMEOUT, self.probe(connections)).await {
                Ok(Ok(probed)) => Some(probed),
                Ok(Err(error)) => {
                    tracing::debug!(error = &error as &dyn Error, "the database is not ready");
                    None
                }
                Err(_elapsed) => None,
            };
            probed.ok_or(())
        });
        let store = store.await;
        let failure = match probed {
            None => Some("unknown while the database does not respond"),
            Some(Probe { applied, .. }) if applied < schema::needed() => {
                Some("the schema is older than this version needs: run `siaga migrate`")
            }
            // A newer server may have migrated the database: running servers continue with the newer schema.
            Some(_) => None,
        };
        let migrations = Check { name: "migrations", required: true, failure, took: store.took };
        // Each server uses its own clock to send alerts and to let them expire.
        let clock_skew = probed.is_some_and(|probed| probed.clock_skew > MAX_CLOCK_SKEW);
        let failure = clock_skew.then_some(
            "the clocks of this server and of the database differ by more than 2 s: synchronize them",
        );
        let clock = Check { name: "clock", required: false, failure, took: store.took };
        let listener = Check::run("listener", "the revisions are not known at present", async {
            // Just after startup, the listener is not current for a moment.
            for _ in 0..4 {
                if listener.is_current() {
                    break;
                }
                time::sleep(Duration::from_millis(50)).await;
            }
            listener.is_current().then_some(()).ok_or(())
        });
        // Optional: without the listener, the revisions are read from the database.
        vec![store, migrations, clock, listener.await.optional()]
    }

    /// Probes the database over the connection of the last check, or over a new one if that fails.
    async fn probe(&self, connections: &Connections) -> Result<Probe, StoreError> {
        let mut reused = self.connection.lock().await;
        if let Some(mut connection) = reused.take()
            && let Ok(Ok(probed)) = time::timeout(REUSE_TIMEOUT, probe(&mut connection)).await
        {
            *reused = Some(connection);
            return Ok(probed);
        }
        let mut connection = connections.connect(NAME).await?;
        let probed = probe(&mut connection).await?;
        *reused = Some(connection);
        Ok(probed)
    }

    pub(super) async fn close(&self) {
        if let Some(connection) = self.connection.lock().await.take() {
            let _ = time::timeout(REUSE_TIMEOUT, connection.close()).await;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    applied: usize,
    /// The minimum difference between the clocks of this server and of the database.
    clock_skew: Duration,
}

async fn probe(connection: &mut PgConnection) -> Result<Probe, sqlx::Error> {
    let before = SystemClock.now();
    let (count, at): (i64, DateTime<Utc>) = sqlx::query_as(schema::SUCCEEDED).fetch_one(connection).await?;
    let clock_skew = clock_skew(at.into(), before, SystemClock.now());
    Ok(Probe { applied: usize::try_from(count).unwrap_or(0), clock_skew })
}

/// Returns how far a time lies outside the interval in which it was requested.
fn clock_skew(moment: Timestamp, before: Timestamp, after: Timestamp) -> Duration {
    before.saturating_duration_since(moment).max(moment.saturating_duration_since(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_response_is_not_clock_skew() {
        let at = |seconds| Timestamp::EPOCH.saturating_add(Duration::from_secs(seconds));
        for (moment, expected) in [(10, 0), (15, 0), (20, 0), (7, 3), (24, 4)] {
            assert_eq!(clock_skew(at(moment), at(10), at(20)), Duration::from_secs(expected), "{moment}");
        }
    }
}
