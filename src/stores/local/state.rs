use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::floods::Floods;
use super::gauges::Gauges;
use super::reports::{PendingMove, Reports};
use super::rows::{Row, Rows};
use crate::data::folder::Dataset;
use crate::model::{FloodBatch, Mute, Places, ReportKey, Timestamp, Waiting};
use crate::stores::service_state::{Keys, Service};
use crate::stores::{Revision, StoreError, Versioned};

/// All data of a store at one moment. A clone is cheap: it shares each part with the original until one of them changes.
#[derive(Clone, Debug)]
pub(in crate::stores) struct State {
    /// The places, which only an import changes.
    pub(super) places: Versioned<Arc<Places>>,
    pub(super) floods: Versioned<Arc<Floods>>,
    pub(super) reports: Versioned<Arc<Reports>>,
    pub(super) gauges: Versioned<Arc<Gauges>>,
    pub(super) service: Arc<Service>,
    /// Identifies the sequence of revisions, like `Store::epoch`.
    pub(super) epoch: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::stores) struct Revisions {
    pub(in crate::stores) floods: Revision,
    pub(in crate::stores) reports: Revision,
    pub(in crate::stores) gauges: Revision,
    pub(in crate::stores) places: Revision,
}

impl State {
    /// Builds a state from a data set, with a new epoch. Cards without a creation time get `now`.
    pub(in crate::stores) fn new(dataset: Dataset, now: Timestamp) -> Self {
        fn first<T>(value: T) -> Versioned<Arc<T>> {
            Versioned::new(Revision(0), Arc::new(value))
        }

        let areas = Arc::clone(dataset.places.areas());
        Self {
            floods: first(Floods::new(areas, dataset.flood_log)),
            gauges: first(Gauges::new(dataset.gauges)),
            places: first(dataset.places),
            reports: first(Reports::new(
                dataset.reports,
                dataset.hidden,
                dataset.erased,
                dataset.moderation,
                dataset.cards,
                dataset.partner_posts,
                now,
            )),
            service: Arc::default(),
            epoch: RandomState::new().hash_one(0),
        }
    }

    /// Adds stored data that is not part of a data set.
    pub(in crate::stores) fn with_stored(
        mut self,
        batches: Vec<FloodBatch>,
        service: Service,
        waiting: Vec<(ReportKey, Waiting)>,
        moves: Vec<(Box<str>, PendingMove)>,
        gauge_logs: Vec<(String, Vec<Mute>)>,
        revisions: Revisions,
    ) -> Self {
        self.floods.get_mut_untracked().add_batches(batches);
        self.reports.get_mut_untracked().set_waiting(waiting);
        self.reports.get_mut_untracked().queue_moves(moves);
        self.gauges.get_mut_untracked().set_logs(gauge_logs);
        self.service = Arc::new(service);
        self.floods.revision = revisions.floods;
        self.reports.revision = revisions.reports;
        self.gauges.revision = revisions.gauges;
        self.places.revision = revisions.places;
        self
    }

    /// Takes over the epoch of `before`, so that caches stay valid. This state must include all changes of `before`.
    pub(in crate::stores) fn continue_epoch(self, before: &Self) -> Self {
        Self { epoch: before.epoch, ..self }
    }

    pub(in crate::stores) fn with_keys(mut self, keys: Keys) -> Self {
        self.service_mut().keys = keys;
        self
    }

    pub(in crate::stores) fn revisions(&self) -> Revisions {
        Revisions {
            floods: self.floods.revision,
            reports: self.reports.revision,
            gauges: self.gauges.revision,
            places: self.places.revision,
        }
    }

    pub(in crate::stores) fn keys_revision(&self) -> Revision {
        self.service.keys.revision()
    }

    pub(in crate::stores) fn service_mut(&mut self) -> &mut Service {
        Arc::make_mut(&mut self.service)
    }

    /// Applies a change, and adds its rows to `rows`. If it fails or panics, neither the state nor `rows` changes.
    pub(super) fn apply<T>(
        &mut self,
        change: impl FnOnce(&mut Self, &mut Rows, Timestamp) -> Result<T, StoreError>,
        rows: &mut Vec<Row>,
        now: Timestamp,
    ) -> Result<T, StoreError> {
        let (mut next, mut new_rows) = (self.clone(), Rows::recording());
        let result = change(&mut next, &mut new_rows, now)?;
        *self = next;
        rows.extend(new_rows.into_vec());
        Ok(result)
    }
}

impl<T: Clone> Versioned<Arc<T>> {
    /// Returns the value, for a change that readers can see: the revision grows.
    pub(super) fn get_mut(&mut self) -> &mut T {
        self.bump_revision();
        self.get_mut_untracked()
    }

    /// Returns the value, for a change that readers cannot see: the revision stays the same.
    pub(super) fn get_mut_untracked(&mut self) -> &mut T {
        Arc::make_mut(&mut self.value)
    }

    pub(super) fn bump_revision(&mut self) {
        self.revision.0 += 1;
    }
}

impl<T> Versioned<T> {
    /// Returns a value derived from this one, at the same revision.
    pub(super) fn with_value<U>(&self, value: U) -> Versioned<U> {
        Versioned::new(self.revision, value)
    }
}
