use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinError;

use super::{Store, StoreError, Versioned};
use crate::model::{AreaId, AreaLayer, AreaLevel, AreaSelector, Places};
use crate::runtime::off_thread;

/// Which outlines of areas to return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AreaQuery {
    /// Only areas of this city or province.
    pub selector: AreaSelector,
    /// Local areas, or the larger areas that they belong to.
    pub level: AreaLevel,
    /// Only these local areas; `None`: all. Unknown identifiers are ignored.
    pub ids: Option<BTreeSet<AreaId>>,
}

impl AreaQuery {
    /// Runs the query outside the threads that serve requests, because the first query for larger areas computes their outlines.
    pub(crate) async fn run(&self, store: &dyn Store) -> Result<Versioned<AreaLayer>, StoreError> {
        let places = store.places().await?;
        let query = self.clone();
        off_thread(move |_| {
            places.map(|places| {
                let layer = places.area_layer(&query.selector, query.level);
                match &query.ids {
                    Some(ids) => layer.retain_ids(ids),
                    None => layer,
                }
            })
        })
        .await
        .map_err(panicked)
    }
}

/// Returns the places of a store, after computing the outlines of the cities outside the threads that serve requests.
pub(crate) async fn places_with_cities(store: &dyn Store) -> Result<Versioned<Arc<Places>>, StoreError> {
    let places = store.places().await?;
    let task = off_thread(move |_| {
        let _ = places.value.city_outlines();
        places
    });
    task.await.map_err(panicked)
}

fn panicked(error: JoinError) -> StoreError {
    StoreError::Backend { source: Box::new(error) }
}
