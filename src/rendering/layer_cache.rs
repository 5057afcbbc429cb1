use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rocket::tokio::sync::Mutex;

use crate::formats::tables::Collection;
use crate::model::{Layer, Timestamp, Validity};
use crate::stores::{Revision, Versioned};

/// Caches all features of each collection, for responses with pages or single items. Clones share the cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayerCache(Arc<std::sync::Mutex<HashMap<Collection, Arc<LayerEntry>>>>);

/// The layer, and the minute in which it was read. Locked while the layer is read.
type LayerEntry = Mutex<Option<(Timestamp, Versioned<Layer>)>>;

const MINUTE: Duration = Duration::from_mins(1);

impl LayerCache {
    /// Returns the cached layer if it has this revision, and is of this minute or valid: new alerts, which depend only on time,
    /// appear within a minute. Otherwise reads it, once for all callers; after an error, the next caller tries again.
    pub(super) async fn get<E>(
        &self,
        collection: Collection,
        present: Revision,
        now: Timestamp,
        read: impl Future<Output = Result<Versioned<Layer>, E>>,
    ) -> Result<Versioned<Layer>, E> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(collection).or_default())
        };
        let mut slot = slot.lock().await;
        let minute = now.floor(MINUTE);
        if let Some((read_in, layer)) = &*slot
            && layer.revision == present
            && (*read_in == minute || layer.validity.covers(now))
        {
            return Ok(layer.clone());
        }
        let read = read.await?;
        let layer = match read.validity {
            Validity::Always => read,
            Validity::Between { until, .. } => {
                let until = until.max(minute.saturating_add(MINUTE));
                read.within(Validity::Between { from: minute, until })
            }
        };
        *slot = Some((minute, layer.clone()));
        Ok(layer)
    }
}
