//! Where the data lives: the [`Store`] trait, its parts by resource, and the stores that come with the service.
//!
//! # Adding a store
//!
//! Implement [`Store`], or a [`Decorator`] that stands before another, register an [`OpenStore`] for it under a name
//! ([`Builder::store`](crate::Builder::store)), and run the store suite (`conformance::stores`) on it. The configuration key `store`
//! then chooses it. `docs/adding-a-store.md` leads through this.

mod cards;
mod decorator;
mod error;
mod feeds;
mod floods;
mod gauges;
mod health;
mod images;
mod keys;
mod layer_query;
mod measured;
pub mod memory;
mod places;
pub mod postgres;
mod registry;
mod reports;
mod service_state;
mod upkeep;
mod window;

use std::fmt::{Debug, Display};

use async_trait::async_trait;

pub use crate::managed::Managed;
use crate::model::Validity;
pub use cards::CardStore;
pub use decorator::Decorator;
pub use error::StoreError;
pub use feeds::{FeedStore, Received};
pub use floods::{FloodQuery, FloodStore, HistoryQuery, SetFloodState};
pub use gauges::{GaugeQuery, GaugeStore};
pub use health::{Check, Overview};
pub use images::{ImageStore, TakenUpload};
pub use keys::{KeptKey, KeyEntry, KeyStore};
pub use layer_query::LayerQuery;
pub(crate) use measured::Measured;
pub use places::PlaceStore;
pub use registry::{OpenError, OpenStore, OpenedStore, StoreRegistry, StoreSettings, UnknownStore};
pub use reports::{ReportQuery, ReportSeriesQuery, ReportStore, ReportSummary};
pub use service_state::{ServiceState, ServiceStore};
pub use upkeep::{Imported, Migrated, Removed, Replace, Rows, Status, Upkeep};
pub use window::Window;

/// What a backend must do: one part for each resource, and revisions over all of them.
///
/// Methods without a default are required. [`ServiceState`] provides all of [`ImageStore`] and [`KeyStore`].
///
/// `Display` is what logs print.
///
/// # Contract
///
/// - **Isolation.** A read sees every change that was acknowledged before it began, and never half of one.
/// - **Order.** Every list comes in the order its method documents, whatever was written last.
/// - **Time.** The time of a change is taken from the clock the store was made with. A change of an area takes effect
///   after the one before it, at least a millisecond, and not before any other that can be seen, though a clock may
///   have stepped back: the log ascends, and the newest entry of an area is its current state.
/// - **Revisions.** See [`revision`](Self::revision): by it answers are kept, so it bounds how old they can be.
/// - **Validity.** Results about a [`Window`], or about hours that are not over, change with time alone. Such a result says how
///   long it is valid ([`Versioned::validity`], by [`Window::validity`]): from the moment it was read, by the store's clock,
///   until at the latest the first millisecond at which the same query would have another result. Nothing that was past when
///   it was read changes. All other results are always valid.
/// - **Failure.** A backend that cannot be reached answers [`StoreError::Unavailable`] within a bounded time.
#[async_trait]
pub trait Store:
    FloodStore
    + ReportStore
    + CardStore
    + FeedStore
    + GaugeStore
    + PlaceStore
    + ServiceStore
    + ImageStore
    + KeyStore
    + Debug
    + Display
    + Send
    + Sync
    + 'static
{
    /// The revision of a resource: it grows with every visible change of that resource and with nothing
    /// else, whichever instance of the service made the change. It holds every change that was acknowledged by this
    /// instance before the call, and any other that is a second old.
    ///
    /// Two reads at equal revisions with equal questions give equal answers, as long as both fall into the time the
    /// first of them is valid ([`Versioned::validity`]).
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the backend cannot say.
    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError>;

    /// Whether the backend can answer now, and what else the store needs, by cheap questions within a bounded time. Asked
    /// about once a second at most. **Default: whether a revision can be had, as `store`**
    async fn readiness(&self) -> Vec<Check> {
        vec![Check::of("store", "does not answer", self.revision(Resource::Places)).await]
    }

    /// What an operator watches about the data, by a cheap read. The server asks every few seconds if it has metrics.
    /// **Default: `None`**, and the metrics leave it out
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the backend cannot say.
    async fn overview(&self) -> Result<Option<Overview>, StoreError> {
        Ok(None)
    }

    /// Gives back what the backend holds for the store, when no call is under way or comes any more. **Default: nothing**
    async fn close(&self) {}
}

/// The resources whose changes are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Flood states of areas and the log of their changes.
    Floods,
    /// Reports, whichever way they came.
    Reports,
    /// Gauges and their readings.
    Gauges,
    /// Everything in [`Places`](crate::model::Places).
    Places,
}

/// Counts the visible changes of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

/// An answer and the revision of its resource at which it was read, both of the same snapshot.
///
/// It is the answer to the same question while the revision stands and time is within its span.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// The revision.
    pub revision: Revision,
    /// How long it stays correct.
    pub validity: Validity,
    /// What was read.
    pub value: T,
}

impl<T> Versioned<T> {
    /// An answer that time does not change.
    #[must_use]
    pub fn at(revision: Revision, value: T) -> Self {
        Self { revision, validity: Validity::Always, value }
    }

    /// The same, changed by time outside this span.
    #[must_use]
    pub fn within(self, validity: Validity) -> Self {
        Self { validity, ..self }
    }

    /// Something made of what was read.
    #[must_use]
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Versioned<U> {
        Versioned { revision: self.revision, validity: self.validity, value: make(self.value) }
    }
}
