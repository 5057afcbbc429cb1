use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use rocket::tokio::time;

use super::{Archive, Month, Package};
use crate::runtime::off_thread;
use crate::stores::{ModerationQuery, StoreError};

/// How often the moderation log is read, to see what was moderated by other servers and commands.
const ROUND: Duration = Duration::from_secs(3);
/// How many entries of the log are read at once.
const PAGE: u32 = 1_000;

/// What was read of the moderation log.
#[derive(Debug, Default)]
pub(super) struct ModerationSnapshot {
    /// All entries after the first number are read, up to the second; 0 if there is none. `None` before the log was read.
    read: Option<(u64, u64)>,
    /// The numbers of the newest entries about reports of each month.
    months: BTreeMap<Month, u64>,
}

impl ModerationSnapshot {
    /// Returns the number of the newest entry.
    pub(super) fn newest(&self) -> Option<u64> {
        self.read.map(|(_, newest)| newest)
    }

    /// Returns whether data of a month are current that were read when an entry was the newest. They are not if later entries are
    /// unknown, and not if the log has no such entry, because it was restored.
    pub(super) fn is_current(&self, month: Month, entry: u64) -> bool {
        let is_known = self.read.is_some_and(|(after, newest)| (after..=newest).contains(&entry));
        is_known && self.months.get(&month).is_none_or(|newest| *newest <= entry)
    }

    /// Adds the entries from the number `first` on; without it, the newest one alone.
    fn add(&mut self, first: Option<u64>, newest: u64, months: &BTreeMap<Month, u64>) {
        self.read = match self.read {
            Some((after, known)) if newest > 0 => Some((after, known.max(newest))),
            None if newest > 0 => Some((first.unwrap_or(newest), newest)),
            // The known entry is not there any more.
            _ => {
                self.months.clear();
                Some((0, 0))
            }
        };
        for (month, number) in months {
            let known = self.months.entry(*month).or_default();
            *known = (*known).max(*number);
        }
    }
}

impl Archive {
    pub(super) fn moderated(&self) -> MutexGuard<'_, ModerationSnapshot> {
        self.moderated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the log unless it was read before.
    pub(super) async fn read_log_once(&self) -> Result<(), StoreError> {
        let is_read = self.moderated().newest().is_some();
        if is_read { Ok(()) } else { self.withdraw().await }
    }

    /// Reads the new entries of the moderation log, and withdraws the months of their reports. When it returns, this server no longer
    /// serves files with a report that was hidden or erased before the call.
    pub(crate) async fn withdraw(&self) -> Result<(), StoreError> {
        let known = self.moderated().newest();
        let first = match known {
            Some(_) => known,
            // Older entries withdraw no month that is in the folder.
            None => self.written().await.values().map(|package| package.moderated).min(),
        };
        let most = first.map_or(1, |_| PAGE);
        // The first entry is read again: if it is not there, the log was restored.
        let after = first.unwrap_or_default().saturating_sub(1);
        let (mut newest, mut months, mut before) = (0, BTreeMap::new(), None);
        loop {
            let page = self.store.moderation_log(ModerationQuery { after, before, most }).await?.value;
            for entry in &page {
                newest = newest.max(entry.number);
                // The newest entries come first.
                months.entry(Month::containing(entry.made_at)).or_insert(entry.number);
            }
            before = page.last().map(|entry| entry.number);
            if page.len() < PAGE as usize {
                break;
            }
        }
        if known != Some(newest) {
            self.moderated().add(first, newest, &months);
            let archive = self.clone();
            let removing = off_thread(move |_| months.into_keys().for_each(|month| archive.remove(month)));
            // A panic was logged.
            drop(removing.await);
        }
        Ok(())
    }

    /// Removes the files of a month if they are withdrawn.
    fn remove(&self, month: Month) {
        let place = self.place(month);
        let is_withdrawn = Package::read(&place).is_ok_and(|package| !self.is_public(month, &package));
        if is_withdrawn && let Err(error) = fs::remove_dir_all(place) {
            tracing::warn!(
                error = &error as &dyn Error,
                %month,
                "the files of a withdrawn month of the archive cannot be removed; they are not served"
            );
        }
    }

    /// Withdraws months as the log grows.
    pub(super) async fn follow_log(&self) {
        loop {
            if let Err(error) = self.withdraw().await {
                tracing::debug!(error = &error as &dyn Error, "the archive reads the moderation log later");
            }
            time::sleep(ROUND).await;
        }
    }
}
