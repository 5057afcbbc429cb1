use std::sync::Arc;

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use sqlx::{Connection, PgConnection};

use super::PostgresStore;
use super::error::backend;
use super::link::Link;
use super::revision::revision;
use super::values::{area_id, geometry, outline, tags};
use crate::model::{
    Area, AreaSet, BoundaryLayer, Course, Infrastructure, InfrastructureLayer, InfrastructureShape, Position,
    Region,
};
use crate::stores::places::Places;
use crate::stores::{
    BoundaryStore, InfrastructureQuery, InfrastructureStore, Revision, StoreError, Versioned,
};

/// The places as they were read last: megabytes that hardly ever change.
#[derive(Debug, Default)]
pub(super) struct PlacesCache(ArcSwapOption<Versioned<Places>>);

impl PlacesCache {
    /// The places of exactly this revision, read by `link` when they are not at hand; `None` when the database has gone
    /// on meanwhile.
    pub(super) async fn at(
        &self,
        revision: Revision,
        link: &mut Link,
    ) -> Result<Option<Arc<Versioned<Places>>>, StoreError> {
        let asked = |places: &Arc<Versioned<Places>>| places.revision == revision;
        match self.0.load_full().filter(asked) {
            Some(places) => Ok(Some(places)),
            None => Ok(Some(self.reload(link).await?).filter(asked)),
        }
    }

    /// The places at hand, read by `link` when there are none yet.
    pub(super) async fn any(&self, link: &mut Link) -> Result<Arc<Versioned<Places>>, StoreError> {
        match self.0.load_full() {
            Some(places) => Ok(places),
            None => self.reload(link).await,
        }
    }

    /// The places `link` sees.
    pub(super) async fn reload(&self, link: &mut Link) -> Result<Arc<Versioned<Places>>, StoreError> {
        let places = Arc::new(read(link).await?);
        self.0.rcu(|known| match known {
            // A replica that is behind must not undo what the primary has shown; the primary itself may go back, when an
            // older state of it is restored.
            Some(known) if link.is_replica() && known.revision > places.revision => Some(Arc::clone(known)),
            _ => Some(Arc::clone(&places)),
        });
        Ok(places)
    }
}

/// Reads all places, in one snapshot.
pub(super) async fn read(connection: &mut PgConnection) -> Result<Versioned<Places>, StoreError> {
    let mut snapshot = connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let of_places = sqlx::query_scalar("SELECT revision FROM current_revisions WHERE resource = 'places'")
        .fetch_one(&mut *snapshot)
        .await?;
    let areas = areas(&mut snapshot).await?;
    let regions = regions(&mut snapshot).await?;
    let infrastructure = infrastructure(&mut snapshot).await?;
    snapshot.commit().await?;
    let places = Places::new(Arc::new(areas), regions.into_iter().map(Arc::new).collect(), infrastructure);
    Ok(Versioned::at(revision(of_places), places))
}

type AreaRow = (i64, String, String, String, String, String, String, Option<String>, Vec<u8>);

pub(super) async fn areas(connection: &mut PgConnection) -> Result<AreaSet, StoreError> {
    let rows: Vec<AreaRow> = sqlx::query_as(
        "SELECT area_id, geom_id, area_name, parent_name, city_name, city, instance_region_code, attributes::text,
                ST_AsBinary(outline, 'NDR')
         FROM areas ORDER BY area_id",
    )
    .fetch_all(connection)
    .await?;
    let areas = rows.into_iter().map(|row| {
        let (id, geom_id, name, parent_name, city_name, city_code, region_code, attributes, bytes) = row;
        Ok(Area {
            id: area_id(id)?,
            geom_id,
            name,
            parent_name,
            city_name,
            city_code,
            region_code,
            // An empty object, which an editor may set, says no more than none.
            attributes: attributes.and_then(|json| json.try_into().ok()),
            outline: outline(&bytes)?,
        })
    });
    AreaSet::new(areas.collect::<Result<_, StoreError>>()?).map_err(backend)
}

pub(super) async fn regions(connection: &mut PgConnection) -> Result<Vec<Region>, StoreError> {
    let rows: Vec<(String, String, Vec<u8>)> =
        sqlx::query_as("SELECT code, name, ST_AsBinary(outline, 'NDR') FROM regions ORDER BY code")
            .fetch_all(connection)
            .await?;
    rows.into_iter().map(|(code, name, bytes)| Ok(Region { code, name, outline: outline(&bytes)? })).collect()
}

type InfrastructureRow = (String, String, Option<String>, Option<i64>, Vec<u8>);

pub(super) async fn infrastructure(connection: &mut PgConnection) -> Result<Vec<Infrastructure>, StoreError> {
    let rows: Vec<InfrastructureRow> = sqlx::query_as(
        "SELECT kind, name, instance_region_code, local_area_id, ST_AsBinary(shape, 'NDR')
         FROM infrastructure ORDER BY kind, name, id",
    )
    .fetch_all(connection)
    .await?;
    let infrastructure = rows.into_iter().map(|(kind, name, region_code, area, bytes)| {
        Ok(Infrastructure {
            kind: kind.parse().map_err(backend)?,
            name,
            tags: tags(region_code, area)?,
            shape: shape(&bytes)?,
        })
    });
    infrastructure.collect()
}

fn shape(bytes: &[u8]) -> Result<InfrastructureShape, StoreError> {
    let place = |coord: geo::Coord<f64>| {
        Position::new(coord.x, coord.y).ok_or_else(|| backend("infrastructure lies off the globe"))
    };
    match geometry(bytes)? {
        geo::Geometry::Point(point) => Ok(InfrastructureShape::Place(place(point.0)?)),
        geo::Geometry::LineString(line) => {
            let positions: Vec<_> = line.0.into_iter().map(place).collect::<Result<_, _>>()?;
            let course =
                Course::new(&positions).ok_or_else(|| backend("a line has less than 2 positions"))?;
            Ok(InfrastructureShape::Course(course))
        }
        _ => Err(backend("infrastructure is neither a Point nor a LineString")),
    }
}

impl PostgresStore {
    /// What `ask` finds in the places, with the revision of their resource.
    async fn of_places<T>(
        &self,
        resource: &str,
        ask: impl Fn(&Places) -> T + Send,
    ) -> Result<Versioned<T>, StoreError> {
        let asking = async {
            loop {
                let mut link = self.connections.reader().await?;
                let is_replica = link.is_replica();
                let reading = async {
                    let outcome = self.places_of(resource, &mut link).await;
                    link.end(outcome)
                };
                let read = self.connections.unless_lost(is_replica, reading).await?;
                if let Some((revision, places)) = read.flatten() {
                    return Ok(Versioned::at(revision, ask(&places.value)));
                }
            }
        };
        self.connections.within(asking).await
    }

    async fn places_of(
        &self,
        resource: &str,
        link: &mut Link,
    ) -> Result<Option<(Revision, Arc<Versioned<Places>>)>, StoreError> {
        let (of_resource, of_places) = sqlx::query_as(
            "SELECT of_resource.revision, of_places.revision
             FROM current_revisions of_resource, current_revisions of_places
             WHERE of_resource.resource = $1 AND of_places.resource = 'places'",
        )
        .bind(resource)
        .fetch_one(&mut **link)
        .await?;
        let places = self.places.at(revision(of_places), link).await?;
        Ok(places.map(|places| (revision(of_resource), places)))
    }
}

#[async_trait]
impl InfrastructureStore for PostgresStore {
    async fn infrastructure(
        &self,
        query: &InfrastructureQuery,
    ) -> Result<Versioned<InfrastructureLayer>, StoreError> {
        self.of_places("infrastructure", |places| places.infrastructure(query)).await
    }
}

#[async_trait]
impl BoundaryStore for PostgresStore {
    async fn boundaries(&self, code: Option<&str>) -> Result<Versioned<BoundaryLayer>, StoreError> {
        self.of_places("boundaries", |places| places.boundaries(code)).await
    }
}
