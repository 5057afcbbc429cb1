//! The store in memory: everything in one process, nothing kept after it ends.
//!
//! What changes together is one immutable snapshot behind an atomic pointer. A reader takes the pointer and
//! reads on undisturbed; a writer, one at a time, makes the next snapshot from the present one and swaps the
//! pointer. Snapshots share their unchanged parts (persistent collections), so a write costs O(log n).

mod floods;
mod gauges;
mod intake;
mod places;
mod snapshot;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use self::floods::Floods;
use self::gauges::Gauges;
use self::intake::Intake;
use self::places::Places;
use super::{OpenStore, Resource, Revision, Store, StoreError, StoreSettings};
use crate::datasets::{Dataset, DatasetError};
use crate::model::{AreaSelector, AreaSet, Clock, Locator, Tags};

/// A [`Store`] in memory, filled from a [`Dataset`].
#[derive(Debug)]
pub struct MemoryStore {
    areas: Arc<AreaSet>,
    locator: Locator,
    floods: Floods,
    intake: Intake,
    gauges: Gauges,
    places: Places,
    clock: Arc<dyn Clock>,
}

impl MemoryStore {
    /// A store that holds `dataset` and takes the time from `clock`.
    #[must_use]
    pub fn new(dataset: Dataset, clock: Arc<dyn Clock>) -> Self {
        let areas = dataset.areas;
        let locator = Locator::new(Arc::clone(&areas), dataset.regions.clone());
        Self {
            floods: Floods::new(Arc::clone(&areas), dataset.flood_log),
            intake: Intake::new(dataset.reports, dataset.cards, dataset.partner_posts),
            gauges: Gauges::new(dataset.gauges),
            places: Places::new(dataset.infrastructure, dataset.regions),
            locator,
            areas,
            clock,
        }
    }

    /// Whether what lies where the tags say is among the selected.
    fn selects(&self, selector: &AreaSelector, tags: &Tags) -> bool {
        selector.is_everything() || {
            let position = tags.local_area_id.and_then(|id| self.areas.position(id));
            let city = position.map(|position| self.areas[position].city_code.as_str());
            selector.matches_codes(city, tags.instance_region_code.as_deref())
        }
    }
}

impl fmt::Display for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} areas from memory", self.areas.len())
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        Ok(match resource {
            Resource::Floods => self.floods.revision(),
            Resource::Reports => self.intake.revision(),
            Resource::Gauges => self.gauges.revision(),
            // They never change while the store is open.
            Resource::Infrastructure | Resource::Boundaries => Revision(0),
        })
    }
}

/// Opens a [`MemoryStore`] with the configured data set.
#[derive(Clone, Copy, Debug)]
pub struct OpenMemory;

#[async_trait]
impl OpenStore for OpenMemory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn keeps_data(&self) -> bool {
        false
    }

    async fn open(
        &self,
        settings: &StoreSettings,
    ) -> Result<Arc<dyn Store>, Box<dyn std::error::Error + Send + Sync>> {
        let dataset =
            Dataset::load(&settings.dataset, settings.clock.now()).map_err(Box::<DatasetError>::new)?;
        Ok(Arc::new(MemoryStore::new(dataset, Arc::clone(&settings.clock))))
    }
}
