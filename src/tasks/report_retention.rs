use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::{join, time};
use rocket::{Orbit, Rocket};

use crate::changes::WithdrawnRevision;
use crate::config::Config;
use crate::model::{Clock, Timestamp};
use crate::runtime::run_in_background;
use crate::stores::{Resource, Store, StoreError};

const INTERVAL: Duration = Duration::from_mins(1);
const READINGS_INTERVAL: Duration = Duration::from_hours(1);
/// The maximum number of reports or cards that one change erases. Small, so that other changes do not wait long.
const BATCH: u32 = 100;
/// Each search for cards starts this long before the end of the previous one, because a clock may have stepped back.
const OVERLAP: Duration = Duration::from_hours(1);

/// How long the senders of reports that wait for review are kept.
const KEEP_SENDERS: Duration = Duration::from_hours(24);

/// Erases reports older than `reports.keep`, unused cards older than `cards.keep`, readings older than
/// `gauges.keep`, and the senders of reports that have waited a day for review.
#[derive(Clone, Debug)]
pub(crate) struct ReportRetention {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    withdrawn: WithdrawnRevision,
    /// How long reports, unused cards and readings are kept. Zero keeps them forever.
    keep_reports: Duration,
    keep_cards: Duration,
    keep_readings: Duration,
}

impl ReportRetention {
    /// Creates the task. `withdrawn` records the revision at which reports were erased.
    #[must_use]
    pub(crate) fn new(
        config: &Config,
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        withdrawn: &WithdrawnRevision,
    ) -> Self {
        Self {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            withdrawn: withdrawn.clone(),
            keep_reports: config.reports.keep,
            keep_cards: config.cards.keep,
            keep_readings: config.gauges.keep,
        }
    }

    pub(crate) async fn erase_reports(&self) -> Result<u64, StoreError> {
        let mut total = 0;
        loop {
            let erased =
                self.store.erase_reports(self.clock.now().saturating_sub(self.keep_reports), BATCH).await?;
            if erased > 0 {
                self.withdrawn.note(self.store.revision(Resource::Reports).await?);
            }
            total += erased;
            if erased < u64::from(BATCH) {
                return Ok(total);
            }
        }
    }

    /// Erases expired unused cards made at `from` or later, and returns their number.
    pub(crate) async fn erase_cards(&self, from: Timestamp) -> Result<u64, StoreError> {
        let mut total = 0;
        loop {
            let created = from..self.clock.now().saturating_sub(self.keep_cards);
            let erased = self.store.erase_unused_cards(created, BATCH).await?;
            total += erased;
            if erased < u64::from(BATCH) {
                return Ok(total);
            }
        }
    }

    /// Erases old reports at each interval. Ends at once if reports are kept for ever.
    async fn run_reports(&self) {
        while !self.keep_reports.is_zero() {
            match self.erase_reports().await {
                Ok(0) => {}
                Ok(erased) => tracing::info!(erased, "reports older than siaga.reports.keep were erased"),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn Error, "cannot erase old reports; retrying");
                }
            }
            time::sleep(INTERVAL).await;
        }
    }

    /// Erases old readings every hour. Ends at once if readings are kept for ever.
    async fn run_readings(&self) {
        while !self.keep_readings.is_zero() {
            let before = self.clock.now().saturating_sub(self.keep_readings);
            if let Err(error) = self.store.erase_readings(before).await {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "cannot erase old readings; retrying in an hour"
                );
            }
            time::sleep(READINGS_INTERVAL).await;
        }
    }

    async fn run_senders(&self) {
        loop {
            if let Err(error) = self.store.forget_senders(self.clock.now().saturating_sub(KEEP_SENDERS)).await
            {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "cannot erase the senders of waiting reports; retrying"
                );
            }
            time::sleep(INTERVAL).await;
        }
    }

    /// Erases old unused cards at each interval. Ends at once if cards are kept for ever.
    async fn run_cards(&self) {
        // All unused cards before `from` are already erased. Starting there avoids reading the used cards again.
        let mut from = Timestamp::EPOCH;
        while !self.keep_cards.is_zero() {
            let next = self.clock.now().saturating_sub(self.keep_cards).saturating_sub(OVERLAP);
            match self.erase_cards(from).await {
                Ok(erased) => {
                    from = next;
                    if erased > 0 {
                        tracing::info!(erased, "unused cards older than siaga.cards.keep were erased");
                    }
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn Error, "cannot erase unused cards; retrying");
                }
            }
            time::sleep(INTERVAL).await;
        }
    }
}

#[rocket::async_trait]
impl Fairing for ReportRetention {
    fn info(&self) -> Info {
        Info { name: "Old reports and cards", kind: Kind::Liftoff }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        let retention = self.clone();
        run_in_background(rocket, async move {
            join!(
                retention.run_reports(),
                retention.run_cards(),
                retention.run_readings(),
                retention.run_senders()
            );
        });
    }
}
