use std::time::Duration;

use async_trait::async_trait;

use super::{ReportStore, Revision, StoreError, Versioned};
use crate::model::{
    HideWaiting, Moderation, ModerationEntry, PhotoMove, ReportKey, Timestamp, WaitingReports,
};

/// Selects entries of the moderation log by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModerationQuery {
    /// Only entries with a greater number.
    pub after: u64,
    /// Only entries with a smaller number; `None` for no limit.
    pub before: Option<u64>,
    /// How many entries at most.
    pub most: u32,
}

/// Selects reports that wait for review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingQuery {
    /// How many reports at most.
    pub most: u32,
    /// How many reports of one sender at most, so that one sender cannot fill the list.
    pub per_sender: u32,
}

/// Moderation of reports: hide, show, erase, and the log of these actions.
///
/// A *hidden* report is in no list, count or layer, and [`ReportStore::report`] does not find it. It keeps its key and its card;
/// its photo is in a private place. Of an *erased* report, only an [`ErasedReport`](crate::model::ErasedReport) remains:
/// [`ReportStore::report_series`] and [`ReportStore::report_summary`] still count it, unless it was hidden. Its card is gone too.
/// Its key and the `post_id` of its partner post are never reused, and an import does not restore it.
///
/// A *waiting* report is hidden until a moderator decides: it was received for review, without an entry in the log. Hiding,
/// showing or erasing it ends the waiting, and is logged.
///
/// The photos are in a storage outside of the store. So the store has a queue of photos to be moved, which any server processes.
///
/// Each method has a default, for stores that cannot hide reports.
#[async_trait]
pub trait ModerationStore: ReportStore {
    /// Hides, shows or erases a report, and returns whether anything changed: hiding a hidden report changes nothing. Its log
    /// entry and the move of the photo are part of the change, which is a visible change of the reports. **Default: an error**
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such report, or it was erased and is to be hidden or shown.
    /// [`StoreError::Conflict`] if the report was made at another time than expected. [`StoreError::Refused`] if the store cannot
    /// hide reports.
    async fn moderate(&self, _moderation: &Moderation) -> Result<bool, StoreError> {
        Err(StoreError::Refused { what: "this store cannot hide or erase reports".to_owned() })
    }

    /// Returns log entries, newest first, with the revision of the reports at which they were read. **Default: none**
    async fn moderation_log(
        &self,
        _query: ModerationQuery,
    ) -> Result<Versioned<Vec<ModerationEntry>>, StoreError> {
        Ok(Versioned::new(Revision(0), Vec::new()))
    }

    /// Returns reports that wait for review: the highest keys first, suspect ones last. **Default: none**
    async fn waiting_reports(&self, _query: WaitingQuery) -> Result<WaitingReports, StoreError> {
        Ok(WaitingReports::default())
    }

    /// Hides all waiting reports of a sender, as one change with a log entry for each, and returns their keys in ascending order.
    /// Reports that a moderator has shown by then stay visible. **Default: hides none**
    async fn hide_waiting(&self, _request: &HideWaiting) -> Result<Vec<ReportKey>, StoreError> {
        Ok(Vec::new())
    }

    /// Erases the senders of reports that have waited since `_until` or longer. **Default: does nothing**
    async fn forget_senders(&self, _until: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Erases reports that were made before a moment, oldest first and at most `most`, without log entries. Returns how many were
    /// erased. A report that cannot be read is skipped and logged. **Default: erases none**
    async fn erase_reports(&self, _before: Timestamp, _most: u32) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Takes the photo that has been due for longest; photos to be deleted come last. No other call takes it during the `lease`.
    /// `None` if no photo is due. **Default: `None`**
    async fn take_photo_move(&self, _lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        Ok(None)
    }

    /// Like [`take_photo_move`](Self::take_photo_move) for the photo of one report, hidden or not. **Default: `None`**
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if another call has taken the photo.
    async fn take_photo_move_of(
        &self,
        _report: ReportKey,
        _lease: Duration,
    ) -> Result<Option<PhotoMove>, StoreError> {
        Ok(None)
    }

    /// Records that a photo was moved. If its target has changed since, it is due again at once. **Default: does nothing**
    async fn end_photo_move(&self, _completed: &PhotoMove) -> Result<(), StoreError> {
        Ok(())
    }
}

impl StoreError {
    #[must_use]
    pub(crate) fn no_report(key: ReportKey) -> Self {
        Self::NotFound { what: format!("report {key}") }
    }

    pub(super) fn photo_is_taken(report: ReportKey) -> Self {
        Self::Conflict { what: format!("the photo of report {report} is being moved") }
    }

    pub(super) fn report_mismatch(key: ReportKey, made_at: Timestamp) -> Self {
        Self::Conflict { what: format!("report {key} is another one, which was made at {made_at}") }
    }
}
