//! Storage: the [`Store`] trait, its parts by resource, and the built-in stores.
//!
//! # Adding a store
//!
//! Implement [`Store`], or a [`Decorator`] that wraps another store. Register an [`OpenStore`] for it under a name
//! ([`Builder::store`](crate::Builder::store)), and run the store suite (`siaga_conformance::store_suite!`) on it. The
//! configuration key `store` then selects it. `docs/adding-a-store.md` explains the steps.

mod alerts;
mod areas;
mod attention;
mod cards;
mod decorator;
mod error;
mod feeds;
pub mod file;
mod floods;
mod gauge_list;
mod gauge_statuses;
mod gauges;
mod health;
mod images;
mod import;
mod judged_gauges;
mod keys;
mod layer_query;
mod local;
mod managed_state;
mod measured_store;
pub mod memory;
mod moderation;
mod places;
pub mod postgres;
mod push;
mod refusal_of_limits;
mod registry;
mod reports;
mod service_state;
mod sources;
mod upkeep;
mod webhooks;
mod window;
mod wkb;

use std::fmt::{Debug, Display};

use async_trait::async_trait;

pub use self::managed_state::ManagedState;
use crate::model::Validity;
pub use alerts::AlertQuery;
pub(crate) use alerts::entries_in_force;
pub use areas::AreaQuery;
pub(crate) use areas::places_with_cities;
pub(crate) use attention::AttentionList;
pub use cards::CardStore;
pub use decorator::Decorator;
pub use error::StoreError;
use error::from_shared;
pub use feeds::{FeedStore, ReceiveOutcome};
pub use floods::{EntryQuery, FloodLogQuery, FloodQuery, FloodStore, HistoryQuery, LogQuery, SetFloodState};
pub use gauge_list::GaugeListQuery;
pub(crate) use gauge_statuses::{GaugeReport, GaugeStatuses, GaugeSummary};
pub use gauges::{GaugeQuery, GaugeStore};
pub use health::{Check, Overview};
pub use images::{ImageStore, TakenUpload};
pub(crate) use judged_gauges::JudgedGauges;
pub use keys::{ENDED_LOGIN_KEPT, EndedLogin, KeyEntry, KeyStore, StoredKey};
pub use layer_query::LayerQuery;
pub(crate) use measured_store::MeasuredStore;
pub use moderation::{ModerationQuery, ModerationStore, WaitingQuery};
pub use places::PlaceStore;
pub use push::{NewPushRecord, PushRecord, PushStore, PushUpdate};
pub(crate) use refusal_of_limits::RefusalOfLimits;
pub(crate) use registry::StoreRegistry;
pub use registry::{OpenError, OpenStore, OpenedStore, StoreSettings, UnknownStore};
pub use reports::{ReportQuery, ReportSeriesQuery, ReportStore, ReportSummary};
pub use service_state::{ServiceState, ServiceStore};
pub use sources::SourceStore;
use upkeep::count_queries;
pub use upkeep::{
    AppliedMigration, ImportSummary, MigrationSummary, RemovedRows, Replace, RowCounts, Status, Upkeep,
};
pub use webhooks::{WebhookState, WebhookStore};
pub use window::Window;

/// A storage backend. Each supertrait stores one kind of data; this trait adds revisions, health checks and figures.
///
/// Implement all methods without a default. A [`ServiceState`] provides all methods of [`ImageStore`], [`KeyStore`],
/// [`SourceStore`], [`WebhookStore`] and [`PushStore`]. Log messages show the store's `Display` text.
///
/// # Contract
///
/// - **Isolation.** A read includes every change that was acknowledged before the read began, and never only a part of a change.
/// - **Order.** Every list has the documented order, regardless of the order of writes.
/// - **Time.** The time of a change comes from the clock that the store was created with. Each change of an area takes effect at
///   least 1 ms after the area's previous change, even if the clock steps back. So the log of an area ascends, and its newest
///   entry is the current state.
/// - **Revisions.** The server caches responses by [`revision`](Self::revision), so an old revision means an old response.
/// - **Validity.** Results about a [`Window`], or about hours that are not over, can change although no data changes. Such a
///   result has a [`Versioned::validity`], computed by [`Window::validity`]: it begins at the read, by the store's clock, and
///   ends before the query would return another result. All other results, such as those about the past, are always valid.
/// - **Failure.** If the backend cannot be reached, a call fails with [`StoreError::Unavailable`] within a bounded time. This
///   holds for every method that returns a [`StoreError`], so the sections "Errors" list only other errors.
#[async_trait]
pub trait Store:
    FloodStore
    + ReportStore
    + ModerationStore
    + CardStore
    + FeedStore
    + GaugeStore
    + PlaceStore
    + ServiceStore
    + ImageStore
    + KeyStore
    + SourceStore
    + WebhookStore
    + PushStore
    + Debug
    + Display
    + Send
    + Sync
    + 'static
{
    /// Returns the revision of a resource. It grows with every visible change of the resource by any server, and only then. It
    /// includes every change that this server acknowledged before the call, and every other change that is at least a second old.
    ///
    /// Two reads with equal queries at equal revisions return equal results, as long as both happen while the first result is
    /// valid ([`Versioned::validity`]).
    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError>;

    /// Identifies the sequence of revisions. In another sequence, the same revision can mean different data: the data was
    /// restored, or is in another database. **Default: `None`**, which means a new sequence for each process
    async fn epoch(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Checks the backend and the store's other dependencies, with cheap queries and within a bounded time. The server calls it
    /// about once a second at most. **Default: one check, `store`, which reads a revision**
    async fn readiness(&self) -> Vec<Check> {
        vec![Check::run("store", "does not answer", self.revision(Resource::Places)).await]
    }

    /// Returns figures about the data for an operator. Must be cheap: if metrics are enabled, the server calls it every few
    /// seconds. **Default: `None`**; the metrics then lack these figures
    async fn overview(&self) -> Result<Option<Overview>, StoreError> {
        Ok(None)
    }

    /// Whether the store checks the [limits](crate::model::AreaLimit) of requests in the transaction of the write. If not, the
    /// server refuses all requests with a limit. **Default: `false`**
    async fn enforces_limits(&self) -> bool {
        false
    }

    /// Releases the resources of the backend. The server calls it once, after all other calls. **Default: does nothing**
    async fn close(&self) {}
}

/// A kind of data with its own revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Flood states of areas and the log of their changes.
    Floods,
    /// Reports from all sources.
    Reports,
    /// Gauges and their readings.
    Gauges,
    /// Everything in [`Places`](crate::model::Places).
    Places,
}

/// A counter of the visible changes of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

/// A result with the revision of its resource, both from the same snapshot. The same query returns the same result as long as the
/// revision stays the same and the result is valid.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// The revision.
    pub revision: Revision,
    /// How long the value is valid.
    pub validity: Validity,
    /// The result.
    pub value: T,
}

impl<T> Versioned<T> {
    /// Wraps a result that is always valid: it changes only if the data changes.
    #[must_use]
    pub fn new(revision: Revision, value: T) -> Self {
        Self { revision, validity: Validity::Always, value }
    }

    /// Sets the validity: the span of time in which the result changes only if the data changes.
    #[must_use]
    pub fn within(self, validity: Validity) -> Self {
        Self { validity, ..self }
    }

    /// Converts the value, and keeps the revision and the validity.
    #[must_use]
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Versioned<U> {
        Versioned { revision: self.revision, validity: self.validity, value: convert(self.value) }
    }
}
