use async_trait::async_trait;
use futures::FutureExt;

use super::FileStore;
use super::tables::Row;
use crate::model::alerts::Entry;
use crate::model::{ArchiveRecord, AreaId, FloodChange, FloodLayer, FloodStateRecord, SeriesPoint};
use crate::stores::{
    EntryQuery, FloodQuery, FloodStore, HistoryQuery, LogQuery, SetFloodState, StoreError, Versioned,
};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl FloodStore for FileStore {
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        self.current().floods(query).await
    }

    async fn flood_states(&self, query: &FloodQuery) -> Result<Versioned<Vec<FloodStateRecord>>, StoreError> {
        self.current().flood_states(query).await
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError> {
        self.current().flood_archive(query).await
    }

    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        self.current().flood_series(query).await
    }

    async fn flood_log(&self, area: AreaId) -> Result<Vec<FloodChange>, StoreError> {
        self.current().flood_log(area).await
    }

    async fn latest_flood_changes(&self, query: &LogQuery) -> Result<Vec<FloodChange>, StoreError> {
        self.current().latest_flood_changes(query).await
    }

    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> Result<Versioned<Vec<(AreaId, Vec<Entry>)>>, StoreError> {
        self.current().flood_entries(query).await
    }

    async fn set_flood_state(&self, order: SetFloodState) -> Result<FloodChange, StoreError> {
        let change = self.journal.write(|next, rows| {
            let setting = async move {
                let change = next.set_flood_state(order).await?;
                rows.push(Row::FloodState(change.clone()));
                Ok(change)
            };
            setting.boxed()
        });
        change.await
    }
}
