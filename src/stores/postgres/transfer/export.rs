use futures::TryStreamExt;
use sqlx::PgConnection;

use super::super::places;
use super::super::reports::ALL;
use super::super::rows::ReadingRow;
use super::sources::{CARDS, POSTS};
use crate::data::folder::FolderWriter;
use crate::stores::OpenError;

const GAUGES: &str = "
    SELECT gaugeid, gaugenameid, instance_region_code, ST_AsBinary(location, 'NDR') AS location,
           settings::text AS settings, mute::text AS mute
    FROM gauges ORDER BY gaugeid";
const READINGS: &str = "
    SELECT gaugeid, observed_at, level, alert, label, reported::text AS reported FROM gauge_readings ORDER BY gaugeid, observed_at";
const CHANGES: &str = "
    SELECT area_id, changed_at, changed_at AS received_at, state, subject, username
    FROM flood_changes ORDER BY changed_at, area_id";
const ERASED: &str = "
    SELECT pkey, created_at, source, disaster_type, is_training, instance_region_code, city, hidden, digest
    FROM erased_reports ORDER BY pkey";
const ENTRIES: &str = "
    SELECT number, at, report, made_at, action, subject, username, reason FROM moderation_log ORDER BY number";

/// Exports all data as of one snapshot.
pub(in super::super) async fn export(
    connection: &mut PgConnection,
    folder: &FolderWriter,
) -> Result<(), OpenError> {
    sqlx::query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").execute(&mut *connection).await?;
    folder.places(&*places::read(connection).await?)?;
    macro_rules! write {
        ($query:expr, $file:expr, |$row:pat_param, $to:ident| $write:expr) => {
            let mut $to = $file;
            let mut rows = $query.fetch(&mut *connection);
            while let Some($row) = rows.try_next().await? {
                $write?;
            }
            drop(rows);
            $to.finish()?;
        };
        ($query:expr, $file:expr) => {
            write!($query, $file, |row, file| file.write(&row))
        };
    }
    write!(sqlx::query_as(GAUGES), folder.gauges()?);
    write!(sqlx::query_as(READINGS), folder.gauge_readings()?, |ReadingRow((id, reading)), file| file
        .write(&id, &reading));
    write!(sqlx::query_as(CHANGES), folder.flood_states()?);
    write!(sqlx::query_as(ALL).bind(false), folder.reports()?);
    write!(sqlx::query_as(ALL).bind(true), folder.hidden_reports()?);
    write!(sqlx::query_as(CARDS), folder.cards()?);
    write!(sqlx::query_as(POSTS), folder.partner_posts()?);
    write!(sqlx::query_as(ERASED), folder.erased_reports()?);
    write!(sqlx::query_as(ENTRIES), folder.moderation_log()?);
    sqlx::query("COMMIT").execute(connection).await?;
    Ok(())
}
