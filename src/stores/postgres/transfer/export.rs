use futures::TryStreamExt;
use sqlx::PgConnection;

use super::super::moderation::{EntryRow, ErasedRow};
use super::super::places;
use super::super::reports::{EVERY, ReportRow};
use super::sources::{CARDS, POSTS};
use super::{history, sources};
use crate::data::folder::FolderWriter;
use crate::model::{ErasedReport, ModerationEntry};
use crate::stores::OpenError;

const GAUGES: &str = "
    SELECT gaugeid, gaugenameid, instance_region_code, ST_X(location), ST_Y(location) FROM gauges ORDER BY gaugeid";
const READINGS: &str = "
    SELECT gaugeid, observed_at, level, alert, label FROM gauge_readings ORDER BY gaugeid, observed_at";
const CHANGES: &str = "
    SELECT area_id, changed_at, state, subject, username FROM flood_changes ORDER BY changed_at, area_id";
const ERASED: &str = "
    SELECT pkey, created_at, source, disaster_type, is_training, instance_region_code, city, hidden, digest
    FROM erased_reports ORDER BY pkey";
const ENTRIES: &str = "
    SELECT number, at, report, made_at, action, subject, username, reason FROM moderation_log ORDER BY number";

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
    write_moderation(connection, folder).await?;
    sqlx::query("COMMIT").execute(connection).await?;
    Ok(())
}

async fn write_gauges(connection: &mut PgConnection, folder: &FolderWriter) -> Result<(), OpenError> {
    let mut file = folder.gauges()?;
    let mut rows = sqlx::query_as(GAUGES).fetch(&mut *connection);
    while let Some(row) = rows.try_next().await? {
        file.write(&history::gauge(row)?)?;
    }
    drop(rows);
    file.finish()?;
    let mut file = folder.gauge_readings()?;
    let mut rows = sqlx::query_as(READINGS).fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let (gauge, reading) = history::reading(row)?;
        file.write(&gauge, &reading)?;
    }
    Ok(file.finish()?)
}

async fn write_floods(connection: &mut PgConnection, folder: &FolderWriter) -> Result<(), OpenError> {
    let mut file = folder.flood_states()?;
    let mut rows = sqlx::query_as(CHANGES).fetch(connection);
    while let Some(row) = rows.try_next().await? {
        file.write(&history::change(row)?)?;
    }
    Ok(file.finish()?)
}

async fn write_reports(connection: &mut PgConnection, folder: &FolderWriter) -> Result<(), OpenError> {
    for (mut file, is_hidden) in [(folder.reports()?, false), (folder.hidden_reports()?, true)] {
        let mut rows = sqlx::query_as(EVERY).bind(is_hidden).fetch(&mut *connection);
        while let Some(row) = rows.try_next().await? as Option<ReportRow> {
            file.write(&row.report?)?;
        }
        drop(rows);
        file.finish()?;
    }
    let mut file = folder.cards()?;
    let mut rows = sqlx::query_as(CARDS).fetch(&mut *connection);
    while let Some(row) = rows.try_next().await? {
        file.write(&sources::card(row)?)?;
    }
    drop(rows);
    file.finish()?;
    let mut file = folder.partner_posts()?;
    let mut rows = sqlx::query_as(POSTS).fetch(connection);
    while let Some(row) = rows.try_next().await? {
        file.write(&sources::post(row)?)?;
    }
    Ok(file.finish()?)
}

/// Writes what is left of erased reports, and the log.
async fn write_moderation(connection: &mut PgConnection, folder: &FolderWriter) -> Result<(), OpenError> {
    let mut file = folder.erased_reports()?;
    let mut rows = sqlx::query_as(ERASED).fetch(&mut *connection);
    while let Some(row) = rows.try_next().await? as Option<ErasedRow> {
        file.write(&ErasedReport::try_from(row)?)?;
    }
    drop(rows);
    file.finish()?;
    let mut file = folder.moderation_log()?;
    let mut rows = sqlx::query_as(ENTRIES).fetch(connection);
    while let Some(row) = rows.try_next().await? as Option<EntryRow> {
        file.write(&ModerationEntry::try_from(row)?)?;
    }
    Ok(file.finish()?)
}
