use std::time::Duration;

use async_trait::async_trait;

use super::{ReportStore, Revision, StoreError, Versioned};
use crate::model::{
    HideWaiting, Moderation, ModerationEntry, PhotoMove, ReportKey, Timestamp, WaitingReports,
};

/// Which entries of the moderation log to return: those whose number is between two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModerationQuery {
    /// Only entries with a greater number.
    pub after: u64,
    /// Only entries with a smaller number; `None` for no limit.
    pub before: Option<u64>,
    /// How many entries at most.
    pub most: u32,
}

/// Which reports that wait for review to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingQuery {
    /// How many at most.
    pub most: u32,
    /// How many of one sender at most, so that none keeps those of others off the list.
    pub of_each: u32,
}

/// Moderation of reports: hiding, showing again and erasing, and the log of it.
///
/// A *hidden* report is in no list, count or layer, and [`ReportStore::report`] does not find it. It keeps its key, its
/// card, and its photo in a private place. An *erased* report is gone but for an
/// [`ErasedReport`](crate::model::ErasedReport): [`ReportStore::report_series`] and [`ReportStore::report_summary`] go
/// on counting it, unless it was hidden; nothing else shows it. Its card is gone too. Neither its key nor its post is
/// used again, and an import does not bring it back.
///
/// A *waiting* report is a hidden one that no moderator has seen: it was received for review, without an entry in the log.
/// Hiding, showing or erasing it ends the waiting, and is logged.
///
/// The photos of the reports are in a storage that the store does not know, so it keeps a list of the photos that are
/// to be moved, which any server works off.
///
/// Each method has a default, for stores that cannot hide reports.
#[async_trait]
pub trait ModerationStore: ReportStore {
    /// Carries out an order, and returns whether it changed anything: a report that is hidden already is not hidden
    /// again. The change, its entry in the log, and the move of the photo are one change. It is a visible change of the
    /// reports. **Default: refuses**
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such report, or it was erased and is to be hidden or shown.
    /// [`StoreError::Conflict`] if the report was made at another time than the order says.
    /// [`StoreError::Refused`] if the store cannot hide reports. [`StoreError::Unavailable`].
    async fn moderate(&self, _order: &Moderation) -> Result<bool, StoreError> {
        Err(StoreError::Refused { what: "this store cannot hide or erase reports".to_owned() })
    }

    /// Returns entries of the log, newest first, with the revision of the reports at which they were read.
    /// **Default: none**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn moderation_log(
        &self,
        _query: ModerationQuery,
    ) -> Result<Versioned<Vec<ModerationEntry>>, StoreError> {
        Ok(Versioned::at(Revision(0), Vec::new()))
    }

    /// Returns reports that wait for review: those of the highest keys first, suspect ones last. **Default: none**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn waiting_reports(&self, _query: WaitingQuery) -> Result<WaitingReports, StoreError> {
        Ok(WaitingReports::default())
    }

    /// Hides all reports of a sender that wait for review, as one change with an entry in the log for each, and returns their keys in
    /// ascending order. Reports that a moderator has shown meanwhile stay as they are. **Default: hides none**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn hide_waiting(&self, _order: &HideWaiting) -> Result<Vec<ReportKey>, StoreError> {
        Ok(Vec::new())
    }

    /// Forgets the senders of reports that have waited since a moment or longer. **Default: does nothing**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn forget_senders(&self, _until: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Erases at most `most` of the reports that were made before a moment, oldest first, and returns how many these
    /// were. They get no entry in the log. A report that cannot be read is left out and logged. **Default: erases none**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn erase_reports(&self, _before: Timestamp, _most: u32) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Takes a photo that is to be moved: those to be deleted last, and otherwise the one that has been due for longest.
    /// No other call takes it during the `lease`. Returns `None` if no photo is to be moved now. **Default: `None`**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn take_photo_move(&self, _lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        Ok(None)
    }

    /// Does the same for the photo of one report, hidden or not. Returns `None` if this photo is not to be moved.
    /// **Default: `None`**
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if another call has taken the photo. [`StoreError::Unavailable`].
    async fn take_photo_move_of(
        &self,
        _report: ReportKey,
        _lease: Duration,
    ) -> Result<Option<PhotoMove>, StoreError> {
        Ok(None)
    }

    /// Records that a photo was moved. If it belongs elsewhere by now, it can be taken again at once. **Default: does
    /// nothing**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn end_photo_move(&self, _done: &PhotoMove) -> Result<(), StoreError> {
        Ok(())
    }
}

impl StoreError {
    /// Returns the error for a report that does not exist.
    #[must_use]
    pub(crate) fn no_report(key: ReportKey) -> Self {
        Self::NotFound { what: format!("report {key}") }
    }

    /// Returns the conflict for a photo that another call has taken.
    pub(super) fn photo_is_taken(report: ReportKey) -> Self {
        Self::Conflict { what: format!("the photo of report {report} is being moved") }
    }

    /// Returns the conflict for a report that was made at another time than expected.
    pub(super) fn another_report(key: ReportKey, made_at: Timestamp) -> Self {
        Self::Conflict { what: format!("report {key} is another one, which was made at {made_at}") }
    }
}
