use std::sync::Arc;
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::time;
use rocket::{Orbit, Rocket};

use crate::model::Clock;
use crate::stores::{Store, StoreError};
use crate::tasks::run_in_background;

/// How often to look for old reports.
const ROUND: Duration = Duration::from_mins(1);
/// How many reports are erased by one change, so that other changes do not wait long.
const MOST: u32 = 500;

/// Erases the reports that are older than `reports.keep`.
#[derive(Clone, Debug)]
pub struct OldReports {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    keep: Duration,
}

impl OldReports {
    /// Makes a task that erases the reports in `store` that are older than `keep`; none if that is zero.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, keep: Duration) -> Self {
        Self { store, clock, keep }
    }

    /// Erases all reports that are too old now, and returns how many they were.
    ///
    /// # Errors
    ///
    /// Those of [`erase_reports`](crate::stores::ModerationStore::erase_reports).
    pub async fn erase(&self) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let erased = self.store.erase_reports(self.clock.now().before(self.keep), MOST).await?;
            all += erased;
            if erased < u64::from(MOST) {
                return Ok(all);
            }
        }
    }
}

#[rocket::async_trait]
impl Fairing for OldReports {
    fn info(&self) -> Info {
        Info { name: "Old reports", kind: Kind::Liftoff }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        if self.keep.is_zero() {
            return;
        }
        let old = self.clone();
        run_in_background(rocket, async move {
            loop {
                match old.erase().await {
                    Ok(0) => {}
                    Ok(erased) => tracing::info!(erased, "reports older than siaga.reports.keep were erased"),
                    Err(error) => {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(error, "old reports are erased later");
                    }
                }
                time::sleep(ROUND).await;
            }
        });
    }
}
