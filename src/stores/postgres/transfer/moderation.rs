//! Imports what is left of erased reports, and the moderation log; exports both.

use futures::TryStreamExt;
use sqlx::PgConnection;

use super::super::moderation::{EntryRow, ErasedRow};
use super::super::values::moment;
use super::import::{Import, ImportError, column};
use super::intake::lock;
use crate::datasets::{FolderFile, FolderRow, FolderWriter};
use crate::model::{ErasedReport, ModerationEntry};
use crate::stores::OpenError;

/// A report that is stored stays as it is.
const ERASED: &str = "
    INSERT INTO erased_reports (pkey, created_at, source, disaster_type, is_training, instance_region_code, city, hidden,
                                digest)
    SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::text[],
                         $8::boolean[], $9::bytea[]) AS rows (pkey)
    WHERE NOT EXISTS (SELECT FROM reports WHERE reports.pkey = rows.pkey)
    ON CONFLICT (pkey) DO NOTHING";

/// Adds the entries that are not in the log to its end.
const LOG: &str = "
    WITH new AS (
        SELECT rows.*, row_number() OVER (ORDER BY rows.line) AS place
        FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[],
                    $7::text[], $8::text[]) AS rows (line, at, report, made_at, action, subject, username, reason)
        WHERE NOT EXISTS (
            SELECT FROM moderation_log known
            WHERE (known.at, known.report, known.action) = (rows.at, rows.report, rows.action)
        )
    ), counted AS (
        UPDATE moderation_count SET number = number + (SELECT count(*) FROM new) RETURNING number
    )
    INSERT INTO moderation_log (number, at, report, made_at, action, subject, username, reason)
    SELECT number - (SELECT count(*) FROM new) + place, at, report, made_at, action, subject, username, reason
    FROM new, counted";

const EVERY_ERASED: &str = "
    SELECT pkey, created_at, source, disaster_type, is_training, instance_region_code, city, hidden, digest
    FROM erased_reports ORDER BY pkey";

const EVERY_ENTRY: &str = "
    SELECT number, at, report, made_at, action, subject, username, reason FROM moderation_log ORDER BY number";

pub(super) fn erased_reports(import: &mut Import<'_>) -> Result<(), ImportError> {
    let folder = import.folder;
    import.fill(
        FolderFile::ErasedReports,
        |each| folder.erased_reports(each),
        |import, rows: Vec<FolderRow<ErasedReport>>| {
            lock(import)?;
            import.add(
                sqlx::query(ERASED)
                    .bind(column(&rows, |row| row.key.number().cast_signed()))
                    .bind(column(&rows, |row| moment(row.created_at)))
                    .bind(column(&rows, |row| &*row.source))
                    .bind(column(&rows, |row| row.disaster_type.name()))
                    .bind(column(&rows, |row| row.is_training))
                    .bind(column(&rows, |row| row.tags.instance_region_code.as_deref()))
                    .bind(column(&rows, |row| row.tags.city.as_deref()))
                    .bind(column(&rows, |row| row.hidden))
                    .bind(column(&rows, |row| row.digest.as_bytes().to_vec())),
            )
        },
    )?;
    Ok(())
}

pub(super) fn moderation_log(import: &mut Import<'_>) -> Result<(), ImportError> {
    let folder = import.folder;
    import.fill(
        FolderFile::ModerationLog,
        |each| folder.moderation_log(each),
        |import, rows: Vec<FolderRow<ModerationEntry>>| {
            import.add(
                sqlx::query(LOG)
                    .bind(column(&rows, |row| row.number.cast_signed()))
                    .bind(column(&rows, |row| moment(row.at)))
                    .bind(column(&rows, |row| row.report.number().cast_signed()))
                    .bind(column(&rows, |row| moment(row.made_at)))
                    .bind(column(&rows, |row| row.action.name()))
                    .bind(column(&rows, |row| row.by.subject.as_str()))
                    .bind(column(&rows, |row| row.by.username.as_deref()))
                    .bind(column(&rows, |row| row.reason.as_str())),
            )
        },
    )?;
    Ok(())
}

/// Writes what is left of erased reports, and the log.
pub(super) async fn write(connection: &mut PgConnection, folder: &FolderWriter) -> Result<(), OpenError> {
    let mut file = folder.erased_reports()?;
    let mut rows = sqlx::query_as(EVERY_ERASED).fetch(&mut *connection);
    while let Some(row) = rows.try_next().await? as Option<ErasedRow> {
        file.write(&ErasedReport::try_from(row)?)?;
    }
    drop(rows);
    file.finish()?;
    let mut file = folder.moderation_log()?;
    let mut rows = sqlx::query_as(EVERY_ENTRY).fetch(connection);
    while let Some(row) = rows.try_next().await? as Option<EntryRow> {
        file.write(&ModerationEntry::try_from(row)?)?;
    }
    Ok(file.finish()?)
}
