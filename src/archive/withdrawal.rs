use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use rocket::tokio::time;

use super::{Archive, Month, Package};
use crate::runtime::off_thread;
use crate::stores::{ModerationQuery, StoreError};

/// How often the server reads the moderation log, to notice moderation by other servers and by commands.
const INTERVAL: Duration = Duration::from_secs(3);
const PAGE: u32 = 1_000;

#[derive(Debug, Default)]
pub(super) struct ModerationProgress {
    /// The log entries after the first number, up to the second, were read. `(0, 0)`: the log is empty. `None`: not read yet.
    read: Option<(u64, u64)>,
    /// For each month, the number of the newest entry about one of its reports.
    months: BTreeMap<Month, u64>,
}

impl ModerationProgress {
    pub(super) fn newest(&self) -> Option<u64> {
        self.read.map(|(_, newest)| newest)
    }

    /// Whether a month's data is current. `entry` was the newest log entry when the data was read. Also false if later entries
    /// have not been read, or if a restored log does not contain `entry`.
    pub(super) fn is_current(&self, month: Month, entry: u64) -> bool {
        let is_known = self.read.is_some_and(|(after, newest)| (after..=newest).contains(&entry));
        is_known && self.months.get(&month).is_none_or(|newest| *newest <= entry)
    }

    /// Records that the entries from `first` to `newest` were read; without `first`, only `newest`.
    fn add(&mut self, first: Option<u64>, newest: u64, months: &BTreeMap<Month, u64>) {
        self.read = match self.read {
            Some((after, known)) if newest > 0 => Some((after, known.max(newest))),
            None if newest > 0 => Some((first.unwrap_or(newest), newest)),
            // The query returned no entry: the log is empty, or a restored log lacks the entry that was read last.
            _ => {
                self.months.clear();
                Some((0, 0))
            }
        };
        for (month, number) in months {
            let last = self.months.entry(*month).or_default();
            *last = (*last).max(*number);
        }
    }
}

impl Archive {
    pub(super) fn moderation(&self) -> MutexGuard<'_, ModerationProgress> {
        self.moderated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn read_log_once(&self) -> Result<(), StoreError> {
        let is_read = self.moderation().newest().is_some();
        if is_read { Ok(()) } else { self.withdraw().await }
    }

    /// Reads new entries of the moderation log, and withdraws the months of their reports. On return, this server no longer
    /// serves files with a report that was hidden or erased before the call.
    pub(crate) async fn withdraw(&self) -> Result<(), StoreError> {
        let previous = self.moderation().newest();
        let first = match previous {
            Some(_) => previous,
            // Before the first read, start at the lowest entry number in the data packages: earlier entries withdraw no month.
            None => self.read_packages().await.values().map(|package| package.moderated).min(),
        };
        let limit = first.map_or(1, |_| PAGE);
        // Query the entry `first` again: if it is missing, the log was restored.
        let after = first.unwrap_or_default().saturating_sub(1);
        let (mut newest, mut months, mut before) = (0, BTreeMap::new(), None);
        loop {
            let page = self.store.moderation_log(ModerationQuery { after, before, most: limit }).await?.value;
            for entry in &page {
                newest = newest.max(entry.number);
                // The entries come newest first.
                months.entry(Month::containing(entry.made_at)).or_insert(entry.number);
            }
            before = page.last().map(|entry| entry.number);
            if page.len() < PAGE as usize {
                break;
            }
        }
        if previous != Some(newest) {
            self.moderation().add(first, newest, &months);
            let archive = self.clone();
            let task = off_thread(move |_| months.into_keys().for_each(|month| archive.remove(month)));
            // The panic hook logs a panic of this task.
            drop(task.await);
        }
        Ok(())
    }

    fn remove(&self, month: Month) {
        let folder = self.month_folder(month);
        let is_withdrawn = Package::read(&folder).is_ok_and(|package| !self.is_public(month, &package));
        if is_withdrawn && let Err(error) = fs::remove_dir_all(folder) {
            tracing::warn!(
                error = &error as &dyn Error,
                %month,
                "the files of a withdrawn month of the archive cannot be removed; they are not served"
            );
        }
    }

    /// Withdraws months periodically, without end. Tries again after failures.
    pub(super) async fn follow_log(&self) {
        loop {
            if let Err(error) = self.withdraw().await {
                tracing::debug!(error = &error as &dyn Error, "cannot read the moderation log; retrying");
            }
            time::sleep(INTERVAL).await;
        }
    }
}
