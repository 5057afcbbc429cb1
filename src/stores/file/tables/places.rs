use std::sync::Arc;

use sqlx::SqliteConnection;

use super::super::error::FileError;
use super::column::Column;
use super::table::{Table, table};
use crate::model::{Area, AreaId, AreaSet, Infrastructure, Places, Region, Tags};
use crate::runtime::off_thread;

pub(super) const AREAS: Table<Area> = table!(
    "areas",
    replace,
    "ORDER BY area_id",
    Area {
        id: area_id,
        geom_id,
        name: area_name,
        parent_name,
        city_name,
        city_code: city,
        region_code: instance_region_code,
        attributes,
        outline: geom,
    }
);

/// Provinces. Like cities, they are written by `update`, which keeps row numbers: other programs use these numbers.
pub(super) const REGIONS: Table<Region> =
    table!("regions", update code, "ORDER BY code", Region { code, name, outline: geom });

pub(super) const CITIES: Table<Region> =
    table!("cities", update code, "ORDER BY code", Region { code, name, outline: geom });

pub(super) const INFRASTRUCTURE: Table<Infrastructure> = table!(
    "infrastructure",
    add,
    "ORDER BY fid",
    Infrastructure {
        id: identifier,
        kind: r#type,
        name,
        tags: Tags { instance_region_code, local_area_id, district_id: (no_district), city: (no_city) },
        shape: geom,
    }
);

const REMOVE_AREA: [&str; 2] =
    ["DELETE FROM flood_states WHERE area_id = ?", "DELETE FROM areas WHERE area_id = ?"];
const REMOVE_INFRASTRUCTURE: &str = "DELETE FROM infrastructure";

pub(in super::super) async fn remove_area(
    from: &mut SqliteConnection,
    area: AreaId,
) -> Result<(), FileError> {
    for statement in REMOVE_AREA {
        sqlx::query(statement).bind(area.number().cast_signed()).execute(&mut *from).await?;
    }
    Ok(())
}

pub(in super::super) async fn remove_infrastructure(from: &mut SqliteConnection) -> Result<(), FileError> {
    sqlx::query(REMOVE_INFRASTRUCTURE).execute(from).await?;
    Ok(())
}

pub(in super::super) async fn places(from: &mut SqliteConnection) -> Result<Places, FileError> {
    let areas = AREAS.all(&mut *from).await?;
    let regions = REGIONS.all(&mut *from).await?.into_iter().map(Arc::new).collect();
    let cities = CITIES.all(&mut *from).await?.into_iter().map(Arc::new).collect();
    let infrastructure = INFRASTRUCTURE.all(from).await?;
    let indexing = off_thread(move |_| {
        let areas = AreaSet::new(areas).map_err(FileError::row("areas"))?;
        Ok(Places::new(Arc::new(areas), regions, cities).with_infrastructure(infrastructure))
    });
    indexing.await.map_err(FileError::panicked)?
}
