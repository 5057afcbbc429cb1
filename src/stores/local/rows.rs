use std::sync::Arc;

use super::PendingMove;
use crate::auth::Secret;
use crate::model::{
    Area, Card, CardId, ErasedReport, FloodBatch, FloodChange, Gauge, Infrastructure, ModerationEntry,
    Observation, PartnerPost, Region, Report, ReportKey, Timestamp, Waiting,
};
use crate::stores::service_state::Image;
use crate::stores::{KeptKey, WebhookState};

/// A row to be written. It replaces the row with the same identifier.
#[derive(Clone, Debug)]
pub(in crate::stores) enum Row {
    Area(Arc<Area>),
    Region(Arc<Region>),
    City(Arc<Region>),
    /// Has no identifier, and so replaces none.
    Infrastructure(Arc<Infrastructure>),
    FloodState(FloodChange),
    FloodBatch(Arc<FloodBatch>),
    Gauge(Arc<Gauge>),
    /// A reading of the gauge with this identifier.
    Reading(Arc<str>, Observation),
    /// Leaves it hidden if it is.
    Report(Arc<Report>),
    /// Who sees a report.
    Visibility(ReportKey, Visibility),
    /// Replaces a report, its card and the card's image.
    Erased(Arc<ErasedReport>, Option<CardId>),
    Moderation(ModerationEntry),
    /// Where a photo is to be moved; with `None`, the row is removed.
    PhotoMove(Box<str>, Option<PendingMove>),
    Card(Arc<Card>),
    /// A card that is removed.
    NoCard(CardId),
    PartnerPost(PartnerPost),
    Image(CardId, Image),
    /// The secret that signs the addresses of uploads.
    SigningKey(Secret),
    Key(KeptKey),
    Source(String, Timestamp),
    /// What is kept of a call with this name.
    Call(String, WebhookState),
}

/// Who sees a report.
#[derive(Clone, Copy, Debug)]
pub(in crate::stores) enum Visibility {
    /// All readers.
    Public,
    /// No reader.
    Hidden,
    /// No reader, until a moderator has reviewed it.
    Waiting(Waiting),
}

impl Row {
    /// Returns whether it removes what must not be read any more.
    pub(in crate::stores) fn erases(&self) -> bool {
        matches!(self, Self::Erased(..) | Self::NoCard(_))
    }
}

/// The rows that a change writes. Without a journal, they are not even made.
pub(in crate::stores) struct Rows(Option<Vec<Row>>);

impl Rows {
    pub(super) fn dropped() -> Self {
        Self(None)
    }

    pub(super) fn kept() -> Self {
        Self(Some(Vec::new()))
    }

    pub(in crate::stores) fn add<I: IntoIterator<Item = Row>>(&mut self, rows: impl FnOnce() -> I) {
        if let Some(kept) = &mut self.0 {
            kept.extend(rows());
        }
    }

    pub(super) fn into_vec(self) -> Vec<Row> {
        self.0.unwrap_or_default()
    }
}
