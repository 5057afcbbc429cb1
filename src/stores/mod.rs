//! Where the data lives: the [`Store`] trait, its parts by resource, and the stores that come with the service.
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
mod gauges;
mod health;
mod images;
mod import;
mod keys;
mod layer_query;
mod local;
mod managed;
mod measured;
pub mod memory;
mod moderation;
mod places;
pub mod postgres;
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

pub use self::managed::Managed;
use crate::model::Validity;
pub use alerts::AlertQuery;
pub(crate) use alerts::entries_in_force;
pub use areas::AreaQuery;
pub(crate) use areas::places_with_cities;
pub(crate) use attention::AttentionList;
pub use cards::CardStore;
pub use decorator::Decorator;
pub use error::StoreError;
pub use feeds::{FeedStore, Received};
pub use floods::{EntryQuery, FloodLogQuery, FloodQuery, FloodStore, HistoryQuery, LogQuery, SetFloodState};
pub use gauges::{GaugeQuery, GaugeStore};
pub use health::{Check, Overview};
pub use images::{ImageStore, TakenUpload};
pub use keys::{KeptKey, KeyEntry, KeyStore};
pub use layer_query::LayerQuery;
pub(crate) use measured::Measured;
pub use moderation::{ModerationQuery, ModerationStore, WaitingQuery};
pub use places::PlaceStore;
pub(crate) use registry::StoreRegistry;
pub use registry::{OpenError, OpenStore, OpenedStore, StoreSettings, UnknownStore};
pub use reports::{ReportQuery, ReportSeriesQuery, ReportStore, ReportSummary};
pub use service_state::{ServiceState, ServiceStore};
pub use sources::SourceStore;
use upkeep::counted;
pub use upkeep::{AppliedMigration, Imported, Migrated, Removed, Replace, Rows, Status, Upkeep};
pub use webhooks::{WebhookState, WebhookStore};
pub use window::Window;

/// The trait of a backend: one part for each resource, and revisions over all of them.
///
/// Methods without a default are required. [`ServiceState`] provides all of [`ImageStore`],
/// [`KeyStore`], [`SourceStore`] and [`WebhookStore`].
///
/// Logs print the `Display` text.
///
/// # Contract
///
/// - **Isolation.** A read sees every change that was acknowledged before it began, and never a part of a change.
/// - **Order.** Every list has the order that its method documents, whatever was written last.
/// - **Time.** The store takes the time of a change from the clock it was created with. Change times never go
///   backwards, even if the clock does: each change of an area takes effect at least 1 ms after the area's previous
///   one, and not before any other visible change. So the log ascends, and the newest entry of an area is its current
///   state.
/// - **Revisions.** Responses are cached by [`revision`](Self::revision), so it bounds how old they can be.
/// - **Validity.** Results about a [`Window`], or about hours that are not over, change with time alone. Such a result says how
///   long it is valid: [`Versioned::validity`], by [`Window::validity`], begins when the result is read, by the store's clock,
///   and must end before the same query would have another result. Results about the past do not change with time. All other
///   results are always valid.
/// - **Failure.** If the backend cannot be reached, a call fails with [`StoreError::Unavailable`] within a bounded
///   time.
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
    + Debug
    + Display
    + Send
    + Sync
    + 'static
{
    /// Returns the revision of a resource. It grows with every visible change of that resource, whichever instance of
    /// the service made it, and with nothing else. It includes every change that this instance acknowledged before the
    /// call, and every other change that is at least a second old.
    ///
    /// Two reads with equal queries at equal revisions return equal results, as long as both happen while the first
    /// result is valid ([`Versioned::validity`]).
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the backend cannot tell.
    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError>;

    /// Returns a number that identifies the counting of the revisions: another number means that equal revisions can stand for
    /// other data, because the data was restored, or lives in another database. **Default: `None`**, and the counting is that of
    /// the process
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the backend cannot tell.
    async fn epoch(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Checks whether the backend responds, and what else the store needs, by cheap queries within a bounded time.
    /// Called about once a second at most. **Default: one check, `store`, which reads a revision**
    async fn readiness(&self) -> Vec<Check> {
        vec![Check::run("store", "does not answer", self.revision(Resource::Places)).await]
    }

    /// Returns figures about the data for an operator, by a cheap read. If metrics are enabled, the server calls it
    /// every few seconds. **Default: `None`**, and the metrics leave the figures out
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the backend cannot tell.
    async fn overview(&self) -> Result<Option<Overview>, StoreError> {
        Ok(None)
    }

    /// Releases what the backend holds for the store. Called when no call is running and none will follow.
    /// **Default: does nothing**
    async fn close(&self) {}
}

/// The resources whose changes are counted separately.
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

/// A result and the revision of its resource at which it was read, both from the same snapshot.
///
/// The same query has the same result while the revision stays the same and the result is valid.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// The revision.
    pub revision: Revision,
    /// How long the value is valid.
    pub validity: Validity,
    /// The value that was read.
    pub value: T,
}

impl<T> Versioned<T> {
    /// Returns a result that time alone does not change.
    #[must_use]
    pub fn at(revision: Revision, value: T) -> Self {
        Self { revision, validity: Validity::Always, value }
    }

    /// Sets how long the result is valid: outside that span, time alone may change it.
    #[must_use]
    pub fn within(self, validity: Validity) -> Self {
        Self { validity, ..self }
    }

    /// Converts the value; the revision and the validity stay.
    #[must_use]
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Versioned<U> {
        Versioned { revision: self.revision, validity: self.validity, value: make(self.value) }
    }
}
