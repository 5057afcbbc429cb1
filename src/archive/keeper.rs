use std::error::Error;
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::time;
use rocket::{Orbit, Rocket};

use super::{Archive, ArchiveError, Month};
use crate::model::AreaSelector;
use crate::stores::ReportQuery;
use crate::stores::{Resource, Revision, Window};
use crate::tasks::run_in_background;

/// How often to look for months to write.
const ROUND: Duration = Duration::from_hours(1);

/// Writes the finished months of the archive: those that are missing, those that were withdrawn, and of the last two also those to
/// which reports were added.
#[derive(Clone, Debug)]
pub(crate) struct Keeper(Archive);

/// What was found in earlier rounds.
#[derive(Debug, Default)]
pub(crate) struct Found {
    first: Option<Month>,
    /// The revision of the areas in the folder.
    places: Option<Revision>,
}

impl Keeper {
    /// Makes the task for an archive, which writes nothing if no folder is configured.
    pub(crate) fn new(archive: Archive) -> Self {
        Self(archive)
    }

    /// Writes the areas and the months that are due now, and returns these months.
    ///
    /// # Errors
    ///
    /// If the store fails, or a file cannot be written.
    pub(crate) async fn round(&self, found: &mut Found) -> Result<Vec<Month>, ArchiveError> {
        let Self(archive) = self;
        let Some(folder) = archive.config.archive.folder.clone() else { return Ok(Vec::new()) };
        let places = archive.store.revision(Resource::Places).await?;
        if found.places != Some(places) {
            archive.write_areas(&folder).await?;
            found.places = Some(places);
        }
        if found.first.is_none() {
            found.first = archive.first().await?;
        }
        let last = Month::of(archive.clock.now()).previous();
        let due = self.due(found.first, last).await?;
        for month in &due {
            archive.write(*month, &folder).await?;
        }
        Ok(due)
    }

    /// Returns the finished months that are missing or out of date.
    async fn due(&self, first: Option<Month>, last: Month) -> Result<Vec<Month>, ArchiveError> {
        let Self(archive) = self;
        let current = archive.months().await?;
        let mut due = Vec::new();
        for month in first.into_iter().flat_map(|first| first.until(last)) {
            let written = current.iter().find(|(of, _)| *of == month);
            let is_due = match written {
                None => true,
                Some((_, package)) if month >= last.previous() => {
                    let written = package.resources.iter().find(|resource| resource.path == "reports.csv");
                    let window = Window::Within(super::period(month.begin(), month.end())?);
                    let query = ReportQuery {
                        selector: AreaSelector::default(),
                        disaster: None,
                        training: false,
                        window,
                    };
                    let stored = archive.store.count_reports(&query, u64::MAX >> 1).await?;
                    written.is_none_or(|written| written.rows != stored)
                }
                Some(_) => false,
            };
            due.extend(is_due.then_some(month));
        }
        Ok(due)
    }

    async fn run(&self) {
        let mut found = Found::default();
        loop {
            match self.round(&mut found).await {
                Ok(months) if months.is_empty() => {}
                Ok(months) => tracing::info!(months = months.len(), "the archive was written"),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn Error, "the archive is written later");
                }
            }
            time::sleep(ROUND).await;
        }
    }
}

#[rocket::async_trait]
impl Fairing for Keeper {
    fn info(&self) -> Info {
        Info { name: "Public archive", kind: Kind::Liftoff }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        if self.0.config.archive.folder.is_some() {
            let keeper = self.clone();
            run_in_background(rocket, async move { keeper.run().await });
        }
    }
}
