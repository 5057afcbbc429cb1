//! Hidden and erased reports, the moderation log, and the photos to be moved.

use std::collections::BTreeSet;

use sqlx::{Sqlite, SqliteConnection};

use super::super::error::FileError;
use super::column::Column;
use super::reports::remove_card;
use super::table::{Table, table};
use crate::model::{Actor, CardId, ErasedReport, ModerationEntry, ReportKey, Tags, Waiting, WaitingOrigin};
use crate::stores::local::{PendingMove, Visibility};

const PUT_HIDDEN: &str = "UPDATE reports SET hidden = ? WHERE pkey = ?";
const REMOVE_WAITING: &str = "DELETE FROM waiting_reports WHERE report = ?";
const HIDDEN: &str = "SELECT pkey FROM reports WHERE hidden ORDER BY pkey";
const REMOVE_REPORT: &str = "DELETE FROM reports WHERE pkey = ?";
const REMOVE_MOVE: &str = "DELETE FROM photo_moves WHERE photo = ?";

/// The erased reports, ordered by key.
pub(in super::super) const ERASED_REPORTS: Table<ErasedReport> = table!(
    "erased_reports",
    replace,
    "ORDER BY pkey",
    ErasedReport {
        key: pkey,
        created_at,
        source,
        disaster_type,
        is_training,
        tags: Tags { instance_region_code, local_area_id: (no_area), district_id: (no_district), city },
        hidden,
        digest,
    }
);

/// The moderation log, oldest first.
pub(in super::super) const MODERATION_LOG: Table<ModerationEntry> = table!(
    "moderation_log",
    replace,
    "ORDER BY number",
    ModerationEntry { number, at, report, made_at, action, by: Actor { subject, username }, reason }
);

pub(in super::super) const WAITING_REPORTS: Table<(ReportKey, Waiting)> = table!(
    "waiting_reports",
    replace,
    "ORDER BY report",
    (report, Waiting { origin: WaitingOrigin { sender, is_suspect }, since })
);

pub(in super::super) const PHOTO_MOVES: Table<(Box<str>, PendingMove)> =
    table!("photo_moves", replace, "", (photo, PendingMove { to: target, due }));

pub(super) async fn put_visibility(
    to: &mut SqliteConnection,
    report: ReportKey,
    now: Visibility,
) -> Result<(), FileError> {
    let key = report.number().cast_signed();
    let is_hidden = !matches!(now, Visibility::Public);
    sqlx::query(PUT_HIDDEN).bind(is_hidden).bind(key).execute(&mut *to).await?;
    match now {
        Visibility::Waiting(waiting) => WAITING_REPORTS.put(to, &(report, waiting)).await,
        Visibility::Public | Visibility::Hidden => {
            sqlx::query(REMOVE_WAITING).bind(key).execute(to).await?;
            Ok(())
        }
    }
}

pub(in super::super) async fn hidden(from: &mut SqliteConnection) -> Result<BTreeSet<ReportKey>, FileError> {
    let keys = sqlx::query_scalar::<Sqlite, i64>(HIDDEN).fetch_all(from).await?;
    keys.into_iter().map(|key| key.cast_unsigned().try_into().map_err(FileError::row("reports"))).collect()
}

/// Writes the data that remains of an erased report. Removes the report, its card and the card's image.
pub(super) async fn put_erased(
    to: &mut SqliteConnection,
    erased: &ErasedReport,
    card: Option<&CardId>,
) -> Result<(), FileError> {
    for statement in [REMOVE_WAITING, REMOVE_REPORT] {
        sqlx::query(statement).bind(erased.key.number().cast_signed()).execute(&mut *to).await?;
    }
    if let Some(card) = card {
        remove_card(to, card).await?;
    }
    ERASED_REPORTS.put(to, erased).await
}

/// Writes the pending move of a photo. `None` removes the photo from the queue.
pub(super) async fn put_move(
    to: &mut SqliteConnection,
    photo: &str,
    pending: Option<PendingMove>,
) -> Result<(), FileError> {
    if let Some(pending) = pending {
        return PHOTO_MOVES.put(to, &(photo.into(), pending)).await;
    }
    sqlx::query(REMOVE_MOVE).bind(photo).execute(to).await?;
    Ok(())
}
