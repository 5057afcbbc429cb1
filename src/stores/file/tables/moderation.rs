//! Hidden and erased reports, the moderation log, and the photos to be moved.

use std::collections::BTreeSet;

use sqlx::{FromRow, Sqlite, SqliteConnection};

use super::super::error::FileError;
use super::intake::{remove_card, report_key};
use super::{column, moment};
use crate::model::{Actor, CardId, ErasedReport, ModerationEntry, ReportDigest, ReportKey, Tags};
use crate::stores::memory::Pending;

const PUT_VISIBILITY: &str = "UPDATE reports SET hidden = ? WHERE pkey = ?";
const HIDDEN: &str = "SELECT pkey FROM reports WHERE hidden ORDER BY pkey";

const PUT_ERASED: &str = "
    INSERT OR REPLACE INTO erased_reports
        (pkey, created_at, source, disaster_type, is_training, instance_region_code, city, hidden, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
const ERASED: &str = "
    SELECT pkey, created_at, source, disaster_type, is_training, instance_region_code, city, hidden, digest
    FROM erased_reports ORDER BY pkey";
const REMOVE_REPORT: &str = "DELETE FROM reports WHERE pkey = ?";

const PUT_ENTRY: &str = "
    INSERT OR REPLACE INTO moderation_log (number, at, report, made_at, action, subject, username, reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
const ENTRIES: &str = "
    SELECT number, at, report, made_at, action, subject, username, reason FROM moderation_log ORDER BY number";

const PUT_MOVE: &str = "INSERT OR REPLACE INTO photo_moves (photo, target, due) VALUES (?, ?, ?)";
const REMOVE_MOVE: &str = "DELETE FROM photo_moves WHERE photo = ?";
const MOVES: &str = "SELECT photo, target, due FROM photo_moves";

#[derive(FromRow)]
struct ErasedRow {
    pkey: i64,
    created_at: i64,
    source: String,
    disaster_type: String,
    is_training: bool,
    instance_region_code: Option<String>,
    city: Option<String>,
    hidden: bool,
    digest: Vec<u8>,
}

#[derive(FromRow)]
struct EntryRow {
    number: i64,
    at: i64,
    report: i64,
    made_at: i64,
    action: String,
    subject: String,
    username: Option<String>,
    reason: String,
}

pub(super) async fn put_visibility(
    to: &mut SqliteConnection,
    key: ReportKey,
    hidden: bool,
) -> Result<(), FileError> {
    sqlx::query(PUT_VISIBILITY).bind(hidden).bind(key.number().cast_signed()).execute(to).await?;
    Ok(())
}

/// Returns the keys of the hidden reports.
pub(in super::super) async fn hidden(from: &mut SqliteConnection) -> Result<BTreeSet<ReportKey>, FileError> {
    let rows = sqlx::query_as::<Sqlite, (i64,)>(HIDDEN).fetch_all(from).await?;
    rows.into_iter().map(|(key,)| report_key("reports", key)).collect()
}

/// Writes what is left of a report, and removes the report, its card and the card's image.
pub(super) async fn put_erased(
    to: &mut SqliteConnection,
    erased: &ErasedReport,
    card: Option<&CardId>,
) -> Result<(), FileError> {
    let key = erased.key.number().cast_signed();
    sqlx::query(REMOVE_REPORT).bind(key).execute(&mut *to).await?;
    if let Some(card) = card {
        remove_card(to, card).await?;
    }
    let query = sqlx::query(PUT_ERASED)
        .bind(key)
        .bind(column(erased.created_at))
        .bind(&*erased.source)
        .bind(erased.disaster_type.name())
        .bind(erased.is_training)
        .bind(erased.tags.instance_region_code.as_deref())
        .bind(erased.tags.city.as_deref())
        .bind(erased.hidden)
        .bind(&erased.digest.as_bytes()[..]);
    query.execute(to).await?;
    Ok(())
}

/// Returns what is left of erased reports, by key.
pub(in super::super) async fn erased(from: &mut SqliteConnection) -> Result<Vec<ErasedReport>, FileError> {
    const TABLE: &str = "erased_reports";
    let rows = sqlx::query_as::<Sqlite, ErasedRow>(ERASED).fetch_all(from).await?;
    let erased = rows.into_iter().map(|row| {
        let digest = <[u8; 32]>::try_from(row.digest.as_slice()).map_err(FileError::row(TABLE))?;
        Ok(ErasedReport {
            key: report_key(TABLE, row.pkey)?,
            created_at: moment(row.created_at),
            source: row.source.into(),
            disaster_type: row.disaster_type.parse().map_err(FileError::row(TABLE))?,
            is_training: row.is_training,
            tags: Tags {
                instance_region_code: row.instance_region_code.map(Box::from),
                local_area_id: None,
                district_id: None,
                city: row.city.map(Box::from),
            },
            hidden: row.hidden,
            digest: ReportDigest::from(digest),
        })
    });
    erased.collect()
}

pub(super) async fn put_entry(to: &mut SqliteConnection, entry: &ModerationEntry) -> Result<(), FileError> {
    let query = sqlx::query(PUT_ENTRY)
        .bind(entry.number.cast_signed())
        .bind(column(entry.at))
        .bind(entry.report.number().cast_signed())
        .bind(column(entry.made_at))
        .bind(entry.action.name())
        .bind(&entry.by.subject)
        .bind(entry.by.username.as_deref())
        .bind(&entry.reason);
    query.execute(to).await?;
    Ok(())
}

/// Returns the moderation log, oldest first.
pub(in super::super) async fn moderation_log(
    from: &mut SqliteConnection,
) -> Result<Vec<ModerationEntry>, FileError> {
    const TABLE: &str = "moderation_log";
    let rows = sqlx::query_as::<Sqlite, EntryRow>(ENTRIES).fetch_all(from).await?;
    let entries = rows.into_iter().map(|row| {
        Ok(ModerationEntry {
            number: row.number.cast_unsigned(),
            at: moment(row.at),
            report: report_key(TABLE, row.report)?,
            made_at: moment(row.made_at),
            action: row.action.parse().map_err(FileError::row(TABLE))?,
            by: Actor { subject: row.subject, username: row.username },
            reason: row.reason,
        })
    });
    entries.collect()
}

/// Writes where a photo is to be moved; `None` removes it from the list.
pub(super) async fn put_move(
    to: &mut SqliteConnection,
    photo: &str,
    pending: Option<Pending>,
) -> Result<(), FileError> {
    let query = match pending {
        Some(Pending { to, due }) => sqlx::query(PUT_MOVE).bind(photo).bind(to.name()).bind(column(due)),
        None => sqlx::query(REMOVE_MOVE).bind(photo),
    };
    query.execute(to).await?;
    Ok(())
}

pub(in super::super) async fn photo_moves(
    from: &mut SqliteConnection,
) -> Result<Vec<(Box<str>, Pending)>, FileError> {
    const TABLE: &str = "photo_moves";
    let rows = sqlx::query_as::<Sqlite, (String, String, i64)>(MOVES).fetch_all(from).await?;
    let moves = rows.into_iter().map(|(photo, target, due)| {
        let to = target.parse().map_err(FileError::row(TABLE))?;
        Ok((photo.into(), Pending { to, due: moment(due) }))
    });
    moves.collect()
}
