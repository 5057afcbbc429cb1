use super::{Store, StoreError, Versioned};
use crate::model::{AreaLayer, AreaLevel, AreaSelector};
use crate::tasks::off_thread;

/// Which outlines of areas to return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AreaQuery {
    /// Only areas of this city or province.
    pub selector: AreaSelector,
    /// Local areas, or what they are parts of.
    pub level: AreaLevel,
}

impl AreaQuery {
    /// Asks a store. The first query of a level dissolves the areas, off the threads that serve requests.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    pub(crate) async fn ask(&self, store: &dyn Store) -> Result<Versioned<AreaLayer>, StoreError> {
        let places = store.places().await?;
        let query = self.clone();
        let failed = |error| StoreError::Backend { source: Box::new(error) };
        off_thread(move |_| places.map(|places| places.area_layer(&query.selector, query.level)))
            .await
            .map_err(failed)
    }
}
