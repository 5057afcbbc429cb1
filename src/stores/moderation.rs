use std::time::Duration;

use async_trait::async_trait;

use super::{ReportStore, Revision, StoreError, Versioned};
use crate::model::{
    HiddenReports, HideWaiting, Moderation, ModerationEntry, PhotoMove, ReportKey, Timestamp, WaitingReports,
};

/// Selects entries of the moderation log by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModerationQuery {
    /// Only entries with a greater number.
    pub after: u64,
    /// Only entries with a smaller number; `None` for no limit.
    pub before: Option<u64>,
    /// How many entries to return at most.
    pub most: u32,
}

/// Selects reports that wait for review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingQuery {
    /// How many reports to return at most.
    pub most: u32,
    /// How many reports of one sender to return at most, so that one sender cannot fill the list.
    pub per_sender: u32,
}

/// Moderation of reports: hide, show, erase, and the log of these actions.
///
/// A *hidden* report is in no list, count or layer, and [`ReportStore::report`] does not find it. The report keeps its key and
/// its card; its photo moves to a private storage. An *erased* report is deleted with its card; only an
/// [`ErasedReport`](crate::model::ErasedReport) remains, which [`ReportStore::report_series`] and [`ReportStore::report_summary`]
/// still count, unless the report was hidden. Its key and the `post_id` of its partner post are never reused, and an import does
/// not restore it.
///
/// A *waiting* report was received for review, and is hidden until a moderator decides. Receiving it adds no log entry. A
/// moderator who hides, shows or erases the report ends the waiting; this is logged.
///
/// Photos are stored outside of the store. So the store has a queue of photos to move or delete, which any server processes.
///
/// All methods have defaults, for stores that cannot hide reports.
#[async_trait]
pub trait ModerationStore: ReportStore {
    /// Hides, shows or erases a report. Returns whether anything changed: hiding a report that a moderator has already hidden
    /// changes nothing. The log entry and the queued move of the photo are part of the same atomic change. **Default: an error**
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such report, or if an erased report is to be hidden or shown.
    /// [`StoreError::OutsideLimit`] if the report is outside of the limit. [`StoreError::Conflict`] if the report was not made at
    /// the expected time. [`StoreError::Refused`] if the store cannot hide reports.
    async fn moderate(&self, _moderation: &Moderation) -> Result<bool, StoreError> {
        Err(StoreError::Refused { what: "this store cannot hide or erase reports".to_owned() })
    }

    /// Returns log entries, newest first, with the revision that the reports had during the read. **Default: none**
    async fn moderation_log(
        &self,
        _query: ModerationQuery,
    ) -> Result<Versioned<Vec<ModerationEntry>>, StoreError> {
        Ok(Versioned::new(Revision(0), Vec::new()))
    }

    /// Returns reports that wait for review: highest keys first, but reports probably sent by a program last. **Default: none**
    async fn waiting_reports(&self, _query: WaitingQuery) -> Result<WaitingReports, StoreError> {
        Ok(WaitingReports::default())
    }

    /// Hides all waiting reports of a sender that are inside the limit in one atomic change, with a log entry for each report.
    /// Reports that a moderator has already shown stay visible. **Default: hides none**
    async fn hide_waiting(&self, _request: &HideWaiting) -> Result<HiddenReports, StoreError> {
        Ok(HiddenReports::default())
    }

    /// Removes the sender from reports that have been waiting since `_until` or longer. **Default: does nothing**
    async fn forget_senders(&self, _until: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Erases up to `_most` reports made before `_before`, oldest first, without entries in the moderation log. Returns the
    /// number of erased reports. If a stored report cannot be read, skips it and logs a message. **Default: erases none**
    async fn erase_reports(&self, _before: Timestamp, _most: u32) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Takes the photo from the queue that has been due for longest; photos to delete come last. No other call takes the photo
    /// during the `lease`. Returns `None` if no photo is due. **Default: `None`**
    async fn take_photo_move(&self, _lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        Ok(None)
    }

    /// Like [`take_photo_move`](Self::take_photo_move), but takes the photo of one report, hidden or not. **Default: `None`**
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

    /// Removes a moved photo from the queue, or makes it due again if its target has changed. **Default: does nothing**
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
