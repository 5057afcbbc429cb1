use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;

use super::FileStore;
use super::tables::Row;
use crate::model::GaugeLayer;
use crate::model::intake::GaugeReadings;
use crate::stores::{GaugeQuery, GaugeStore, Resource, Store, StoreError, Versioned};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl GaugeStore for FileStore {
    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError> {
        self.current().gauges(query).await
    }

    async fn count_readings(&self, query: &GaugeQuery, most: u64) -> Result<u64, StoreError> {
        self.current().count_readings(query, most).await
    }

    async fn store_gauge(&self, readings: GaugeReadings) -> Result<usize, StoreError> {
        let change = self.journal.write(|next, rows| {
            let storing = async move {
                let (id, observations) = (readings.id.clone(), readings.observations.clone());
                let before = next.revision(Resource::Gauges).await?;
                let stored = next.store_gauge(readings).await?;
                if next.revision(Resource::Gauges).await? > before {
                    rows.extend(next.gauge(&id).map(Row::Gauge));
                    let id: Arc<str> = id.into();
                    rows.extend(
                        observations.into_iter().map(|reading| Row::Reading(Arc::clone(&id), reading)),
                    );
                }
                Ok(stored)
            };
            storing.boxed()
        });
        change.await
    }
}
