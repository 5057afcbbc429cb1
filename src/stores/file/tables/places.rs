use std::sync::Arc;

use sqlx::{Sqlite, SqliteConnection};

use super::super::error::FileError;
use crate::model::{
    Area, AreaId, AreaSet, Attributes, Geometry, Infrastructure, Places, Position, Region, Tags,
};
use crate::stores::{StoreError, wkb};

const PUT_AREA: &str = "
    INSERT OR REPLACE INTO areas
        (area_id, geom_id, area_name, parent_name, city_name, city, instance_region_code, attributes, geom)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
const AREAS: &str = "
    SELECT area_id, geom_id, area_name, parent_name, city_name, city, instance_region_code, attributes, geom
    FROM areas ORDER BY area_id";
const REMOVE_AREA: &str = "DELETE FROM areas WHERE area_id = ?";
const REMOVE_STATES: &str = "DELETE FROM flood_states WHERE area_id = ?";

/// Provinces and cities have tables of the same columns. A replaced row keeps its number, by which other programs know it.
macro_rules! put_into {
    ($table:literal) => {
        concat!(
            "INSERT INTO ",
            $table,
            " (code, name, geom) VALUES (?, ?, ?)
             ON CONFLICT (code) DO UPDATE SET name = excluded.name, geom = excluded.geom"
        )
    };
}

const PUT_REGION: &str = put_into!("regions");
const PUT_CITY: &str = put_into!("cities");
const REGIONS: &str = "SELECT code, name, geom FROM regions ORDER BY code";
const CITIES: &str = "SELECT code, name, geom FROM cities ORDER BY code";

const PUT_INFRASTRUCTURE: &str = "
    INSERT INTO infrastructure (type, name, instance_region_code, local_area_id, geom) VALUES (?, ?, ?, ?, ?)";
const INFRASTRUCTURE: &str = "
    SELECT type, name, instance_region_code, local_area_id, geom FROM infrastructure ORDER BY fid";
const REMOVE_INFRASTRUCTURE: &str = "DELETE FROM infrastructure";

type AreaRow = (i64, String, String, String, String, String, String, Option<String>, Vec<u8>);
type RegionRow = (String, String, Vec<u8>);
type InfrastructureRow = (String, String, Option<String>, Option<i64>, Vec<u8>);

/// The header of geometry without an envelope in WGS 84, in little-endian order (OGC 12-128r17 §2.1.3).
const HEADER: [u8; 8] = [b'G', b'P', 0, 1, 0xe6, 0x10, 0, 0];

/// Returns geometry in `GeoPackage`'s form.
pub(super) fn blob(table: &'static str, geometry: Geometry<'_>) -> Result<Vec<u8>, FileError> {
    let shape = wkb::shape(geometry).map_err(FileError::row(table))?;
    Ok([&HEADER[..], &shape].concat())
}

/// Returns the well-known binary of geometry in `GeoPackage`'s form. Other programs may have added an envelope.
pub(super) fn shape_of<'b>(table: &'static str, blob: &'b [u8]) -> Result<&'b [u8], FileError> {
    let envelope = blob.get(3).map(|flags| match flags >> 1 & 0b111 {
        0 => 0,
        1 => 32,
        2 | 3 => 48,
        _ => 64,
    });
    let shape = envelope.filter(|_| blob.starts_with(b"GP")).and_then(|size| blob.get(HEADER.len() + size..));
    shape.ok_or_else(|| FileError::Row { table, reason: "its geometry is not GeoPackage's".to_owned() })
}

/// Returns the place of a point in `GeoPackage`'s form.
pub(super) fn place(table: &'static str, blob: &[u8]) -> Result<Position, FileError> {
    wkb::place(shape_of(table, blob)?).map_err(FileError::row(table))
}

pub(super) async fn put_area(to: &mut SqliteConnection, area: &Area) -> Result<(), FileError> {
    let query = sqlx::query(PUT_AREA)
        .bind(area.id.number().cast_signed())
        .bind(&area.geom_id)
        .bind(&area.name)
        .bind(&area.parent_name)
        .bind(&area.city_name)
        .bind(&area.city_code)
        .bind(&area.region_code)
        .bind(area.attributes.as_ref().map(Attributes::as_json))
        .bind(blob("areas", Geometry::MultiPolygon(&area.outline))?);
    query.execute(to).await?;
    Ok(())
}

/// Removes an area and its log.
pub(in super::super) async fn remove_area(
    from: &mut SqliteConnection,
    area: AreaId,
) -> Result<(), FileError> {
    for statement in [REMOVE_STATES, REMOVE_AREA] {
        sqlx::query(statement).bind(area.number().cast_signed()).execute(&mut *from).await?;
    }
    Ok(())
}

pub(super) async fn put_region(to: &mut SqliteConnection, region: &Region) -> Result<(), FileError> {
    put_boundary(to, PUT_REGION, region).await
}

pub(super) async fn put_city(to: &mut SqliteConnection, city: &Region) -> Result<(), FileError> {
    put_boundary(to, PUT_CITY, city).await
}

async fn put_boundary(
    to: &mut SqliteConnection,
    statement: &'static str,
    region: &Region,
) -> Result<(), FileError> {
    let outline = blob("regions", Geometry::MultiPolygon(&region.outline))?;
    sqlx::query(statement).bind(&region.code).bind(&region.name).bind(outline).execute(to).await?;
    Ok(())
}

pub(super) async fn put_infrastructure(
    to: &mut SqliteConnection,
    of: &Infrastructure,
) -> Result<(), FileError> {
    let query = sqlx::query(PUT_INFRASTRUCTURE)
        .bind(of.kind.name())
        .bind(&of.name)
        .bind(of.tags.instance_region_code.as_deref())
        .bind(of.tags.local_area_id.map(|area| area.number().cast_signed()))
        .bind(blob("infrastructure", of.geometry())?);
    query.execute(to).await?;
    Ok(())
}

/// Removes all infrastructure.
pub(in super::super) async fn remove_infrastructure(from: &mut SqliteConnection) -> Result<(), FileError> {
    sqlx::query(REMOVE_INFRASTRUCTURE).execute(from).await?;
    Ok(())
}

/// All places, whose geometry is not decoded yet.
#[derive(Debug)]
pub(in super::super) struct PlaceRows {
    areas: Vec<AreaRow>,
    regions: Vec<RegionRow>,
    cities: Vec<RegionRow>,
    infrastructure: Vec<InfrastructureRow>,
}

impl PlaceRows {
    pub(in super::super) async fn read(from: &mut SqliteConnection) -> Result<Self, FileError> {
        Ok(Self {
            areas: sqlx::query_as::<Sqlite, _>(AREAS).fetch_all(&mut *from).await?,
            regions: sqlx::query_as::<Sqlite, _>(REGIONS).fetch_all(&mut *from).await?,
            cities: sqlx::query_as::<Sqlite, _>(CITIES).fetch_all(&mut *from).await?,
            infrastructure: sqlx::query_as::<Sqlite, _>(INFRASTRUCTURE).fetch_all(from).await?,
        })
    }

    /// Decodes the geometry and indexes it, which takes long.
    pub(in super::super) fn places(self) -> Result<Places, FileError> {
        let areas: Result<_, _> = self.areas.into_iter().map(area).collect();
        let areas = AreaSet::new(areas?).map_err(FileError::row("areas"))?;
        let regions = |table, rows: Vec<RegionRow>| {
            rows.into_iter().map(|row| region(table, row).map(Arc::new)).collect::<Result<_, FileError>>()
        };
        let (regions, cities) = (regions("regions", self.regions)?, regions("cities", self.cities)?);
        let infrastructure: Result<_, _> = self.infrastructure.into_iter().map(infrastructure).collect();
        Ok(Places::new(Arc::new(areas), regions, cities).with_infrastructure(infrastructure?))
    }
}

fn area(row: AreaRow) -> Result<Area, FileError> {
    let (id, geom_id, name, parent_name, city_name, city_code, region_code, attributes, geom) = row;
    Ok(Area {
        id: area_id("areas", id)?,
        geom_id,
        name,
        parent_name,
        city_name,
        city_code,
        region_code,
        // An empty object, which an editor may store, means the same as none.
        attributes: attributes.and_then(|json| json.try_into().ok()),
        outline: wkb::outline(shape_of("areas", &geom)?).map_err(FileError::row("areas"))?,
    })
}

fn region(table: &'static str, (code, name, geom): RegionRow) -> Result<Region, FileError> {
    let outline = wkb::outline(shape_of(table, &geom)?).map_err(FileError::row(table))?;
    Ok(Region { code, name, outline })
}

fn infrastructure(row: InfrastructureRow) -> Result<Infrastructure, FileError> {
    const TABLE: &str = "infrastructure";
    let (kind, name, region_code, area, geom) = row;
    let shape: Result<_, StoreError> = wkb::infrastructure_shape(shape_of(TABLE, &geom)?);
    Ok(Infrastructure {
        kind: kind.parse().map_err(FileError::row(TABLE))?,
        name,
        tags: Tags {
            instance_region_code: region_code.map(Box::from),
            local_area_id: area.map(|area| area_id(TABLE, area)).transpose()?,
            district_id: None,
            city: None,
        },
        shape: shape.map_err(FileError::row(TABLE))?,
    })
}

/// Returns the identifier of an area in a column of a table.
pub(super) fn area_id(table: &'static str, column: i64) -> Result<AreaId, FileError> {
    column.cast_unsigned().try_into().map_err(FileError::row(table))
}
