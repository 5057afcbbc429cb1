//! Moderation of reports.

use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;

use super::FileStore;
use super::tables::Row;
use crate::model::{Moderation, ModerationEntry, PhotoMove, ReportKey, Timestamp};
use crate::stores::memory::{MemoryStore, Moderated, Pending};
use crate::stores::{ModerationQuery, ModerationStore, StoreError, Versioned};

/// Returns the rows of what moderation changed.
fn rows_of(done: &Moderated) -> impl Iterator<Item = Row> {
    let hidden = done.hidden.map(|(key, hidden)| Row::Visibility(key, hidden));
    let erased = done.erased.iter().map(|(erased, card)| Row::Erased(erased.clone(), card.clone()));
    let moves = done.moves.iter().map(|(photo, pending)| Row::PhotoMove(photo.clone(), Some(*pending)));
    let entry = done.entry.clone().map(Row::Moderation);
    hidden.into_iter().chain(erased).chain(moves).chain(entry)
}

impl FileStore {
    async fn moderating<T: Send + 'static>(
        &self,
        change: impl FnOnce(&MemoryStore) -> Result<Moderated, StoreError> + Send + 'static,
        result: impl FnOnce(&Moderated) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let writing = self.journal.write(move |next, rows| {
            let changing = async move {
                let done = change(next)?;
                rows.extend(rows_of(&done));
                Ok(result(&done))
            };
            changing.boxed()
        });
        writing.await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ModerationStore for FileStore {
    async fn moderate(&self, order: &Moderation) -> Result<bool, StoreError> {
        let order = order.clone();
        self.moderating(move |next| next.moderated(&order), |done| done.entry.is_some()).await
    }

    async fn moderation_log(
        &self,
        query: ModerationQuery,
    ) -> Result<Versioned<Vec<ModerationEntry>>, StoreError> {
        self.current().moderation_log(query).await
    }

    async fn erase_reports(&self, before: Timestamp, most: u32) -> Result<u64, StoreError> {
        self.moderating(move |next| next.erased(before, most), |done| done.erased.len() as u64).await
    }

    async fn take_photo_move(&self, lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        // Servers ask again and again.
        if !self.current().has_moves() {
            return Ok(None);
        }
        let taking = self.journal.write(move |next, rows| {
            let taken = next.taken_move(lease);
            rows.extend(taken.clone().map(|(photo, pending)| Row::PhotoMove(photo, Some(pending))));
            let taken = taken.map(|(photo, Pending { to, .. })| PhotoMove { photo, to });
            async { Ok(taken) }.boxed()
        });
        taking.await
    }

    async fn take_photo_move_of(
        &self,
        report: ReportKey,
        lease: Duration,
    ) -> Result<Option<PhotoMove>, StoreError> {
        let taking = self.journal.write(move |next, rows| {
            let taken = next.taken_move_of(report, lease).map(|taken| {
                rows.extend(taken.clone().map(|(photo, pending)| Row::PhotoMove(photo, Some(pending))));
                taken.map(|(photo, Pending { to, .. })| PhotoMove { photo, to })
            });
            async { taken }.boxed()
        });
        taking.await
    }

    async fn end_photo_move(&self, done: &PhotoMove) -> Result<(), StoreError> {
        let done = done.clone();
        let ending = self.journal.write(move |next, rows| {
            let left = next.ended_move(&done);
            rows.push(Row::PhotoMove(done.photo, left));
            async { Ok(()) }.boxed()
        });
        ending.await
    }
}
