use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use serde_json::value::RawValue;
use sqlx::PgConnection;

use super::super::gauges::observation;
use super::super::places;
use super::super::reports::{EVERY, ReportRow};
use super::super::values::{area_id, flood_state, position, report_key};
use super::moderation;
use crate::datasets::FolderWriter;
use crate::model::{Actor, Card, CardHolder, FloodChange, Gauge, PartnerPost, Report};
use crate::stores::OpenError;

const GAUGES: &str = "
    SELECT gaugeid, gaugenameid, instance_region_code, ST_X(location), ST_Y(location) FROM gauges ORDER BY gaugeid";
const READINGS: &str = "
    SELECT gaugeid, observed_at, level, alert, label FROM gauge_readings ORDER BY gaugeid, observed_at";
const CHANGES: &str = "
    SELECT area_id, changed_at, state, subject, username FROM flood_changes ORDER BY changed_at, area_id";
const CARDS: &str = "
    SELECT card_id, cards.pkey, username, network, language, network_data::text, reports.pkey
    FROM cards LEFT JOIN reports USING (card_id) ORDER BY cards.pkey";
const POSTS: &str = "
    SELECT post_id, pkey FROM reports WHERE post_id IS NOT NULL
    UNION ALL SELECT post_id, pkey FROM erased_reports WHERE post_id IS NOT NULL ORDER BY pkey";

/// Writes all data, from one snapshot.
pub(in super::super) async fn export(
    connection: &mut PgConnection,
    folder: &FolderWriter,
) -> Result<(), OpenError> {
    sqlx::query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").execute(&mut *connection).await?;
    folder.places(&*places::read(connection).await?)?;
    write_gauges(connection, folder).await?;
    write_floods(connection, folder).await?;
    write_reports(connection, folder).await?;
    moderation::write(connection, folder).await?;
    sqlx::query("COMMIT").execute(connection).await?;
    Ok(())
}

async fn write_gauges(connection: &mut PgConnection, folder: &FolderWriter) -> Result<(), OpenError> {
    type GaugeRow = (String, String, Option<String>, f64, f64);
    type ReadingRow = (String, DateTime<Utc>, f64, i16, String);

    let mut file = folder.gauges()?;
    let mut rows = sqlx::query_as(GAUGES).fetch(&mut *connection);
    while let Some((id, name, region_code, lng, lat)) = rows.try_next().await? as Option<GaugeRow> {
        file.write(&Gauge { id, name, region_code, location: position((lng, lat))? })?;
    }
    drop(rows);
    file.finish()?;
    let mut file = folder.gauge_readings()?;
    let mut rows = sqlx::query_as(READINGS).fetch(connection);
    while let Some((gauge, at, level, alert, label)) = rows.try_next().await? as Option<ReadingRow> {
        file.write(&gauge, &observation(at, level, alert, label)?)?;
    }
    Ok(file.finish()?)
}

async fn write_floods(connection: &mut PgConnection, folder: &FolderWriter) -> Result<(), OpenError> {
    type Row = (i64, DateTime<Utc>, Option<i16>, String, Option<String>);

    let mut file = folder.flood_states()?;
    let mut rows = sqlx::query_as(CHANGES).fetch(connection);
    while let Some((area, at, state, subject, username)) = rows.try_next().await? as Option<Row> {
        let state = state.map(flood_state).transpose()?;
        file.write(&FloodChange {
            area: area_id(area)?,
            state,
            at: at.into(),
            by: Actor { subject, username },
        })?;
    }
    Ok(file.finish()?)
}

async fn write_reports(connection: &mut PgConnection, folder: &FolderWriter) -> Result<(), OpenError> {
    type CardRow = (String, i64, String, String, String, Option<String>, Option<i64>);

    for (mut file, is_hidden) in [(folder.reports()?, false), (folder.hidden_reports()?, true)] {
        let mut rows = sqlx::query_as(EVERY).bind(is_hidden).fetch(&mut *connection);
        while let Some(row) = rows.try_next().await? as Option<ReportRow> {
            file.write(&Report::try_from(row)?)?;
        }
        drop(rows);
        file.finish()?;
    }
    let mut file = folder.cards()?;
    let mut rows = sqlx::query_as(CARDS).fetch(&mut *connection);
    while let Some(row) = rows.try_next().await? as Option<CardRow> {
        let (id, pkey, username, network, language, network_data, report) = row;
        let network_data = network_data.map(RawValue::from_string).transpose()?;
        file.write(&Card {
            pkey: pkey.cast_unsigned(),
            id: id.parse()?,
            holder: CardHolder { username, network, language, network_data },
            report: report.map(report_key).transpose()?,
            created_at: None,
        })?;
    }
    drop(rows);
    file.finish()?;
    let mut file = folder.partner_posts()?;
    let mut rows = sqlx::query_as(POSTS).fetch(connection);
    while let Some((post_id, pkey)) = rows.try_next().await? as Option<(i64, i64)> {
        file.write(&PartnerPost { post_id, report: report_key(pkey)? })?;
    }
    Ok(file.finish()?)
}
