//! Finds the areas and cities of stored data again.

use std::collections::HashSet;

use super::import::{Import, ImportError};
use super::intake;
use crate::model::{Places, Position, Tags};

/// How many reports are in memory at a time.
const BATCH: i64 = 10_000;

/// The reports of removed areas, or all reports.
const REPORTS: &str = "
    SELECT pkey, ST_X(location), ST_Y(location), local_area_id, city
    FROM reports WHERE pkey > $1 AND ($2 OR local_area_id = ANY ($3)) ORDER BY pkey LIMIT $4";

const MOVE_REPORTS: &str = "
    UPDATE reports SET local_area_id = rows.area_id, city = rows.city
    FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS rows (pkey, area_id, city) WHERE reports.pkey = rows.pkey";

/// The place of infrastructure is where it begins.
const INFRASTRUCTURE: &str = "
    SELECT id, ST_X(place), ST_Y(place)
    FROM infrastructure, LATERAL (SELECT coalesce(ST_StartPoint(shape), shape) AS place) AS beginning
    WHERE local_area_id = ANY ($1)";

const MOVE_INFRASTRUCTURE: &str = "
    UPDATE infrastructure SET local_area_id = rows.area_id
    FROM unnest($1::bigint[], $2::bigint[]) AS rows (id, area_id) WHERE infrastructure.id = rows.id";

type ReportRow = (i64, f64, f64, Option<i64>, Option<String>);

/// Finds new areas for what lay in `removed` ones, and the city of every report if `cities_changed`. Returns how many
/// reports and pieces of infrastructure are in another area or city now.
///
/// From here on no other session adds a report: one that was located before this import would keep its old area and
/// city.
pub(super) fn relocate(
    import: &mut Import<'_>,
    removed: &[i64],
    cities_changed: bool,
    places: &Places,
) -> Result<u64, ImportError> {
    if removed.is_empty() && !cities_changed {
        return Ok(0);
    }
    intake::lock(import)?;
    Ok(reports(import, removed, cities_changed, places)? + infrastructure(import, removed, places)?)
}

fn reports(
    import: &mut Import<'_>,
    removed: &[i64],
    cities_changed: bool,
    places: &Places,
) -> Result<u64, ImportError> {
    let gone: HashSet<_> = removed.iter().copied().collect();
    let (mut count, mut last) = (0, 0);
    loop {
        let query = sqlx::query_as(REPORTS).bind(last).bind(cities_changed).bind(removed).bind(BATCH);
        let found: Vec<ReportRow> = import.rows(query)?;
        let Some(&(highest, ..)) = found.last() else { return Ok(count) };
        last = highest;
        let (mut keys, mut areas, mut cities) = (Vec::new(), Vec::new(), Vec::new());
        for (key, lng, lat, old_area, old_city) in found {
            let tags = located(places, lng, lat);
            let is_gone = old_area.is_some_and(|area| gone.contains(&area));
            let area = if is_gone { area_of(&tags) } else { old_area };
            if area != old_area || tags.city.as_deref() != old_city.as_deref() {
                keys.push(key);
                areas.push(area);
                cities.push(tags.city.map(String::from));
            }
        }
        count += import.execute(sqlx::query(MOVE_REPORTS).bind(keys).bind(areas).bind(cities))?;
    }
}

fn infrastructure(import: &mut Import<'_>, removed: &[i64], places: &Places) -> Result<u64, ImportError> {
    let found: Vec<(i64, f64, f64)> = import.rows(sqlx::query_as(INFRASTRUCTURE).bind(removed))?;
    let areas: Vec<_> = found.iter().map(|&(_, lng, lat)| area_of(&located(places, lng, lat))).collect();
    let ids: Vec<_> = found.iter().map(|(id, ..)| *id).collect();
    import.execute(sqlx::query(MOVE_INFRASTRUCTURE).bind(ids).bind(areas))
}

fn located(places: &Places, lng: f64, lat: f64) -> Tags {
    Position::new(lng, lat).map(|place| places.locator().locate(place)).unwrap_or_default()
}

fn area_of(tags: &Tags) -> Option<i64> {
    tags.local_area_id.map(|area| area.number().cast_signed())
}
