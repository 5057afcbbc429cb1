use std::collections::HashSet;
use std::sync::Arc;

use super::super::places::{self, AREAS_OF, CITIES_OF, REGIONS_OF};
use super::super::values::area_id;
use super::transaction::{LOCK_STATES, Transaction, column};
use crate::data::folder::FolderFile;
use crate::model::{Area, AreaId, Attributes, Infrastructure, Places, Region};
use crate::stores::import::{ExtraArea, PlaceTarget, RecordStore, RowVisitor, Target};
use crate::stores::wkb::{shape, surface};
use crate::stores::{OpenError, StoreError};

const PUT_AREAS: &str = "
    INSERT INTO areas
        (area_id, geom_id, area_name, parent_name, city_name, city, instance_region_code, attributes, outline)
    SELECT area_id, geom_id, area_name, parent_name, city_name, city, instance_region_code, attributes::json,
           ST_GeomFromWKB(outline, 4326)
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                $9::bytea[])
        AS rows (area_id, geom_id, area_name, parent_name, city_name, city, instance_region_code, attributes, outline)
    ON CONFLICT (area_id) DO UPDATE SET
        geom_id = excluded.geom_id, area_name = excluded.area_name, parent_name = excluded.parent_name,
        city_name = excluded.city_name, city = excluded.city,
        instance_region_code = excluded.instance_region_code, attributes = excluded.attributes,
        outline = excluded.outline";

/// Provinces and cities have tables of the same columns.
macro_rules! put_into {
    ($table:literal) => {
        concat!(
            "INSERT INTO ",
            $table,
            " (code, name, outline)
             SELECT code, name, ST_GeomFromWKB(outline, 4326)
             FROM unnest($1::text[], $2::text[], $3::bytea[]) AS rows (code, name, outline)
             ON CONFLICT (code) DO UPDATE SET name = excluded.name, outline = excluded.outline"
        )
    };
}

const PUT_REGIONS: &str = put_into!("regions");
const PUT_CITIES: &str = put_into!("cities");

const ANY_OTHERS: &str = "SELECT area_id FROM areas WHERE area_id <> ALL ($1) LIMIT 1";
const OTHERS: &str = "
    SELECT area_id, area_name, parent_name,
           (SELECT count(*) FROM flood_changes WHERE flood_changes.area_id = areas.area_id)
    FROM areas WHERE area_id <> ALL ($1) ORDER BY area_id";
const REMOVE: [&str; 3] = [
    "DELETE FROM flood_states WHERE area_id = ANY ($1)",
    "DELETE FROM flood_changes WHERE area_id = ANY ($1)",
    "DELETE FROM areas WHERE area_id = ANY ($1)",
];

const REMOVE_INFRASTRUCTURE: &str = "DELETE FROM infrastructure";
const ADD_INFRASTRUCTURE: &str = "
    INSERT INTO infrastructure (identifier, kind, name, instance_region_code, local_area_id, shape)
    SELECT identifier, kind, name, instance_region_code, local_area_id, ST_GeomFromWKB(shape, 4326)
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bytea[])
        AS rows (identifier, kind, name, instance_region_code, local_area_id, shape)";

impl RecordStore<Area> for Transaction {
    fn find(&mut self, _: FolderFile, ids: &[AreaId], each: RowVisitor<'_, Area>) -> Result<(), OpenError> {
        self.each(sqlx::query_as(AREAS_OF).bind(numbers(ids)), places::area, each)
    }

    fn put(&mut self, _: FolderFile, rows: Vec<Area>) -> Result<(), OpenError> {
        let outlines: Result<Vec<_>, StoreError> = rows.iter().map(|area| surface(&area.outline)).collect();
        self.execute(
            sqlx::query(PUT_AREAS)
                .bind(column(&rows, |area| area.id.number().cast_signed()))
                .bind(column(&rows, |area| area.geom_id.as_str()))
                .bind(column(&rows, |area| area.name.as_str()))
                .bind(column(&rows, |area| area.parent_name.as_str()))
                .bind(column(&rows, |area| area.city_name.as_str()))
                .bind(column(&rows, |area| area.city_code.as_str()))
                .bind(column(&rows, |area| area.region_code.as_str()))
                .bind(column(&rows, |area| area.attributes.as_ref().map(Attributes::as_json)))
                .bind(outlines?),
        )
    }
}

impl RecordStore<Region> for Transaction {
    fn find(
        &mut self,
        file: FolderFile,
        codes: &[String],
        each: RowVisitor<'_, Region>,
    ) -> Result<(), OpenError> {
        let statement = if file == FolderFile::Cities { CITIES_OF } else { REGIONS_OF };
        self.each(sqlx::query_as(statement).bind(codes), places::region, each)
    }

    fn put(&mut self, file: FolderFile, rows: Vec<Region>) -> Result<(), OpenError> {
        let statement = if file == FolderFile::Cities { PUT_CITIES } else { PUT_REGIONS };
        let outlines: Result<Vec<_>, StoreError> = rows.iter().map(|row| surface(&row.outline)).collect();
        self.execute(
            sqlx::query(statement)
                .bind(column(&rows, |region| region.code.as_str()))
                .bind(column(&rows, |region| region.name.as_str()))
                .bind(outlines?),
        )
    }
}

impl PlaceTarget for Transaction {
    fn extra_areas(&mut self, areas: &HashSet<AreaId>) -> Result<Vec<ExtraArea>, OpenError> {
        let areas: Vec<i64> = areas.iter().map(|area| area.number().cast_signed()).collect();
        let any: Vec<(i64,)> = self.rows(sqlx::query_as(ANY_OTHERS).bind(&areas))?;
        if any.is_empty() {
            return Ok(Vec::new());
        }
        // A session that waits for this finds the area removed, or still there.
        self.lock(LOCK_STATES)?;
        let others: Vec<(i64, String, String, i64)> = self.rows(sqlx::query_as(OTHERS).bind(&areas))?;
        let other = |(id, name, parent_name, entries): (_, _, _, i64)| {
            Ok(ExtraArea { id: area_id(id)?, name, parent_name, entries: entries.cast_unsigned() })
        };
        others.into_iter().map(other).collect()
    }

    fn remove_areas(&mut self, areas: &[AreaId]) -> Result<(), OpenError> {
        let ids = numbers(areas);
        REMOVE.into_iter().try_for_each(|statement| self.execute(sqlx::query(statement).bind(&ids)))
    }

    fn places(&mut self) -> Result<Arc<Places>, OpenError> {
        self.read(places::read)
    }

    fn put_infrastructure(&mut self, all: Vec<Infrastructure>) -> Result<(), OpenError> {
        self.execute(sqlx::query(REMOVE_INFRASTRUCTURE))?;
        for rows in all.chunks(Self::BATCH) {
            let shapes: Result<Vec<_>, StoreError> = rows.iter().map(|of| shape(of.geometry())).collect();
            self.execute(
                sqlx::query(ADD_INFRASTRUCTURE)
                    .bind(column(rows, |of| of.id.as_str()))
                    .bind(column(rows, |of| of.kind.name()))
                    .bind(column(rows, |of| of.name.as_str()))
                    .bind(column(rows, |of| of.tags.instance_region_code.as_deref()))
                    .bind(column(rows, |of| of.tags.local_area_id.map(|area| area.number().cast_signed())))
                    .bind(shapes?),
            )?;
        }
        Ok(())
    }
}

fn numbers(areas: &[AreaId]) -> Vec<i64> {
    column(areas, |area| area.number().cast_signed())
}
