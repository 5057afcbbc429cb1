use std::sync::Arc;

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use futures::TryFutureExt;
use sqlx::postgres::PgRow;
use sqlx::{Connection, PgConnection};

use super::PostgresStore;
use super::connections::Connections;
use super::error::backend;
use super::revision::revision;
use super::single_flight::SingleFlight;
use super::statement::{Query, Row, Statement};
use crate::model::{AreaSet, Places};
use crate::runtime::off_thread;
use crate::stores::{PlaceStore, Revision, StoreError, Versioned, from_shared};

/// Caches the places as last read: they take megabytes and rarely change.
#[derive(Debug)]
pub(super) struct PlacesCache {
    cached: ArcSwapOption<VersionedPlaces>,
    loading: SingleFlight<Result<VersionedPlaces, Arc<StoreError>>>,
}

pub(super) type VersionedPlaces = Versioned<Arc<Places>>;

impl PlacesCache {
    pub(super) fn new() -> Self {
        Self { cached: ArcSwapOption::empty(), loading: SingleFlight::new() }
    }

    /// Returns the places as last read; they may be outdated.
    pub(super) fn cached(&self) -> Option<VersionedPlaces> {
        self.cached.load().as_deref().cloned()
    }

    /// Returns the cached places, or loads them. As for [`load`](Self::load), the caller must hold no connection.
    pub(super) async fn get_or_load(&self, connections: &Connections) -> Result<VersionedPlaces, StoreError> {
        match self.cached() {
            Some(places) => Ok(places),
            None => self.load(connections).await,
        }
    }

    /// Loads the current places, once for all concurrent callers. No caller may hold a connection: the load needs one.
    pub(super) async fn load(&self, connections: &Connections) -> Result<VersionedPlaces, StoreError> {
        let load = async {
            let mut link = connections.reader().await?;
            let rows = Rows::read(&mut link).await;
            let rows = link.finish(rows)?;
            let places = off_thread(move |_| rows.decode()).await.map_err(backend)??;
            self.cached.store(Some(Arc::new(places.clone())));
            Ok(places)
        };
        self.loading.run(Box::pin(load.map_err(Arc::new))).await.map_err(from_shared)
    }
}

/// All places of one snapshot, with geometry still encoded.
struct Rows {
    revision: Revision,
    areas: Vec<PgRow>,
    regions: Vec<PgRow>,
    cities: Vec<PgRow>,
    infrastructure: Vec<PgRow>,
}

impl Rows {
    async fn read(connection: &mut PgConnection) -> Result<Self, sqlx::Error> {
        let mut snapshot = connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let rows = Self::read_within(&mut snapshot).await?;
        snapshot.commit().await?;
        Ok(rows)
    }

    /// Reads all places and their revision in the caller's transaction.
    async fn read_within(connection: &mut PgConnection) -> Result<Self, sqlx::Error> {
        let places_revision =
            sqlx::query_scalar("SELECT revision FROM current_revisions WHERE resource = 'places'")
                .fetch_one(&mut *connection)
                .await?;
        Ok(Self {
            revision: revision(places_revision),
            areas: sqlx::query(AREAS).fetch_all(&mut *connection).await?,
            regions: sqlx::query(REGIONS).fetch_all(&mut *connection).await?,
            cities: sqlx::query(CITIES).fetch_all(&mut *connection).await?,
            infrastructure: sqlx::query(INFRASTRUCTURE).fetch_all(connection).await?,
        })
    }

    /// Decodes and indexes the geometry. CPU-bound and slow.
    fn decode(self) -> Result<VersionedPlaces, StoreError> {
        let areas = AreaSet::new(decode(self.areas, |area| area)?).map_err(backend)?;
        let places =
            Places::new(Arc::new(areas), decode(self.regions, Arc::new)?, decode(self.cities, Arc::new)?);
        let infrastructure = decode(self.infrastructure, |piece| piece)?;
        Ok(Versioned::new(self.revision, Arc::new(places.with_infrastructure(infrastructure))))
    }
}

macro_rules! areas {
    ($which:literal) => {
        concat!(
            "SELECT area_id, geom_id, area_name, parent_name, city_name, city, instance_region_code, attributes::text,
                    ST_AsBinary(outline, 'NDR') AS outline
             FROM areas ",
            $which
        )
    };
}

macro_rules! regions {
    ($table:literal, $which:literal) => {
        concat!("SELECT code, name, ST_AsBinary(outline, 'NDR') AS outline FROM ", $table, $which)
    };
}

const AREAS: &str = areas!("ORDER BY area_id");
const REGIONS: &str = regions!("regions", " ORDER BY code");
const CITIES: &str = regions!("cities", " ORDER BY code");

pub(super) const AREAS_OF: &str = areas!("WHERE area_id = ANY ($1)");
pub(super) const REGIONS_OF: &str = regions!("regions", " WHERE code = ANY ($1)");
pub(super) const CITIES_OF: &str = regions!("cities", " WHERE code = ANY ($1)");

const INFRASTRUCTURE: &str = "
    SELECT identifier, kind, name, instance_region_code, local_area_id, ST_AsBinary(shape, 'NDR') AS shape
    FROM infrastructure ORDER BY kind, name, id";

fn decode<T: Row, V>(rows: Vec<PgRow>, convert: fn(T) -> V) -> Result<Vec<V>, StoreError> {
    rows.into_iter().map(|row| Ok(convert(T::from_row(&row)?))).collect()
}

pub(super) async fn read(connection: &mut PgConnection) -> Result<Arc<Places>, StoreError> {
    Ok(Rows::read_within(connection).await?.decode()?.value)
}

impl PostgresStore {
    /// Returns the rows of a query and the places at the same revision, which `places_revision` reads from the first row.
    pub(super) async fn with_places<T: Row>(
        &self,
        query: Query<T>,
        places_revision: impl Fn(&T) -> i64,
    ) -> Result<(Vec<T>, VersionedPlaces), StoreError> {
        let statement = Statement::new(query)?;
        let read = || async {
            loop {
                let rows = self.connections.fetch(statement.query()).await?;
                let row = rows.first().ok_or_else(|| backend("the table of revisions has been emptied"))?;
                let seen = revision(places_revision(row));
                let places = match self.places.cached().filter(|places| places.revision == seen) {
                    Some(places) => places,
                    None => self.places.load(&self.connections).await?,
                };
                // If the revisions differ, the places have changed between the two reads, and both are repeated.
                if places.revision == seen {
                    return Ok((rows, places));
                }
            }
        };
        self.connections.retry_locked(read).await
    }
}

#[async_trait]
impl PlaceStore for PostgresStore {
    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError> {
        let query = sqlx::query_as("SELECT revision FROM current_revisions WHERE resource = 'places'");
        let (_, places) = self.with_places(query, |&(revision,): &(i64,)| revision).await?;
        Ok(places)
    }
}
