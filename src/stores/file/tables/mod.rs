//! The tables of the file: how a value of the model is written as a row, and read from one.

mod history;
mod intake;
mod moderation;
mod places;
mod service;

use std::sync::Arc;

use sqlx::SqliteConnection;

pub(super) use self::history::{flood_log, gauges};
pub(super) use self::intake::{cards, partner_posts, reports};
pub(super) use self::moderation::{erased, hidden, moderation_log, photo_moves};
pub(super) use self::places::{PlaceRows, remove_area, remove_infrastructure};
pub(super) use self::service::{images, keys, signing_key, sources};
use super::error::FileError;
use crate::auth::Secret;
use crate::model::{
    Area, Card, CardId, ErasedReport, FloodChange, Gauge, Infrastructure, ModerationEntry, Observation,
    PartnerPost, Region, Report, ReportKey, Timestamp,
};
use crate::stores::KeptKey;
use crate::stores::memory::Pending;
use crate::stores::service_state::Image;

/// A row to be written. It replaces the row with the same identifier.
#[derive(Clone, Debug)]
pub(super) enum Row {
    Area(Arc<Area>),
    Region(Arc<Region>),
    City(Arc<Region>),
    /// Has no identifier, and so replaces none.
    Infrastructure(Arc<Infrastructure>),
    FloodState(FloodChange),
    Gauge(Arc<Gauge>),
    /// A reading of the gauge with this identifier.
    Reading(Arc<str>, Observation),
    /// Leaves it hidden if it is.
    Report(Arc<Report>),
    /// Whether a report is hidden.
    Visibility(ReportKey, bool),
    /// Replaces a report, its card and the card's image.
    Erased(Arc<ErasedReport>, Option<CardId>),
    Moderation(ModerationEntry),
    /// Where a photo is to be moved; with `None`, the row is removed.
    PhotoMove(Box<str>, Option<Pending>),
    Card(Arc<Card>),
    /// A card that is removed.
    NoCard(CardId),
    PartnerPost(PartnerPost),
    Image(CardId, Image),
    /// The secret that signs the addresses of uploads.
    SigningKey(Secret),
    Key(KeptKey),
    Source(String, Timestamp),
}

impl Row {
    /// Returns whether it removes what must not be read any more.
    pub(super) fn erases(&self) -> bool {
        matches!(self, Self::Erased(..) | Self::NoCard(_))
    }

    pub(super) async fn write(&self, to: &mut SqliteConnection) -> Result<(), FileError> {
        match self {
            Self::Area(area) => places::put_area(to, area).await,
            Self::Region(region) => places::put_region(to, region).await,
            Self::City(city) => places::put_city(to, city).await,
            Self::Infrastructure(of) => places::put_infrastructure(to, of).await,
            Self::FloodState(change) => history::put_flood_state(to, change).await,
            Self::Gauge(gauge) => history::put_gauge(to, gauge).await,
            Self::Reading(gauge, reading) => history::put_reading(to, gauge, reading).await,
            Self::Report(report) => intake::put_report(to, report).await,
            Self::Visibility(key, hidden) => moderation::put_visibility(to, *key, *hidden).await,
            Self::Erased(erased, card) => moderation::put_erased(to, erased, card.as_ref()).await,
            Self::Moderation(entry) => moderation::put_entry(to, entry).await,
            Self::PhotoMove(photo, pending) => moderation::put_move(to, photo, *pending).await,
            Self::Card(card) => intake::put_card(to, card).await,
            Self::NoCard(card) => intake::remove_card(to, card).await,
            Self::PartnerPost(post) => intake::put_partner_post(to, *post).await,
            Self::Image(card, image) => service::put_image(to, card, image).await,
            Self::SigningKey(secret) => service::put_signing_key(to, secret).await,
            Self::Key(key) => service::put_key(to, key).await,
            Self::Source(name, last_heard) => service::put_source(to, name, *last_heard).await,
        }
    }
}

/// Returns a moment as a column: the milliseconds since 1970.
fn column(moment: Timestamp) -> i64 {
    moment.to_utc().timestamp_millis()
}

/// Returns the moment in a column.
fn moment(column: i64) -> Timestamp {
    Timestamp::from_millis(column).unwrap_or(Timestamp::LAST)
}
