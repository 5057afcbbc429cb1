use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::time;
use rocket::{Orbit, Rocket};

use crate::model::{Clock, Timestamp};
use crate::stores::{Overview, Store};
use crate::tasks::run_in_background;
use crate::telemetry::Metrics;

/// How often the store is queried.
const ROUND: Duration = Duration::from_secs(5);

/// Keeps the metrics of the data up to date, so that a request for the metrics does not query the store.
///
/// While the store is away, the numbers stay as they are and the ages grow.
#[derive(Clone, Debug)]
pub struct DataWatch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    metrics: Metrics,
    /// The latest overview from the store.
    known: Arc<Mutex<Option<Overview>>>,
}

impl DataWatch {
    /// Makes a task that keeps `metrics` up to date from `store`. It computes ages with `clock`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, metrics: Metrics, clock: Arc<dyn Clock>) -> Self {
        let known = Arc::new(Mutex::new(None));
        let newest = Arc::clone(&known);
        metrics.add_source(move |metrics| {
            let newest: Option<Overview> = *newest.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(Overview { newest_flood_change, newest_report, newest_reading, .. }) = newest else {
                return;
            };
            let now = clock.now();
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
        Self(Arc::new(Inner { store, metrics, known }))
    }
}

fn age(moment: Timestamp, now: Timestamp) -> Duration {
    (now.to_utc() - moment.to_utc()).to_std().unwrap_or_default()
}

impl Inner {
    async fn watch(&self) -> Infallible {
        loop {
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
