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

/// How often to look for old reports and cards.
const ROUND: Duration = Duration::from_mins(1);
/// How many reports or cards are erased by one change, so that other changes do not wait long.
const MOST: u32 = 100;
/// How far before the last moment to look for cards again: a clock may have stepped back.
const OVERLAP: Duration = Duration::from_hours(1);

/// How long the senders of reports that wait for review are kept.
const SENDERS: Duration = Duration::from_hours(24);

/// Erases reports that are older than `reports.keep`, and unused cards that are older than `cards.keep`; and forgets the senders of reports
/// that have waited for review for a day.
#[derive(Clone, Debug)]
pub(crate) struct ReportRetention {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    withdrawn: WithdrawnRevision,
    /// How long reports are kept, and cards without a report; for ever if this is zero.
    keep_reports: Duration,
    keep_cards: Duration,
}

impl ReportRetention {
    /// Makes a task that erases what is too old in `store`, and notes in `withdrawn` that reports are gone.
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
        }
    }

    /// Erases all reports that are too old now, and returns how many they were.
    pub(crate) async fn erase_reports(&self) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let erased = self.store.erase_reports(self.clock.now().before(self.keep_reports), MOST).await?;
            if erased > 0 {
                self.withdrawn.note(self.store.revision(Resource::Reports).await?);
            }
            all += erased;
            if erased < u64::from(MOST) {
                return Ok(all);
            }
        }
    }

    /// Erases all unused cards that are too old now and were made at a moment or later, and returns how many they were.
    pub(crate) async fn erase_cards(&self, from: Timestamp) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let made = from..self.clock.now().before(self.keep_cards);
            let erased = self.store.erase_unused_cards(made, MOST).await?;
            all += erased;
            if erased < u64::from(MOST) {
                return Ok(all);
            }
        }
    }

    async fn run_reports(&self) {
        while !self.keep_reports.is_zero() {
            match self.erase_reports().await {
                Ok(0) => {}
                Ok(erased) => tracing::info!(erased, "reports older than siaga.reports.keep were erased"),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn Error, "old reports are erased later");
                }
            }
            time::sleep(ROUND).await;
        }
    }

    async fn run_senders(&self) {
        loop {
            if let Err(error) = self.store.forget_senders(self.clock.now().before(SENDERS)).await {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "the senders of waiting reports are forgotten later"
                );
            }
            time::sleep(ROUND).await;
        }
    }

    async fn run_cards(&self) {
        // All unused cards of before are erased, so the used ones need not be looked through again.
        let mut from = Timestamp::EPOCH;
        while !self.keep_cards.is_zero() {
            let next = self.clock.now().before(self.keep_cards).before(OVERLAP);
            match self.erase_cards(from).await {
                Ok(erased) => {
                    from = next;
                    if erased > 0 {
                        tracing::info!(erased, "unused cards older than siaga.cards.keep were erased");
                    }
                }
                Err(error) => tracing::warn!(error = &error as &dyn Error, "unused cards are erased later"),
            }
            time::sleep(ROUND).await;
        }
    }
}

#[rocket::async_trait]
impl Fairing for ReportRetention {
    fn info(&self) -> Info {
        Info { name: "Old reports and cards", kind: Kind::Liftoff }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        let old = self.clone();
        run_in_background(rocket, async move {
            join!(old.run_reports(), old.run_cards(), old.run_senders());
        });
    }
}
