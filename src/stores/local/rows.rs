use std::sync::Arc;

use super::PendingMove;
use crate::auth::Secret;
use crate::model::{
    Area, Card, CardId, ErasedReport, FloodBatch, FloodChange, Gauge, Infrastructure, ModerationEntry, Mute,
    Observation, PartnerPost, Region, Report, ReportKey, Timestamp, Waiting,
};
use crate::stores::service_state::Image;
use crate::stores::{EndedLogin, PushRecord, StoredKey, WebhookState};

/// A row to write. It replaces the stored row with the same identifier.
#[derive(Clone, Debug)]
pub(in crate::stores) enum Row {
    Area(Arc<Area>),
    Region(Arc<Region>),
    City(Arc<Region>),
    /// Replaces no row, because an import rewrites all infrastructure.
    Infrastructure(Arc<Infrastructure>),
    FloodState(FloodChange),
    FloodBatch(Arc<FloodBatch>),
    Gauge(Arc<Gauge>),
    /// Removes the readings of gauges before a time.
    ErasedReadings(Vec<String>, Timestamp),
    /// The log of a gauge, whose row must be there, newest entry last.
    GaugeLog(String, Vec<Mute>),
    /// A reading with the identifier of its gauge.
    Reading(Arc<str>, Observation),
    /// Replaces a stored report, but not its visibility.
    Report(Arc<Report>),
    Visibility(ReportKey, Visibility),
    /// Replaces a report, its card and the card's image.
    Erased(Arc<ErasedReport>, Option<CardId>),
    Moderation(ModerationEntry),
    /// The pending move of a photo; `None` removes the stored row.
    PhotoMove(Box<str>, Option<PendingMove>),
    Card(Arc<Card>),
    RemovedCard(CardId),
    PartnerPost(PartnerPost),
    Image(CardId, Image),
    SigningKey(Secret),
    Key(StoredKey),
    EndedLogin(EndedLogin),
    Source(String, Timestamp),
    Webhook(String, WebhookState),
    PushRecord(PushRecord),
    RemovedPushRecord(u64),
}

#[derive(Clone, Copy, Debug)]
pub(in crate::stores) enum Visibility {
    Public,
    Hidden,
    /// Hidden until a moderator has reviewed the report.
    Waiting(Waiting),
}

impl Row {
    /// Whether the row erases data. Erased data must not stay in the write-ahead log of `SQLite`.
    pub(in crate::stores) fn erases(&self) -> bool {
        matches!(self, Self::Erased(..) | Self::RemovedCard(_) | Self::RemovedPushRecord(_))
    }
}

/// The rows that a change writes. Without a journal, `add` does nothing.
pub(in crate::stores) struct Rows(Option<Vec<Row>>);

impl Rows {
    pub(super) fn disabled() -> Self {
        Self(None)
    }

    pub(super) fn recording() -> Self {
        Self(Some(Vec::new()))
    }

    pub(in crate::stores) fn add<I: IntoIterator<Item = Row>>(&mut self, rows: impl FnOnce() -> I) {
        if let Some(recorded) = &mut self.0 {
            recorded.extend(rows());
        }
    }

    pub(super) fn into_vec(self) -> Vec<Row> {
        self.0.unwrap_or_default()
    }
}
