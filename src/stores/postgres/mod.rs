//! The store in `PostgreSQL` with `PostGIS`: kept, and shared by any number of servers.
//!
//! Every rule is a statement of its own, and the schema's constraints make wrong states impossible (`migrations/`).
//! What the database holds is read with its revision in one statement, and so of one snapshot. Outlines, which hardly
//! ever change, are kept at hand and read anew when their revision has grown.

mod batch;
mod cards;
mod changes;
mod connections;
mod error;
mod flood_orders;
mod floods;
mod gauges;
mod images;
mod keys;
mod link;
mod open;
mod partner_posts;
mod places;
mod pool;
mod readiness;
mod reports;
mod revision;
mod schema;
mod settings;
mod transfer;
mod values;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use self::batch::Batches;
use self::changes::{Changes, name};
use self::connections::Connections;
use self::flood_orders::FloodOrders;
pub use self::open::OpenPostgres;
use self::partner_posts::PartnerPosts;
use self::places::PlacesCache;
pub use self::pool::{PoolError, PostgresPool, Primary, Replica};
use self::revision::revision;
pub use self::schema::SchemaError;
pub use self::settings::Settings;
use super::{Check, PoolUse, Resource, Revision, Store, StoreError, StoreTime};
use crate::model::Clock;

/// A [`Store`] in a `PostgreSQL` database.
pub struct PostgresStore {
    address: String,
    connections: Arc<Connections>,
    places: Arc<PlacesCache>,
    flood_orders: Batches<FloodOrders>,
    partner_posts: Batches<PartnerPosts>,
    changes: Changes,
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

#[async_trait]
impl Store for PostgresStore {
    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        const ONE: &str = "SELECT revision FROM current_revisions WHERE resource = $1";
        if let Some(revision) = self.changes.revision(resource) {
            return Ok(revision);
        }
        let rows: Vec<(i64,)> =
            self.connections.read_primary(sqlx::query_as(ONE).bind(name(resource))).await?;
        Ok(rows.first().map_or(Revision(0), |&(of,)| revision(of)))
    }
    async fn readiness(&self) -> Vec<Check> {
        readiness::checks(&self.connections, &self.changes).await
    }

    fn pools(&self) -> Vec<PoolUse> {
        self.connections.pools()
    }

    fn time(&self) -> Option<StoreTime> {
        Some(self.connections.time())
    }

    async fn close(&self) {
        self.changes.end();
        self.connections.close().await;
    }
}
