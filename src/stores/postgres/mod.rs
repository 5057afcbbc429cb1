//! The store in `PostgreSQL` with `PostGIS`: persistent, and shared by any number of servers.
//!
//! One statement, or a constraint of the schema (`migrations/`), enforces each rule. One statement reads data together with its
//! revision, so both are from one snapshot. Geometry rarely changes, so servers cache it until its revision grows.

mod cards;
mod columns;
mod connections;
mod error;
mod fair_semaphore;
mod flood_batches;
mod floods;
mod gauges;
mod hosts;
mod images;
mod keys;
mod limits;
mod link;
mod listener;
mod moderation;
mod open;
mod overview;
mod partner_posts;
mod places;
mod pool;
mod push;
mod readiness;
mod reports;
mod revision;
mod rows;
mod schema;
mod settings;
mod single_flight;
mod sources;
mod statement;
mod status;
mod transfer;
mod values;
mod waiting;
mod webhooks;

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::TryFutureExt;

use self::connections::Connections;
pub use self::error::described;
use self::listener::{Listener, REVISIONS, Revisions, resource_name, revisions};
pub use self::open::OpenPostgres;
use self::places::PlacesCache;
pub use self::pool::PoolError;
pub use self::pool::{PostgresPool, Primary};
use self::readiness::Readiness;
pub(crate) use self::schema::SchemaError;
pub(crate) use self::settings::Settings;
use self::single_flight::SingleFlight;
use super::{
    Check, Overview, Resource, Revision, ServiceState, ServiceStore, Store, StoreError, from_shared,
};
use crate::model::Clock;

/// Identifies the sequence of revisions. Changes after a failover, a point-in-time restore or a restore from a dump.
const EPOCH: &str = "
    SELECT hashtextextended(concat_ws(' ', system_identifier, timeline_id, 'revisions'::regclass::oid), 0)
    FROM pg_control_system(), pg_control_checkpoint()";

pub(crate) struct PostgresStore {
    address: String,
    connections: Arc<Connections>,
    places: Arc<PlacesCache>,
    listener: Listener,
    /// Reads the revisions from the database while the listener's revisions are not current.
    revisions: SingleFlight<Result<Arc<Revisions>, Arc<StoreError>>>,
    readiness: Readiness,
    /// Keys of the unreadable reports that the last erasure logged.
    unreadable: Mutex<Vec<i64>>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("address", &self.address).finish_non_exhaustive()
    }
}

impl fmt::Display for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database {}", self.address)
    }
}

impl PostgresStore {
    /// Returns the listener's revision if it is current, otherwise the revision in the database; 0 if there is none.
    async fn revision_by_name(&self, name: &str) -> Result<Revision, StoreError> {
        if let Some(revision) = self.listener.revision(name) {
            return Ok(revision);
        }
        let revisions =
            self.connections.fail_fast(self.connections.retry_locked(|| self.query_revisions())).await?;
        Ok(revisions.get(name).copied().unwrap_or(Revision(0)))
    }

    /// Reads the revisions. Callers that arrive while a query runs share the next one, so each result includes all writes
    /// acknowledged before the call.
    async fn query_revisions(&self) -> Result<Arc<Revisions>, StoreError> {
        let query = async {
            let rows = self.connections.fetch(sqlx::query_as(REVISIONS)).await?;
            Ok(Arc::new(revisions(rows)))
        };
        let outcome = self.revisions.run(Box::pin(query.map_err(Arc::new))).await;
        outcome.map_err(from_shared)
    }
}

impl ServiceStore for PostgresStore {
    /// Returns `None`: the state is in tables, and this store implements every trait that would otherwise need this state.
    fn service_state(&self) -> Option<&ServiceState> {
        None
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn enforces_limits(&self) -> bool {
        true
    }

    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        self.revision_by_name(resource_name(resource)).await
    }

    async fn epoch(&self) -> Result<Option<u64>, StoreError> {
        let (epoch,): (i64,) = self.connections.read(sqlx::query_as(EPOCH)).await?[0];
        Ok(Some(epoch.cast_unsigned()))
    }

    async fn readiness(&self) -> Vec<Check> {
        self.readiness.checks(&self.connections, &self.listener).await
    }

    async fn overview(&self) -> Result<Option<Overview>, StoreError> {
        self.read_overview().await.map(Some)
    }

    async fn close(&self) {
        self.listener.stop();
        self.readiness.close().await;
        self.connections.close().await;
    }
}
