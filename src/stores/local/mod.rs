//! The local store: all data is in the memory of one process. With a journal, each change is also written to the disk.
//!
//! Each state is immutable; an atomic pointer refers to the current one. Readers load the pointer and keep reading that state.
//! Writers, one at a time, derive the next state from the current one and swap the pointer. States share their unchanged parts
//! (persistent collections), so a write costs O(log n). With a journal, the rows of a change are in the file before the next
//! state becomes visible; without a journal, changes create no rows.

mod area_log;
mod floods;
mod gauges;
mod journal;
mod reports;
mod rows;
mod service;
mod state;

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use async_trait::async_trait;

pub(super) use self::gauges::HELD_READINGS;
pub(super) use self::journal::{Change, Command, Journal, Reply, Shared};
pub(super) use self::reports::PendingMove;
pub(super) use self::rows::{Row, Rows, Visibility};
pub(super) use self::state::{Revisions, State};
use super::{
    Check, Overview, PlaceStore, Resource, Revision, ServiceState, ServiceStore, Store, StoreError, Versioned,
};
use crate::data::folder::Dataset;
use crate::model::{CancelFlag, Cancelled, Clock, Places, Timestamp};
use crate::runtime::off_thread;

/// A [`Store`] in memory, filled from a [`Dataset`].
#[derive(Debug)]
pub struct LocalStore {
    current: Arc<ArcSwap<State>>,
    clock: Arc<dyn Clock>,
    journal: Option<Journal>,
    /// Without a journal, writers lock this mutex, so that one writes at a time. Readers never lock it.
    writing: Mutex<()>,
}

impl LocalStore {
    /// Creates a store with the data of `dataset`. The store reads the time from `clock`.
    #[must_use]
    pub fn new(dataset: Dataset, clock: Arc<dyn Clock>) -> Self {
        let current = Arc::new(ArcSwap::from_pointee(State::new(dataset, clock.now())));
        Self { current, clock, journal: None, writing: Mutex::default() }
    }

    pub(super) fn with_journal(journal: Journal, clock: Arc<dyn Clock>) -> Self {
        Self { current: journal.current(), clock, journal: Some(journal), writing: Mutex::default() }
    }

    fn state(&self) -> Arc<State> {
        self.current.load_full()
    }

    /// Applies `change` to a copy of the state, and writes the rows that `change` adds. If it fails, the state stays unchanged.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut State, &mut Rows, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        match &self.journal {
            Some(journal) => journal.write(change).await,
            None => self.write_in_memory(change),
        }
    }

    /// Applies the change to a copy of the state. The copy replaces the state unless the change fails.
    fn write_in_memory<T>(
        &self,
        change: impl FnOnce(&mut State, &mut Rows, Timestamp) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _lock = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = State::clone(&self.current.load());
        let result = change(&mut next, &mut Rows::disabled(), self.clock.now())?;
        self.current.store(Arc::new(next));
        Ok(result)
    }
}

/// Runs a long read outside the threads that serve requests. The read must check its `CancelFlag` for each item.
async fn read_long<T: Send + 'static>(
    read: impl FnOnce(&CancelFlag) -> Result<T, Cancelled> + Send + 'static,
) -> Result<T, StoreError> {
    let backend_error = |source: Box<dyn Error + Send + Sync>| StoreError::Backend { source };
    off_thread(read)
        .await
        .map_err(|error| backend_error(error.into()))?
        .map_err(|cancelled| backend_error(cancelled.into()))
}

/// Counts the items, up to `max`.
fn count_items<T>(items: impl Iterator<Item = T>, max: u64, cancel: &CancelFlag) -> Result<u64, Cancelled> {
    let mut count = 0;
    for _ in items {
        cancel.check()?;
        if count == max {
            break;
        }
        count += 1;
    }
    Ok(count)
}

impl fmt::Display for LocalStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.journal {
            Some(journal) => write!(f, "the file {}", journal.path().display()),
            None => f.write_str("memory"),
        }
    }
}

#[async_trait]
impl PlaceStore for LocalStore {
    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError> {
        Ok(self.state().places.clone())
    }
}

impl ServiceStore for LocalStore {
    fn service_state(&self) -> Option<&ServiceState> {
        None
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Store for LocalStore {
    async fn enforces_limits(&self) -> bool {
        true
    }

    async fn epoch(&self) -> Result<Option<u64>, StoreError> {
        Ok(Some(self.current.load().epoch))
    }

    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        let state = self.current.load();
        Ok(match resource {
            Resource::Floods => state.floods.revision,
            Resource::Reports => state.reports.revision,
            Resource::Gauges => state.gauges.revision,
            Resource::Places => state.places.revision,
        })
    }

    /// Checks the journal. Reads need only the memory, so the check is optional: after a failure, the service is only degraded.
    async fn readiness(&self) -> Vec<Check> {
        let mut checks = vec![Check { name: "store", required: true, failure: None, took: Duration::ZERO }];
        if let Some(journal) = &self.journal {
            checks.push(journal.check().await);
        }
        checks
    }

    /// Returns the figures. Costs O(areas + gauges × log readings).
    async fn overview(&self) -> Result<Option<Overview>, StoreError> {
        let (state, now) = (self.state(), self.clock.now());
        let (newest_flood_change, flooded_areas) = state.floods.value.overview();
        Ok(Some(Overview {
            newest_flood_change,
            newest_report: state.reports.value.newest(now),
            newest_reading: state.gauges.value.newest(now),
            flooded_areas,
        }))
    }

    async fn close(&self) {
        if let Some(journal) = &self.journal {
            journal.close().await;
        }
    }
}
