use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::time;
use rocket::{Orbit, Rocket};

use crate::model::alerts::MessageType;
use crate::model::{Clock, Timestamp};
use crate::runtime::run_in_background;
use crate::stores::{AlertQuery, FloodQuery, Overview, Resource, Store, StoreError, Versioned};
use crate::telemetry::Metrics;

/// How often the store is queried.
const ROUND: Duration = Duration::from_secs(5);

/// Keeps the metrics of the data up to date, so that a request for the metrics does not query the store.
///
/// While the store is away, the numbers stay as they are and the ages grow.
#[derive(Clone, Debug)]
pub(crate) struct DataWatch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    metrics: Metrics,
    clock: Arc<dyn Clock>,
    /// The latest overview from the store.
    known: Arc<Mutex<Option<Overview>>>,
    /// When the alerts in force were last confirmed: the one of them for which this is the longest ago.
    unconfirmed: Arc<Mutex<Option<Timestamp>>>,
}

impl DataWatch {
    /// Makes a task that keeps `metrics` up to date from `store`. It computes ages with `clock`.
    #[must_use]
    pub(crate) fn new(store: Arc<dyn Store>, metrics: Metrics, clock: Arc<dyn Clock>) -> Self {
        let known = Arc::new(Mutex::new(None));
        let unconfirmed = Arc::new(Mutex::new(None));
        let (newest, oldest, now_by) = (Arc::clone(&known), Arc::clone(&unconfirmed), Arc::clone(&clock));
        metrics.add_source(move |metrics| {
            let now = now_by.now();
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
        Self(Arc::new(Inner { store, metrics, clock, known, unconfirmed }))
    }
}

fn age(moment: Timestamp, now: Timestamp) -> Duration {
    (now.to_utc() - moment.to_utc()).to_std().unwrap_or_default()
}

impl Inner {
    async fn watch(&self) -> Infallible {
        let mut counted = None;
        loop {
            counted = self.count_alerts(counted).await.unwrap_or(None);
            if let Ok(Some(overview)) = self.store.overview().await {
                self.metrics.flooded_areas(overview.flooded_areas);
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(overview);
            }
            if let Ok(waiting) = self.store.uploads_waiting().await {
                self.metrics.uploads_waiting(waiting);
            }
            time::sleep(ROUND).await;
        }
    }

    /// Counts the alerts in force, unless they were counted and cannot have changed since. Returns until when the count holds.
    async fn count_alerts(
        &self,
        counted: Option<Versioned<()>>,
    ) -> Result<Option<Versioned<()>>, StoreError> {
        let now = self.clock.now();
        let revision = self.store.revision(Resource::Floods).await?;
        if counted.as_ref().is_some_and(|of| of.revision == revision && of.validity.covers(now)) {
            return Ok(counted);
        }
        let found = AlertQuery::InForce(FloodQuery::default()).ask(&*self.store, now).await?;
        let alerts = || found.value.features().map(|alert| alert.message);
        for message_type in MessageType::ALL {
            let of_type = alerts().filter(|message| message.message_type == message_type);
            self.metrics.alerts(message_type.name(), of_type.count() as u64);
        }
        let stand = alerts().filter(|message| message.message_type != MessageType::Cancel);
        let oldest = stand.map(|message| message.last_confirmed).min();
        *self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner) = oldest;
        Ok(Some(found.map(drop)))
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
