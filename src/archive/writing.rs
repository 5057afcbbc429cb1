use std::error::Error;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rocket::fairing::AdHoc;
use rocket::tokio::{join, time};

use super::files::{AREAS, MonthFiles, REPORTS, write_areas};
use super::package::{PACKAGE, write_package};
use super::{Archive, Month};
use crate::model::{AreaSelector, Layer, Period, StateChange, Timestamp};
use crate::runtime::{on_own_thread, run_in_background};
use crate::stores::{
    EntryQuery, GaugeQuery, HistoryQuery, ReportQuery, Revision, StoreError, Versioned, Window,
};

const INTERVAL: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

type Failure = Box<dyn Error + Send + Sync>;

impl Archive {
    pub(crate) fn task(&self) -> AdHoc {
        let archive = self.clone();
        AdHoc::on_liftoff("Public archive", |rocket| {
            let task = async move {
                join!(archive.follow_log(), archive.write_periodically());
            };
            Box::pin(async move { run_in_background(rocket, task) })
        })
    }

    /// Writes the months that are due, periodically and without end.
    async fn write_periodically(&self) {
        let mut areas = None;
        loop {
            let archive = self.clone();
            // The panic hook logs a panic; the next round tries again.
            let written = on_own_thread(async move |_| archive.write_due(areas).await).await;
            areas = written.unwrap_or(areas);
            time::sleep(INTERVAL).await;
        }
    }

    /// Writes the areas if their revision has changed, and the months that are due. The next round repeats what failed. Returns
    /// the revision of the areas in the folder.
    async fn write_due(&self, areas: Option<Revision>) -> Option<Revision> {
        self.remove_leftovers();
        let revision = log_failure("areas", self.write_areas(areas).await);
        for month in log_failure("months", self.due().await).unwrap_or_default() {
            if log_failure(&month.to_string(), self.write_month(month).await).is_some() {
                tracing::info!(%month, "a month of the archive was written");
            }
        }
        revision.or(areas)
    }

    /// Writes the areas and all months with data into a folder without an archive. Returns the number of months.
    pub(crate) async fn write_all(&self) -> Result<usize, Failure> {
        if self.folder.join(PACKAGE).exists() {
            return Err("the folder has an archive already".into());
        }
        self.read_log_once().await?;
        let months = self.months_with_data(Month::containing(self.clock.now())).await?;
        for month in &months {
            self.write_month(*month).await?;
        }
        // Last, because their description marks the archive as complete. Without it, a failed write can be repeated.
        self.write_areas(None).await?;
        Ok(months.len())
    }

    /// Returns the finished months to write: each one that is missing or withdrawn, and each of the last two whose number of
    /// reports has changed.
    async fn due(&self) -> Result<Vec<Month>, Failure> {
        let last = Month::containing(self.clock.now()).previous();
        let written = self.months().await?;
        let mut due = Vec::new();
        for month in self.months_with_data(last).await? {
            let is_due = match written.get(&month) {
                None => true,
                Some(package) if month >= last.previous() => {
                    let stored = self.count_reports(month.start(), month.end(), u64::MAX).await?;
                    !package.resources.iter().any(|file| file.path == REPORTS && file.rows == stored)
                }
                Some(_) => false,
            };
            due.extend(is_due.then_some(month));
        }
        Ok(due)
    }

    /// Returns the months from the first flood state or report to `last`. A binary search over all months finds the first one in
    /// about ten steps. Its queries stay small, because they count to at most 1.
    async fn months_with_data(&self, last: Month) -> Result<Vec<Month>, StoreError> {
        let mut months: Vec<_> = Month::containing(Timestamp::EPOCH).until(last).collect();
        let (mut from, mut until) = (0, months.len());
        while from < until {
            let middle = from.midpoint(until);
            let (selector, end) = (AreaSelector::default(), months[middle].end());
            let entries = EntryQuery { selector, area: None, from: Timestamp::EPOCH, until: end };
            let has_data = self.store.count_flood_entries(&entries, 1).await? > 0
                || self.count_reports(Timestamp::EPOCH, end, 1).await? > 0;
            if has_data { until = middle } else { from = middle + 1 }
        }
        Ok(months.split_off(from))
    }

    async fn count_reports(&self, start: Timestamp, end: Timestamp, max: u64) -> Result<u64, StoreError> {
        self.store.count_reports(&reports_within(Window::Within(period(start, end)?)), max).await
    }

    /// Writes the areas, unless `written` is already their current revision. Returns the current revision.
    async fn write_areas(&self, written: Option<Revision>) -> Result<Revision, Failure> {
        let Versioned { revision, value: places, .. } = self.store.places().await?;
        if written != Some(revision) {
            let part_folder = self.create_part("areas")?;
            let file = write_areas(&part_folder, places.areas(), &self.tables)?;
            write_package(&part_folder, &self.config, self.clock.now(), None, vec![file], 0, None)?;
            for name in [AREAS, PACKAGE] {
                fs::rename(part_folder.join(name), self.folder.join(name))?;
            }
            fs::remove_dir(part_folder)?;
        }
        Ok(revision)
    }

    /// Writes a month to a new folder, which replaces the older folder of the month once it is complete.
    async fn write_month(&self, month: Month) -> Result<(), Failure> {
        let now = self.clock.now();
        let (start, end) = (month.start(), month.end().min(now));
        // Read this number before the data: if an entry hides a report later, the number shows that the data is outdated.
        let moderated = self.moderation().newest().unwrap_or_default();
        let part_folder = self.create_part(&month.to_string())?;
        let mut files = MonthFiles::create(&part_folder, &self.tables, &self.config.archive)?;
        files.add_changes(&self.changes(start, end).await?)?;
        let mut day = start;
        while day <= end {
            let last = day.saturating_add(DAY).saturating_sub(Duration::from_millis(1)).min(end);
            let window = Window::Within(period(day, last)?);
            let mut reports = self.store.reports(&reports_within(window)).await?.value;
            reports.reports.sort_by_key(|report| (report.content.created_at, report.key));
            let gauges = GaugeQuery { selector: AreaSelector::default(), window, with_failed: true };
            let gauges = self.store.gauges(&gauges).await?.value;
            files.add_day(&Layer::Reports(reports), &gauges)?;
            day = day.saturating_add(DAY);
        }
        let (resources, oldest) = files.finish()?;
        write_package(&part_folder, &self.config, now, Some(month), resources, moderated, oldest)?;
        if !self.moderation().is_current(month, moderated) {
            return Err("a report of the month was hidden, shown or erased while it was written".into());
        }
        // A folder cannot be replaced atomically: between the two renames the month is missing.
        let (folder, old) = (self.month_folder(month), part_folder.with_extension("old"));
        // An error is ignored: either there is no older folder, or the next rename fails too.
        drop(fs::rename(&folder, &old));
        if let Err(error) = fs::rename(part_folder, &folder) {
            // Put the older folder back, if there is one: the next try can be an hour away.
            drop(fs::rename(old, folder));
            return Err(error.into());
        }
        drop(fs::remove_dir_all(old));
        Ok(())
    }

    /// Creates a hidden folder with a unique name for unfinished files.
    fn create_part(&self, name: &str) -> io::Result<PathBuf> {
        let part = self.folder.join(format!(".{name}.{:016x}.part", RandomState::new().hash_one(0)));
        fs::create_dir_all(&part)?;
        Ok(part)
    }

    /// Returns the states in effect when a period starts, and all changes during the period, ordered by time.
    async fn changes(&self, start: Timestamp, end: Timestamp) -> Result<Vec<(u64, StateChange)>, StoreError> {
        let at_start = HistoryQuery { selector: AreaSelector::default(), period: period(start, start)? };
        let initial = self.store.flood_archive(&at_start).await?.value;
        let within = EntryQuery { selector: AreaSelector::default(), area: None, from: start, until: end };
        let log = self.store.flood_entries(&within).await?.value;
        let initial = initial.into_iter().filter(|record| record.last_updated < start).map(|record| {
            (record.area_id.number(), StateChange { state: Some(record.max_state), at: record.last_updated })
        });
        let changed = log.into_iter().flat_map(|(area, entries)| {
            entries.into_iter().map(move |entry| (area.number(), entry.change()))
        });
        let mut changes: Vec<_> = initial.chain(changed).collect();
        changes.sort_by_key(|(area, change)| (change.at, *area));
        Ok(changes)
    }

    /// Removes the folders of failed writes (`.part`), and replaced folders that could not be removed (`.old`).
    fn remove_leftovers(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !is_hidden || path.extension().is_none_or(|kind| kind != "part" && kind != "old") {
                continue;
            }
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if let Err(error) = removed {
                let (path, error) = (path.display(), &error as &dyn Error);
                tracing::warn!(%path, error, "cannot remove the files of an earlier write of the archive");
            }
        }
    }
}

fn log_failure<T>(part: &str, outcome: Result<T, Failure>) -> Option<T> {
    let log = |error: &Failure| {
        tracing::warn!(part, error = &**error as &dyn Error, "cannot write a part of the archive; retrying");
    };
    outcome.inspect_err(log).ok()
}

fn reports_within(window: Window) -> ReportQuery {
    ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window }
}

fn period(start: Timestamp, end: Timestamp) -> Result<Period, StoreError> {
    Period::new(start, end, Duration::MAX).map_err(|error| StoreError::Backend { source: Box::new(error) })
}
