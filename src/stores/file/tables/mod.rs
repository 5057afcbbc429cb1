//! The tables of the file: conversions between values of the model and rows.

mod column;
mod history;
mod moderation;
mod places;
mod reports;
mod service;
mod table;

use sqlx::SqliteConnection;

pub(super) use self::history::{
    FLOOD_BATCHES, count_readings, flood_log, gauge_logs, gauges, held_gauges, readings_between,
};
pub(super) use self::moderation::{ERASED_REPORTS, MODERATION_LOG, PHOTO_MOVES, WAITING_REPORTS, hidden};
pub(super) use self::places::{places, remove_area, remove_infrastructure};
pub(super) use self::reports::{CARDS, PARTNER_POSTS, reports};
pub(super) use self::service::{PUSH_RECORDS, SOURCES, WEBHOOKS, images, keys, signing_key};
use super::error::FileError;
pub(super) use crate::stores::local::Row;

impl Row {
    pub(super) async fn write(&self, to: &mut SqliteConnection) -> Result<(), FileError> {
        match self {
            Self::Area(area) => places::AREAS.put(to, area).await,
            Self::Region(region) => places::REGIONS.put(to, region).await,
            Self::City(city) => places::CITIES.put(to, city).await,
            Self::Infrastructure(of) => places::INFRASTRUCTURE.put(to, of).await,
            Self::FloodState(change) => history::FLOOD_STATES.put(to, change).await,
            Self::FloodBatch(batch) => FLOOD_BATCHES.put(to, batch).await,
            Self::Gauge(gauge) => history::GAUGES.put(to, gauge).await,
            Self::ErasedReadings(gauges, before) => history::erase_readings(to, gauges, *before).await,
            Self::GaugeLog(gauge, log) => history::put_gauge_log(to, gauge, log).await,
            Self::Reading(gauge, reading) => {
                history::READINGS.put(to, &((&**gauge).into(), reading.clone())).await
            }
            Self::Report(report) => reports::REPORTS.put(to, report).await,
            Self::Visibility(key, now) => moderation::put_visibility(to, *key, *now).await,
            Self::Erased(erased, card) => moderation::put_erased(to, erased, card.as_ref()).await,
            Self::Moderation(entry) => MODERATION_LOG.put(to, entry).await,
            Self::PhotoMove(photo, pending) => moderation::put_move(to, photo, *pending).await,
            Self::Card(card) => CARDS.put(to, card).await,
            Self::RemovedCard(card) => reports::remove_card(to, card).await,
            Self::PartnerPost(post) => PARTNER_POSTS.put(to, post).await,
            Self::Image(card, image) => service::put_image(to, card, image).await,
            Self::SigningKey(secret) => service::put_signing_key(to, secret).await,
            Self::Key(key) => service::put_key(to, key).await,
            Self::EndedLogin(ended) => service::put_ended_login(to, ended).await,
            Self::Source(name, last_heard) => SOURCES.put(to, &(name.clone(), *last_heard)).await,
            Self::PushRecord(record) => service::PUSH_RECORDS.put(to, record).await,
            Self::RemovedPushRecord(id) => service::remove_push_record(to, *id).await,
            Self::Webhook(name, kept) => WEBHOOKS.put(to, &(name.clone(), kept.clone())).await,
        }
    }
}
