use std::sync::Arc;

use async_trait::async_trait;
use sqlx::FromRow;

use super::PostgresStore;
use super::error::backend;
use super::link::Link;
use super::revision::{revision, split_next, versioned};
use super::rows::recordset;
use super::values::{column, count, limit, moment};
use crate::model::bodies::{GaugeReadings, SettingsUpdate};
use crate::model::{Gauge, GaugeLayer, GaugeSettings, Observation, ObservedGauge};
use crate::stores::{GaugeQuery, GaugeStore, StoreError, Versioned};

/// Gauges with their readings in a window, and the time of the first later reading of any gauge.
pub(super) const OBSERVED: &str = "
    SELECT now.revision, asked.*, (SELECT min(observed_at) FROM gauge_readings WHERE observed_at > $2) AS next
    FROM current_revisions now LEFT JOIN (
        SELECT gaugeid, gaugenameid, instance_region_code, ST_AsBinary(location, 'NDR') AS location,
               settings::text AS settings, observed_at, level, alert, label, reported::text AS reported
        FROM gauge_readings JOIN gauges USING (gaugeid)
        WHERE observed_at >= $1 AND observed_at <= $2
          AND ($3::text IS NULL OR instance_region_code = $3) AND ($4::text IS NULL OR instance_region_code = $4)
    ) asked ON true
    WHERE now.resource = 'gauges'
    ORDER BY gaugeid, observed_at";

const ALL: &str = "
    SELECT now.revision, asked.* FROM current_revisions now LEFT JOIN (
        SELECT gaugeid, gaugenameid, instance_region_code, ST_AsBinary(location, 'NDR') AS location,
               settings::text AS settings FROM gauges
    ) asked ON true
    WHERE now.resource = 'gauges'
    ORDER BY gaugeid";

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

#[derive(FromRow)]
struct ObservedRow {
    #[sqlx(flatten)]
    gauge: Gauge,
    #[sqlx(flatten)]
    reading: Observation,
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
        let rows = versioned(rows, Ok)?;
        let mut gauges: Vec<ObservedGauge> = Vec::new();
        for ObservedRow { gauge, reading } in rows.value {
            if gauges.last().is_none_or(|last| last.gauge.id != gauge.id) {
                gauges.push(ObservedGauge { gauge: Arc::new(gauge), observations: Vec::new() });
            }
            if let Some(gauge) = gauges.last_mut() {
                gauge.observations.push(reading);
            }
        }
        let layer = GaugeLayer(gauges);
        let validity = query.window.validity(now, layer.oldest(), next);
        Ok(Versioned::new(rows.revision, layer).within(validity))
    }

    async fn all_gauges(&self) -> Result<Versioned<GaugeLayer>, StoreError> {
        let rows = self.connections.read(sqlx::query_as(ALL)).await?;
        let gauge = |gauge| Ok(ObservedGauge { gauge: Arc::new(gauge), observations: Vec::new() });
        Ok(versioned(rows, gauge)?.map(GaugeLayer))
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
}
