use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rocket::tokio::sync::Mutex;

use crate::formats::tables::Collection;
use crate::model::{Layer, Timestamp, Validity};
use crate::stores::{Revision, Versioned};

/// All features of collections as they were last read, for all pages and items of a revision. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers(Arc<std::sync::Mutex<HashMap<Collection, Arc<Slot>>>>);

/// What was read last, and in which minute. Held while it is read.
type Slot = Mutex<Option<(Timestamp, Versioned<Layer>)>>;

/// How long a layer that changes with time is reused.
const MINUTE: Duration = Duration::from_mins(1);

impl Layers {
    /// Returns the layer of a collection if it was read at this revision and in this minute; otherwise reads it, once for all who
    /// wait.
    ///
    /// What changes with time alone, as alerts that are renewed, is in the layer within a minute.
    ///
    /// # Errors
    ///
    /// Those of `read`; then the next caller tries again.
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
                let until = until.max(minute.after(MINUTE));
                read.within(Validity::Between { from: minute, until })
            }
        };
        *slot = Some((minute, layer.clone()));
        Ok(layer)
    }
}
