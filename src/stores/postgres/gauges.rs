use std::sync::Arc;

use async_trait::async_trait;
use sqlx::FromRow;
use sqlx::postgres::PgRow;

use super::PostgresStore;
use super::columns::get;
use super::error::backend;
use super::link::Link;
use super::revision::{revision, split_next, versioned};
use super::rows::recordset;
use super::statement::Query;
use super::values::{column, count, limit, moment};
use crate::model::bodies::{GaugeReadings, SettingsUpdate};
use crate::model::{
    AlertLevel, Gauge, GaugeLayer, GaugeSettings, Mute, Observation, ObservedGauge, Quality, ReportedAlert,
    Timestamp,
};
use crate::stores::gauges::{LEAST_RECENT, MOST_RECENT};
use crate::stores::{GaugeQuery, GaugeStore, StoreError, Versioned};

macro_rules! gauge {
    () => {
        "gaugeid, gaugenameid, instance_region_code, ST_AsBinary(location, 'NDR') AS location, settings::text AS settings,
               mute::text AS mute"
    };
}

/// The readings of a gauge in one row, in any order, so that the gauge is read once. Sorting each array here would take most of the time.
macro_rules! readings {
    () => {
        "array_agg(observed_at) AS times, array_agg(level) AS levels, array_agg(alert) AS alerts, array_agg(label) AS labels,
               array_agg(reported::text) AS reported"
    };
}

/// Gauges with their readings in a window, and the time of the first later reading of any gauge.
pub(super) const OBSERVED: &str = concat!(
    "
    SELECT now.revision, asked.*, (SELECT min(observed_at) FROM gauge_readings WHERE observed_at > $2) AS next
    FROM current_revisions now LEFT JOIN (
        SELECT ",
    gauge!(),
    ", times, levels, alerts, labels, reported
        FROM (
            SELECT gaugeid, ",
    readings!(),
    "
            FROM gauge_readings JOIN gauges USING (gaugeid)
            WHERE observed_at >= $1 AND observed_at <= $2
              AND ($3::text IS NULL OR instance_region_code = $3) AND ($4::text IS NULL OR instance_region_code = $4)
            GROUP BY gaugeid
        ) readings JOIN gauges USING (gaugeid)
    ) asked ON true
    WHERE now.resource = 'gauges'
    ORDER BY gaugeid"
);

/// All gauges with their readings since a time, but at least `$2` and at most `$3` of each.
const RECENT: &str = concat!(
    "
    SELECT now.revision, asked.* FROM current_revisions now LEFT JOIN (
        SELECT ",
    gauge!(),
    ", times, levels, alerts, labels, reported
        FROM gauges CROSS JOIN LATERAL (
            SELECT ",
    readings!(),
    "
            FROM (
                SELECT * FROM gauge_readings
                WHERE gauge_readings.gaugeid = gauges.gaugeid AND observed_at >= least($1, coalesce((
                    SELECT observed_at FROM gauge_readings
                    WHERE gauge_readings.gaugeid = gauges.gaugeid ORDER BY observed_at DESC OFFSET $2 - 1 LIMIT 1
                ), '-infinity'))
                ORDER BY observed_at DESC LIMIT $3
            ) recent
        ) readings
    ) asked ON true
    WHERE now.resource = 'gauges'
    ORDER BY gaugeid"
);

const ALL: &str = concat!(
    "
    SELECT now.revision, asked.* FROM current_revisions now LEFT JOIN (SELECT ",
    gauge!(),
    " FROM gauges) asked ON true
    WHERE now.resource = 'gauges'
    ORDER BY gaugeid"
);

const COUNT: &str = "
    SELECT count(*) FROM (
        SELECT FROM gauge_readings JOIN gauges USING (gaugeid)
        WHERE observed_at >= $1 AND observed_at <= $2
          AND ($3::text IS NULL OR instance_region_code = $3) AND ($4::text IS NULL OR instance_region_code = $4)
        LIMIT $5
    ) AS counted";

/// Stores a gauge and its readings, unless the places have changed since its province was computed. Does not write unchanged
/// rows. A gauge that has not moved keeps its stored province.
const STORE: &str = "
    WITH places AS (
        SELECT revision FROM current_revisions WHERE resource = 'places'
    ), gauge AS (
        INSERT INTO gauges AS known (gaugeid, gaugenameid, location, instance_region_code, settings)
        SELECT $2, $3, ST_SetSRID(ST_MakePoint($4, $5), 4326), $6, $8::jsonb FROM places WHERE revision = $1
        ON CONFLICT (gaugeid) DO UPDATE SET
            gaugenameid = excluded.gaugenameid,
            location = excluded.location,
            instance_region_code = CASE
                WHEN known.location = excluded.location THEN known.instance_region_code
                ELSE excluded.instance_region_code
            END,
            settings = CASE WHEN $9 THEN excluded.settings ELSE known.settings END
        WHERE known.gaugenameid <> excluded.gaugenameid OR NOT known.location = excluded.location
           OR $9 AND known.settings IS DISTINCT FROM excluded.settings
    ), readings AS (
        INSERT INTO gauge_readings AS known (gaugeid, observed_at, level, alert, label, reported)
        SELECT $2, observed_at, level, alert, label, reported
        FROM places, json_populate_recordset(NULL::gauge_readings, $7::json) AS sent
        WHERE revision = $1
        ORDER BY observed_at
        ON CONFLICT (gaugeid, observed_at) DO UPDATE SET
            level = excluded.level, alert = excluded.alert, label = excluded.label, reported = excluded.reported
        WHERE (known.level, known.alert, known.label, known.reported)
              IS DISTINCT FROM (excluded.level, excluded.alert, excluded.label, excluded.reported)
    )
    SELECT revision FROM places";

const SETTINGS: &str = "SELECT settings::text FROM gauges WHERE gaugeid = $1";

/// Appends an entry to the log, and removes the oldest one of a full log.
const MUTE: &str = "
    UPDATE gauges SET mute = $2::jsonb, log = CASE
        WHEN jsonb_array_length(log) >= $3 THEN log - 0
        WHEN log IS NOT NULL THEN log
        WHEN mute IS NOT NULL THEN jsonb_build_array(mute)
        ELSE '[]'
    END || $2::jsonb
    WHERE gaugeid = $1 RETURNING true";

const ERASE: &str = "
    WITH gone AS (
        DELETE FROM gauge_readings WHERE (gaugeid, observed_at) IN (
            SELECT gaugeid, observed_at FROM gauge_readings WHERE observed_at < $1 LIMIT $2
        ) RETURNING 1
    )
    SELECT count(*) FROM gone";
/// The maximum number of readings that one statement erases, so that writers do not wait long for it.
const MOST_ERASED: u64 = 10_000;

const LOG: &str = "SELECT log::text, mute::text FROM gauges WHERE gaugeid = $1";

struct ObservedRow(ObservedGauge);

impl<'r> FromRow<'r, PgRow> for ObservedRow {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        // The arrays are null for a gauge without readings.
        let times: Vec<Timestamp> = get::<Option<_>>(row, "times")?.unwrap_or_default();
        let levels: Vec<f64> = get::<Option<_>>(row, "levels")?.unwrap_or_default();
        let alerts: Vec<AlertLevel> = get::<Option<_>>(row, "alerts")?.unwrap_or_default();
        let labels: Vec<Box<str>> = get::<Option<_>>(row, "labels")?.unwrap_or_default();
        let reported: Vec<Option<ReportedAlert>> = get::<Option<_>>(row, "reported")?.unwrap_or_default();
        let columns = times.into_iter().zip(levels).zip(alerts).zip(labels).zip(reported);
        let observations = columns.map(|((((observed_at, level), alert), label), reported)| Observation {
            observed_at,
            level,
            alert,
            label,
            reported,
            quality: Quality::default(),
        });
        let mut observations: Vec<_> = observations.collect();
        // They come in order, or in the opposite one, which takes no time.
        observations.sort_by_key(|reading| reading.observed_at);
        Ok(Self(ObservedGauge::new(Arc::new(Gauge::from_row(row)?), observations)))
    }
}

impl PostgresStore {
    /// Stores readings, and tries again if an import has changed the places meanwhile. Returns the number of readings.
    async fn store(&self, readings: &GaugeReadings) -> Result<usize, StoreError> {
        let mut places = self.places.get_or_load(&self.connections).await?;
        loop {
            let region_code = places.value.locator().locate(readings.location).instance_region_code;
            let mut link = self.connections.writer().await?;
            let outcome = store(&mut link, readings, region_code.as_deref(), places.revision.0).await;
            self.connections.announce_write(&outcome);
            let (now, stored) = link.finish(outcome)?;
            if revision(now) == places.revision {
                return Ok(stored);
            }
            places = self.places.load(&self.connections).await?;
        }
    }
}

/// Returns the revision of the places, and the number of readings with distinct times.
async fn store(
    link: &mut Link,
    readings: &GaugeReadings,
    region_code: Option<&str>,
    places: u64,
) -> Result<(i64, usize), StoreError> {
    let place = readings.location.coord();
    let stored: Option<Option<String>> =
        sqlx::query_scalar(SETTINGS).bind(&readings.id).fetch_optional(&mut **link).await?;
    let stored: Option<GaugeSettings> =
        stored.flatten().map(|json| serde_json::from_str(&json)).transpose().map_err(backend)?;
    let (settings, sent) = readings.resolve(stored.as_ref()).map_err(StoreError::missing_alert)?;
    let settings =
        (!settings.is_empty()).then(|| serde_json::to_string(&settings)).transpose().map_err(backend)?;
    let (now,) = sqlx::query_as(STORE)
        .bind(column(places))
        .bind(&readings.id)
        .bind(&readings.name)
        .bind(place.x)
        .bind(place.y)
        .bind(region_code)
        .bind(recordset(sent.values())?)
        .bind(settings)
        // Another request may have changed them since.
        .bind(readings.settings != SettingsUpdate::default())
        .fetch_one(&mut **link)
        .await?;
    Ok((now, sent.len()))
}

#[async_trait]
impl GaugeStore for PostgresStore {
    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError> {
        let now = self.clock.now();
        let (first, last) = query.window.bounds(now);
        let statement = sqlx::query_as(OBSERVED)
            .bind(moment(first))
            .bind(moment(last))
            .bind(query.selector.city.clone())
            .bind(query.selector.region.clone());
        let (rows, next) = split_next(self.connections.read(statement).await?);
        let rows = versioned(rows, |ObservedRow(gauge)| Ok(gauge))?;
        let layer = GaugeLayer(rows.value);
        let validity = query.window.validity(now, layer.oldest(), next);
        Ok(Versioned::new(rows.revision, layer).within(validity))
    }

    async fn all_gauges(&self) -> Result<Versioned<GaugeLayer>, StoreError> {
        let rows = self.connections.read(sqlx::query_as(ALL)).await?;
        let gauge = |gauge| Ok(ObservedGauge::new(Arc::new(gauge), Vec::new()));
        Ok(versioned(rows, gauge)?.map(GaugeLayer))
    }

    async fn recent_readings(&self, since: Timestamp) -> Result<Versioned<GaugeLayer>, StoreError> {
        let statement = sqlx::query_as(RECENT)
            .bind(moment(since))
            .bind(limit(LEAST_RECENT as u64))
            .bind(limit(MOST_RECENT as u64));
        let rows = self.connections.read(statement).await?;
        Ok(versioned(rows, |ObservedRow(gauge)| Ok(gauge))?.map(GaugeLayer))
    }

    async fn count_readings(&self, query: &GaugeQuery, most: u64) -> Result<u64, StoreError> {
        let (first, last) = query.window.bounds(self.clock.now());
        let statement = sqlx::query_as(COUNT)
            .bind(moment(first))
            .bind(moment(last))
            .bind(query.selector.city.clone())
            .bind(query.selector.region.clone())
            .bind(limit(most));
        count(self.connections.read(statement).await?)
    }

    async fn store_gauge(&self, readings: GaugeReadings) -> Result<usize, StoreError> {
        self.connections.retry_locked(|| self.store(&readings)).await
    }

    async fn erase_readings(&self, before: Timestamp) -> Result<(), StoreError> {
        loop {
            let query = sqlx::query_as(ERASE).bind(moment(before)).bind(limit(MOST_ERASED));
            if count(self.connections.write(query).await?)? < MOST_ERASED {
                return Ok(());
            }
        }
    }

    async fn mute_gauge(&self, id: &str, entry: Mute) -> Result<(), StoreError> {
        let query: Query<(bool,)> = sqlx::query_as(MUTE)
            .bind(id.to_owned())
            .bind(serde_json::to_string(&entry).map_err(backend)?)
            .bind(limit(Mute::MOST as u64));
        let muted = self.connections.write(query).await?;
        muted.first().map(drop).ok_or_else(|| StoreError::no_gauge(id))
    }

    async fn gauge_log(&self, id: &str) -> Result<Vec<Mute>, StoreError> {
        let query: Query<(Option<String>, Option<String>)> = sqlx::query_as(LOG).bind(id.to_owned());
        let rows = self.connections.read(query).await?;
        let (log, mute) = rows.into_iter().next().ok_or_else(|| StoreError::no_gauge(id))?;
        // The log of an imported gauge is empty.
        let json = log.or_else(|| mute.map(|mute| format!("[{mute}]"))).unwrap_or_else(|| "[]".to_owned());
        let mut log: Vec<Mute> = serde_json::from_str(&json).map_err(backend)?;
        log.reverse();
        Ok(log)
    }
}
