use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;
use sqlx::postgres::PgRow;

use super::PostgresStore;
use super::columns::get;
use super::flood_batches::AreaEntry;
use super::revision::{revision, versioned};
use super::values::{column, count, limit, moment, number};
use crate::model::alerts::LogEntry;
use crate::model::{
    ArchiveRecord, AreaId, AreaSet, BatchOutcome, BatchRequest, CurrentState, FloodChange, FloodLayer,
    FloodStatus, LoggedChange, PlaceNames, SeriesPoint, Timestamp,
};
use crate::stores::{
    EntryQuery, FloodLogQuery, FloodQuery, FloodStore, HistoryQuery, LogQuery, PlaceStore, SetFloodState,
    StoreError, Versioned,
};

/// Sets the state of an area, at least 1 ms after its last change. Returns no row if the area does not exist, or does not have the
/// names of `$6`, which the caller has compared with the limit of the request.
const SET: &str = "
    WITH stood AS (
        INSERT INTO flood_states AS standing (area_id, state, changed_at)
        SELECT area_id, $2::smallint, $3::timestamptz FROM areas
        WHERE area_id = $1
          AND ($6::text[] IS NULL OR ARRAY[instance_region_code, city, city_name, parent_name] = $6)
        ON CONFLICT (area_id) DO UPDATE SET
            state = excluded.state,
            changed_at = greatest(excluded.changed_at, standing.changed_at + interval '1 millisecond')
        RETURNING area_id, state, changed_at
    )
    INSERT INTO flood_changes (area_id, changed_at, state, subject, username, received_at)
    SELECT area_id, changed_at, state, $4::text, $5::text, $3::timestamptz FROM stood
    RETURNING changed_at";

/// The revisions of floods and places, and the status of each area that was ever flooded. If there is no such area, there is one
/// row without an area. `LIMIT` makes the planner look up each entry by its key; a plain join would read the whole log.
pub(super) const STATES: &str = "
    SELECT floods.revision AS floods, places.revision AS places,
           area_id, states.state, changed_at, log.since, log.confirmed_at
    FROM current_revisions floods
    JOIN current_revisions places ON floods.resource = 'floods' AND places.resource = 'places'
    LEFT JOIN (flood_states states CROSS JOIN LATERAL (
        SELECT since, confirmed_at FROM flood_changes
        WHERE (area_id, changed_at) = (states.area_id, states.changed_at) LIMIT 1
    ) log) ON true";

/// The highest state of each area, including the state in effect when the period began. Every entry counts: an area never has two
/// changes at the same time, so no state was replaced before it took effect.
pub(super) const ARCHIVE: &str = "
    WITH selected AS MATERIALIZED (
        SELECT area_id FROM areas
        WHERE ($3::text IS NULL OR city = $3 OR instance_region_code = $3)
          AND ($4::text IS NULL OR instance_region_code = $4)
    ), entries AS (
        SELECT selected.area_id, before.state, before.changed_at
        FROM selected CROSS JOIN LATERAL (
            SELECT state, changed_at FROM flood_changes
            WHERE flood_changes.area_id = selected.area_id AND changed_at <= $1
            ORDER BY changed_at DESC LIMIT 1
        ) before
        UNION ALL
        -- A join would cost a third of the time, and most queries are about all areas.
        SELECT area_id, state, changed_at FROM flood_changes
        WHERE changed_at > $1 AND changed_at <= $2
          AND (($3::text IS NULL AND $4::text IS NULL) OR area_id IN (SELECT area_id FROM selected))
    ), highest AS (
        SELECT DISTINCT ON (area_id) area_id, changed_at, state FROM entries
        WHERE state IS NOT NULL ORDER BY area_id, state DESC, changed_at
    )
    SELECT floods.revision, highest.area_id, highest.changed_at, highest.state
    FROM current_revisions floods LEFT JOIN highest ON true
    WHERE floods.resource = 'floods'
    ORDER BY highest.area_id";

/// For each hour, the change in the number of flooded areas. Areas that are already flooded at the start count in the first hour.
pub(super) const SERIES: &str = "
    WITH selected AS MATERIALIZED (
        SELECT area_id FROM areas
        WHERE ($3::text IS NULL OR city = $3 OR instance_region_code = $3)
          AND ($4::text IS NULL OR instance_region_code = $4)
    ), entries AS (
        SELECT selected.area_id, $1::timestamptz AS hour, before.changed_at, before.state
        FROM selected CROSS JOIN LATERAL (
            SELECT state, changed_at FROM flood_changes
            WHERE flood_changes.area_id = selected.area_id AND changed_at <= $1
            ORDER BY changed_at DESC LIMIT 1
        ) before
        UNION ALL
        -- The first whole hour at which the state is in effect.
        SELECT area_id, date_bin('1 hour', changed_at + interval '3599.999999 s', 'epoch'), changed_at, state
        FROM flood_changes JOIN selected USING (area_id)
        WHERE changed_at > $1 AND changed_at <= $2
    ), steps AS (
        SELECT hour, (state IS NOT NULL)::int
            - coalesce(lag(state IS NOT NULL) OVER (PARTITION BY area_id ORDER BY changed_at), false)::int AS step
        FROM entries
    ), hours AS (
        SELECT hour, sum(step) AS step FROM steps WHERE step <> 0 GROUP BY hour
    )
    SELECT floods.revision, hours.hour, hours.step
    FROM current_revisions floods LEFT JOIN hours ON true
    WHERE floods.resource = 'floods'
    ORDER BY hours.hour";

const LOG: &str = "
    SELECT area_id, changed_at, coalesce(received_at, changed_at) AS received_at, state, subject, username
    FROM flood_changes WHERE area_id = $1 ORDER BY changed_at";

/// The newest log entries of an area. If the area has no entries, there is one row without an entry.
const LATEST: &str = "
    SELECT areas.area_id, log.changed_at, coalesce(log.received_at, log.changed_at) AS received_at, log.state,
           log.subject, log.username
    FROM areas LEFT JOIN LATERAL (
        SELECT changed_at, received_at, state, subject, username FROM flood_changes
        WHERE flood_changes.area_id = areas.area_id AND changed_at < coalesce($2, 'infinity'::timestamptz)
        ORDER BY changed_at DESC LIMIT $3
    ) log ON true
    WHERE areas.area_id = $1
    ORDER BY log.changed_at DESC";

macro_rules! entries {
    ($which:literal) => {
        concat!(
            "SELECT floods.revision, area_id, changed_at, state, run_began_at, since, confirmed_at,
                    coalesce(received_at, changed_at) AS received_at
             FROM current_revisions floods
             LEFT JOIN flood_changes ON changed_at >= $1 AND changed_at <= $2 ",
            $which,
            " WHERE floods.resource = 'floods' ORDER BY area_id, changed_at"
        )
    };
}

const ENTRIES: &str = entries!("");
const ENTRIES_OF_AREA: &str = entries!("AND area_id = $3");
const ENTRIES_OF_SELECTION: &str = entries!(
    "AND area_id IN (
        SELECT area_id FROM areas
        WHERE ($3::text IS NULL OR city = $3 OR instance_region_code = $3)
          AND ($4::text IS NULL OR instance_region_code = $4)
    )"
);

const COUNT_ENTRIES: &str = "
    SELECT count(*) FROM (
        SELECT FROM flood_changes
        WHERE changed_at >= $1 AND changed_at <= $2
          AND ($3::text IS NULL AND $4::text IS NULL OR area_id IN (
              SELECT area_id FROM areas
              WHERE ($3 IS NULL OR city = $3 OR instance_region_code = $3)
                AND ($4 IS NULL OR instance_region_code = $4)
          ))
          AND ($5::bigint IS NULL OR area_id = $5)
        LIMIT $6
    ) entries";

struct Map {
    areas: Arc<AreaSet>,
    /// The statuses of the areas that were ever flooded, by position in `areas`.
    statuses: Vec<(usize, FloodStatus)>,
}

impl Map {
    /// Returns the selected areas. The cost is proportional to all areas, but with a minimum state only to areas ever flooded.
    fn select(&self, query: &FloodQuery) -> Vec<(usize, FloodStatus)> {
        let is_selected =
            |(position, status): &(usize, FloodStatus)| query.matches(&self.areas[*position], status);
        let statuses = self.statuses.iter().copied();
        if query.minimum_state.is_some() {
            return statuses.filter(is_selected).collect();
        }
        let mut statuses = statuses.peekable();
        let all_statuses = (0..self.areas.len()).map(|position| {
            statuses.next_if(|entry| entry.0 == position).unwrap_or((position, FloodStatus::NEVER_FLOODED))
        });
        all_statuses.filter(is_selected).collect()
    }
}

#[derive(FromRow)]
struct StateRow {
    floods: i64,
    places: i64,
    area_id: Option<i64>,
    state: Option<i16>,
    changed_at: Option<DateTime<Utc>>,
    since: Option<DateTime<Utc>>,
    confirmed_at: Option<DateTime<Utc>>,
}

impl StateRow {
    /// Returns `None` for the row without an area.
    fn read(&self) -> Result<Option<(AreaId, FloodStatus)>, StoreError> {
        let (Some(area), Some(changed_at)) = (self.area_id, self.changed_at) else { return Ok(None) };
        let (changed, since) = (changed_at.into(), self.since.map(Timestamp::from));
        let status = match self.state {
            Some(state) => FloodStatus::Flooded(CurrentState {
                state: number(state)?,
                last_updated: changed,
                flooded_since: since,
                confirmed: self.confirmed_at.map(Timestamp::from),
            }),
            None => FloodStatus::Dry { cleared: Some(changed), over_since: since },
        };
        Ok(Some((number(area)?, status)))
    }
}

/// Returns the names of the area, in the order of `PlaceNames`. Fails if the area does not exist or is outside of the limit.
fn names_inside(request: &SetFloodState, areas: &AreaSet) -> Result<Vec<String>, StoreError> {
    let area = areas.find(request.area).ok_or_else(|| StoreError::no_area(request.area))?;
    let names = PlaceNames::from(area);
    if !request.limit.contains(&names) {
        return Err(StoreError::OutsideLimit { areas: vec![request.area] });
    }
    Ok(names.values().into_iter().flatten().map(str::to_owned).collect())
}

impl PostgresStore {
    /// Sets the state of an area with these names. Returns `None` if there is no such area.
    async fn set_state(
        &self,
        SetFloodState { area, state, by, .. }: &SetFloodState,
        names: Option<&Vec<String>>,
    ) -> Result<Option<FloodChange>, StoreError> {
        let now = self.clock.now();
        let statement = sqlx::query_as(SET)
            .bind(column(area.number()))
            .bind(state.map(|state| i16::from(state.code())))
            .bind(moment(now))
            .bind(by.subject.clone())
            .bind(by.username.clone())
            .bind(names.cloned());
        let rows: Vec<(DateTime<Utc>,)> = self.connections.write(statement).await?;
        let change = |(at,): (DateTime<Utc>,)| FloodChange {
            area: *area,
            state: *state,
            at: at.into(),
            received: now,
            by: by.clone(),
        };
        Ok(rows.into_iter().next().map(change))
    }

    async fn map(&self) -> Result<Versioned<Map>, StoreError> {
        let places_revision = |row: &StateRow| row.places;
        let (rows, places) = self.with_places(sqlx::query_as(STATES), places_revision).await?;
        let areas = Arc::clone(places.value.areas());
        let mut statuses = Vec::with_capacity(rows.len());
        for row in &rows {
            let Some((area, status)) = row.read()? else { continue };
            statuses.extend(areas.position(area).map(|position| (position, status)));
        }
        statuses.sort_unstable_by_key(|(position, _)| *position);
        Ok(Versioned::new(revision(rows[0].floods), Map { areas, statuses }))
    }
}

struct EntryRow {
    area: AreaId,
    entry: LogEntry,
}

impl<'r> FromRow<'r, PgRow> for EntryRow {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self { area: get(row, "area_id")?, entry: LogEntry::from_row(row)? })
    }
}

#[derive(FromRow)]
struct StepRow {
    hour: DateTime<Utc>,
    step: i64,
}

#[async_trait]
impl FloodStore for PostgresStore {
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        let Versioned { revision, value: map, .. } = self.map().await?;
        let selected = map.select(query);
        Ok(Versioned::new(revision, FloodLayer::new(map.areas, selected)))
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError> {
        let statement = sqlx::query_as(ARCHIVE)
            .bind(moment(query.period.start()))
            .bind(moment(query.period.end()))
            .bind(query.selector.city.clone())
            .bind(query.selector.region.clone());
        versioned(self.connections.read(statement).await?, Ok)
    }

    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let statement = sqlx::query_as(SERIES)
            .bind(moment(query.period.start().floor_to_hour()))
            .bind(moment(query.period.end().floor_to_hour()))
            .bind(query.selector.city.clone())
            .bind(query.selector.region.clone());
        let steps =
            versioned(self.connections.read(statement).await?, |row: StepRow| Ok((row.hour, row.step)))?;
        let mut remaining = steps.value.into_iter().peekable();
        let mut flooded = 0;
        let points = query.period.hours().map(|ts| {
            while let Some((_, step)) = remaining.next_if(|&(hour, _)| hour <= moment(ts)) {
                flooded += step;
            }
            SeriesPoint { ts, count: flooded.cast_unsigned() }
        });
        Ok(Versioned::new(steps.revision, points.collect()))
    }

    async fn flood_log(&self, area: AreaId) -> Result<Vec<FloodChange>, StoreError> {
        self.connections.read(sqlx::query_as(LOG).bind(column(area.number()))).await
    }

    async fn latest_flood_changes(&self, query: &LogQuery) -> Result<Vec<FloodChange>, StoreError> {
        let LogQuery { area, before, most } = *query;
        let statement =
            sqlx::query_as(LATEST).bind(column(area.number())).bind(before.map(moment)).bind(i64::from(most));
        let rows: Vec<AreaEntry> = self.connections.read(statement).await?;
        if rows.is_empty() {
            return Err(StoreError::no_area(area));
        }
        Ok(rows.into_iter().filter_map(|row| row.change).collect())
    }

    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> Result<Versioned<Vec<(AreaId, Vec<LogEntry>)>>, StoreError> {
        let EntryQuery { selector, area, from, until } = query;
        let bind_period = |sql: &'static str| sqlx::query_as(sql).bind(moment(*from)).bind(moment(*until));
        let statement = match area {
            Some(area) => bind_period(ENTRIES_OF_AREA).bind(column(area.number())),
            None if selector.is_everything() => bind_period(ENTRIES),
            None => {
                bind_period(ENTRIES_OF_SELECTION).bind(selector.city.clone()).bind(selector.region.clone())
            }
        };
        let entries =
            versioned(self.connections.read(statement).await?, |row: EntryRow| Ok((row.area, row.entry)))?;
        Ok(entries.map(|entries| {
            let areas = entries.chunk_by(|(a, _), (b, _)| a == b);
            areas.map(|area| (area[0].0, area.iter().map(|(_, entry)| *entry).collect())).collect()
        }))
    }

    async fn count_flood_entries(&self, query: &EntryQuery, most: u64) -> Result<u64, StoreError> {
        let statement = sqlx::query_as(COUNT_ENTRIES)
            .bind(moment(query.from))
            .bind(moment(query.until))
            .bind(query.selector.city.clone())
            .bind(query.selector.region.clone())
            .bind(query.area.map(|area| column(area.number())))
            .bind(limit(most));
        count(self.connections.read(statement).await?)
    }

    async fn set_flood_state(&self, request: SetFloodState) -> Result<FloodChange, StoreError> {
        if request.limit.is_everywhere() {
            return self.set_state(&request, None).await?.ok_or_else(|| StoreError::no_area(request.area));
        }
        let mut places = self.places.get_or_load(&self.connections).await?;
        loop {
            let names = names_inside(&request, places.value.areas());
            if let Ok(names) = &names
                && let Some(change) = self.set_state(&request, Some(names)).await?
            {
                return Ok(change);
            }
            // The cached places may be outdated.
            let current = self.places().await?;
            if current.revision == places.revision {
                return Err(names.err().unwrap_or_else(|| StoreError::no_area(request.area)));
            }
            places = current;
        }
    }

    async fn change_floods(&self, request: BatchRequest) -> Result<BatchOutcome, StoreError> {
        self.apply_batch(request).await
    }

    async fn all_flood_changes(&self, query: &FloodLogQuery) -> Result<Vec<LoggedChange>, StoreError> {
        self.flood_log_page(query).await
    }
}
