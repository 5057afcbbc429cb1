//! Gauges with their readings, and the log of flood states.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::super::values::moment;
use super::import::{Import, ImportError, LOCK_STATES, Written, column, counting, lines};
use crate::datasets::{FolderFile, FolderRow};
use crate::model::{FloodChange, Gauge, Observation, Places};

/// A gauge that stays the same is not touched, because an update would block its readings.
const GAUGES: &str = counting!(
    "
    INSERT INTO gauges AS known (gaugeid, gaugenameid, instance_region_code, location)
    SELECT gaugeid, gaugenameid, instance_region_code, ST_SetSRID(ST_MakePoint(lng, lat), 4326)
    FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::float8[])
        AS rows (gaugeid, gaugenameid, instance_region_code, lng, lat)
    WHERE NOT EXISTS (
        SELECT FROM gauges same
        WHERE same.gaugeid = rows.gaugeid AND same.gaugenameid = rows.gaugenameid
          AND same.instance_region_code IS NOT DISTINCT FROM rows.instance_region_code
          AND same.location = ST_SetSRID(ST_MakePoint(lng, lat), 4326)
    )
    ON CONFLICT (gaugeid) DO UPDATE SET
        gaugenameid = excluded.gaugenameid, instance_region_code = excluded.instance_region_code,
        location = excluded.location
    WHERE (known.*) IS DISTINCT FROM (excluded.*)"
);

/// If a gauge has several readings with the same time, the last one counts.
const READINGS: &str = counting!(
    "
    INSERT INTO gauge_readings AS known (gaugeid, observed_at, level, alert, label)
    SELECT DISTINCT ON (gaugeid, observed_at) gaugeid, observed_at, level, alert, label
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::float8[], $5::smallint[], $6::text[])
        AS rows (line, gaugeid, observed_at, level, alert, label)
    ORDER BY gaugeid, observed_at, line DESC
    ON CONFLICT (gaugeid, observed_at) DO UPDATE SET
        level = excluded.level, alert = excluded.alert, label = excluded.label
    WHERE (known.*) IS DISTINCT FROM (excluded.*)"
);

/// If an area has several changes with the same time, the last one counts. The areas that are returned get a change that is not
/// newer than all that they had.
const CHANGES: &str = "
    WITH written AS (
        INSERT INTO flood_changes AS known (area_id, changed_at, state, subject, username, run_began_at)
        SELECT DISTINCT ON (area_id, changed_at) area_id, changed_at, state, subject, username, changed_at
        FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::smallint[], $5::text[], $6::text[])
            AS rows (line, area_id, changed_at, state, subject, username)
        ORDER BY area_id, changed_at, line DESC
        ON CONFLICT (area_id, changed_at) DO UPDATE SET
            state = excluded.state, subject = excluded.subject, username = excluded.username
        WHERE (known.state, known.subject, known.username)
            IS DISTINCT FROM (excluded.state, excluded.subject, excluded.username)
        RETURNING xmax = 0 AS added, area_id, changed_at
    )
    SELECT count(*) FILTER (WHERE added), count(*) FILTER (WHERE NOT added),
        coalesce(array_agg(DISTINCT area_id) FILTER (WHERE changed_at <= newest), '{}')
    FROM written LEFT JOIN unnest($7::bigint[], $8::timestamptz[]) AS had (area_id, newest) USING (area_id)";

/// When the newest change of each area was made.
const NEWEST: &str = "
    SELECT areas.area_id, newest.changed_at
    FROM areas CROSS JOIN LATERAL (
        SELECT changed_at FROM flood_changes
        WHERE flood_changes.area_id = areas.area_id ORDER BY changed_at DESC LIMIT 1
    ) newest";

/// Brings the runs of areas up to date with their logs, whose new entries can be older than those that were there.
const RUNS: &str = "
    UPDATE flood_changes SET run_began_at = runs.run_began_at
    FROM flood_runs runs
    WHERE runs.area_id = ANY ($1) AND flood_changes.area_id = ANY ($1)
      AND (runs.area_id, runs.changed_at) = (flood_changes.area_id, flood_changes.changed_at)
      AND runs.run_began_at <> flood_changes.run_began_at";

/// The areas whose states were set since a moment.
const SET_SINCE: &str = "
    SELECT DISTINCT area_id FROM flood_changes WHERE changed_at >= $1 AND area_id = ANY ($2)";

/// How far the clocks of servers may be apart.
const SKEW: Duration = Duration::from_mins(10);

/// The newest change of an area is its state. A change made during the import is newer still, and stays.
const STATES: &str = "
    INSERT INTO flood_states AS standing (area_id, state, changed_at)
    SELECT areas.area_id, newest.state, newest.changed_at
    FROM areas CROSS JOIN LATERAL (
        SELECT state, changed_at FROM flood_changes
        WHERE flood_changes.area_id = areas.area_id ORDER BY changed_at DESC LIMIT 1
    ) newest LEFT JOIN flood_states known USING (area_id)
    WHERE (newest.state, newest.changed_at) IS DISTINCT FROM (known.state, known.changed_at)
    ORDER BY areas.area_id
    ON CONFLICT (area_id) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at
    WHERE excluded.changed_at > standing.changed_at
       OR excluded.changed_at = standing.changed_at AND excluded.state IS DISTINCT FROM standing.state";

const GAUGE_IDS: &str = "SELECT gaugeid FROM gauges";

pub(super) fn gauges(import: &mut Import<'_>, places: &Places) -> Result<(), ImportError> {
    let folder = import.folder;
    import.fill(
        FolderFile::Gauges,
        |each| folder.gauges(places.locator(), each),
        |import, rows: Vec<FolderRow<Gauge>>| {
            import.write(
                sqlx::query(GAUGES)
                    .bind(column(&rows, |gauge| gauge.id.as_str()))
                    .bind(column(&rows, |gauge| gauge.name.as_str()))
                    .bind(column(&rows, |gauge| gauge.region_code.as_deref()))
                    .bind(column(&rows, |gauge| gauge.location.coord().x))
                    .bind(column(&rows, |gauge| gauge.location.coord().y)),
            )
        },
    )?;
    let known: HashSet<String> = import.scalars(GAUGE_IDS)?;
    let is_known = |id: &str| known.contains(id);
    import.fill(
        FolderFile::GaugeReadings,
        |each| folder.gauge_readings(&is_known, each),
        |import, rows: Vec<FolderRow<(String, Observation)>>| {
            import.write(
                sqlx::query(READINGS)
                    .bind(lines(&rows))
                    .bind(column(&rows, |(gauge, _)| gauge.as_str()))
                    .bind(column(&rows, |(_, reading)| moment(reading.observed_at)))
                    .bind(column(&rows, |(_, reading)| reading.level))
                    .bind(column(&rows, |(_, reading)| i16::from(reading.alert.number())))
                    .bind(column(&rows, |(_, reading)| &*reading.label)),
            )
        },
    )?;
    Ok(())
}

/// Imports the log of flood states, and returns the areas it has entries of.
pub(super) fn flood_states(import: &mut Import<'_>, places: &Places) -> Result<Vec<i64>, ImportError> {
    let (folder, now) = (import.folder, import.now);
    let (mut areas, mut rewritten) = (HashSet::new(), HashSet::new());
    let newest: Vec<(i64, DateTime<Utc>)> = import.rows(sqlx::query_as(NEWEST))?;
    let (had, newest): (Vec<_>, Vec<_>) = newest.into_iter().unzip();
    import.fill(
        FolderFile::FloodStates,
        |each| folder.flood_states(places.areas(), now, each),
        |import, rows: Vec<FolderRow<FloodChange>>| {
            let of_areas = column(&rows, |change| change.area.number().cast_signed());
            areas.extend(of_areas.iter().copied());
            let row = import.row(
                sqlx::query(CHANGES)
                    .bind(lines(&rows))
                    .bind(of_areas)
                    .bind(column(&rows, |change| moment(change.at)))
                    .bind(column(&rows, |change| change.state.map(|state| i16::from(state.code()))))
                    .bind(column(&rows, |change| change.by.subject.as_str()))
                    .bind(column(&rows, |change| change.by.username.as_deref()))
                    .bind(&had)
                    .bind(&newest),
            )?;
            rewritten.extend(sqlx::Row::try_get::<Vec<i64>, _>(&row, 2)?);
            Written::of(&row)
        },
    )?;
    import.done.rewritten = rewritten.len() as u64;
    let areas: Vec<_> = areas.into_iter().collect();
    import.execute(sqlx::query(RUNS).bind(&areas))?;
    Ok(areas)
}

/// Brings the current states up to date with the log, and the runs of states that were set while the import went on. No
/// other session sets a state from here on, because it would not see the imported entries.
pub(super) fn standing_states(import: &mut Import<'_>, imported: &[i64]) -> Result<(), ImportError> {
    if !imported.is_empty() {
        import.lock(LOCK_STATES)?;
        let since = moment(import.now.before(SKEW));
        let set: Vec<(i64,)> = import.rows(sqlx::query_as(SET_SINCE).bind(since).bind(imported))?;
        let set: Vec<_> = set.into_iter().map(|(area,)| area).collect();
        import.execute(sqlx::query(RUNS).bind(set))?;
    }
    import.execute(sqlx::query(STATES))?;
    Ok(())
}
