use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::time;
use rocket::{Orbit, Rocket};

use crate::model::alerts::MessageType;
use crate::model::{Clock, GaugeStatus, Timestamp};
use crate::runtime::run_in_background;
use crate::stores::{
    AlertQuery, FloodQuery, GaugeStatuses, Overview, Resource, Store, StoreError, Versioned,
};
use crate::telemetry::Metrics;

const INTERVAL: Duration = Duration::from_secs(5);
/// Subscriptions are counted at each step of so many.
const PUSH_STEPS: u32 = 3;

/// Updates the metrics of the data, so that a request for metrics does not query the store. While the store is unavailable,
/// counts stay unchanged and ages grow.
#[derive(Clone, Debug)]
pub(crate) struct DataWatch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    gauges: Arc<GaugeStatuses>,
    metrics: Metrics,
    clock: Arc<dyn Clock>,
    has_push: bool,
    overview: Arc<Mutex<Option<Overview>>>,
    /// The earliest time at which the state of an active alert was last confirmed.
    unconfirmed: Arc<Mutex<Option<Timestamp>>>,
}

impl DataWatch {
    /// Registers the ages of data as metrics. Each request for metrics computes them.
    #[must_use]
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        gauges: Arc<GaugeStatuses>,
        metrics: &Metrics,
        clock: &Arc<dyn Clock>,
        has_push: bool,
    ) -> Self {
        let (store, metrics, clock) = (Arc::clone(store), metrics.clone(), Arc::clone(clock));
        let overview = Arc::new(Mutex::new(None));
        let unconfirmed = Arc::new(Mutex::new(None));
        let (newest, oldest, metrics_clock) =
            (Arc::clone(&overview), Arc::clone(&unconfirmed), Arc::clone(&clock));
        metrics.add_source(move |metrics| {
            let now = metrics_clock.now();
            let oldest: Option<Timestamp> = *oldest.lock().unwrap_or_else(PoisonError::into_inner);
            metrics.alert_unconfirmed(oldest.map_or(Duration::ZERO, |oldest| age(oldest, now)));
            let newest: Option<Overview> = *newest.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(Overview { newest_flood_change, newest_report, newest_reading, .. }) = newest else {
                return;
            };
            for (data, newest) in [
                ("flood_changes", newest_flood_change),
                ("reports", newest_report),
                ("readings", newest_reading),
            ] {
                if let Some(newest) = newest {
                    metrics.data_age(data, age(newest, now));
                }
            }
        });
        Self(Arc::new(Inner { store, gauges, metrics, clock, has_push, overview, unconfirmed }))
    }
}

fn age(time: Timestamp, now: Timestamp) -> Duration {
    (now.to_utc() - time.to_utc()).to_std().unwrap_or_default()
}

impl Inner {
    /// Updates the metrics at each interval, forever.
    async fn watch(&self) -> Infallible {
        let mut last_count = None;
        let mut steps = (0..PUSH_STEPS).cycle();
        loop {
            last_count = self.count_alerts(last_count).await.unwrap_or(None);
            if let Ok(Some(overview)) = self.store.overview().await {
                self.metrics.flooded_areas(overview.flooded_areas);
                *self.overview.lock().unwrap_or_else(PoisonError::into_inner) = Some(overview);
            }
            if let Ok(gauges) = self.gauges.get().await {
                for status in GaugeStatus::ALL {
                    let count = gauges.iter().filter(|gauge| gauge.status == status).count();
                    self.metrics.gauges(status.name(), count as u64);
                }
            }
            if let Ok(waiting) = self.store.uploads_waiting().await {
                self.metrics.uploads_waiting(waiting);
            }
            if self.has_push
                && steps.next() == Some(0)
                && let Ok(count) = self.store.count_push_records().await
            {
                self.metrics.push_subscriptions(count);
            }
            time::sleep(INTERVAL).await;
        }
    }

    /// Counts the active alerts, unless the last count is still valid. Returns the validity of the count.
    async fn count_alerts(
        &self,
        last_count: Option<Versioned<()>>,
    ) -> Result<Option<Versioned<()>>, StoreError> {
        let now = self.clock.now();
        let revision = self.store.revision(Resource::Floods).await?;
        if last_count.as_ref().is_some_and(|count| count.revision == revision && count.validity.covers(now)) {
            return Ok(last_count);
        }
        let in_force = AlertQuery::InForce(FloodQuery::default()).run(&*self.store, now).await?;
        let messages = || in_force.value.features().map(|alert| alert.message);
        for message_type in MessageType::ALL {
            let with_type = messages().filter(|message| message.message_type == message_type);
            self.metrics.alerts(message_type.name(), with_type.count() as u64);
        }
        let active = messages().filter(|message| message.message_type != MessageType::Cancel);
        let oldest = active.map(|message| message.last_confirmed).min();
        *self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner) = oldest;
        Ok(Some(in_force.map(drop)))
    }
}

#[rocket::async_trait]
impl Fairing for DataWatch {
    fn info(&self) -> Info {
        Info { name: "Data watch", kind: Kind::Liftoff }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        let inner = Arc::clone(&self.0);
        run_in_background(rocket, async move { match inner.watch().await {} });
    }
}
