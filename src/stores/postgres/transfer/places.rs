use std::collections::HashSet;
use std::sync::Arc;

use super::super::places::{self, AREAS_OF, CITIES_OF, REGIONS_OF};
use super::transaction::{LOCK_STATES, Transaction, column};
use crate::data::folder::FolderFile;
use crate::model::{Area, AreaId, Infrastructure, Places, Region};
use crate::stores::OpenError;
use crate::stores::import::{ExtraArea, PlaceTarget, RecordStore, RowVisitor, Target};

const ANY_OTHERS: &str = "SELECT area_id FROM areas WHERE area_id <> ALL ($1) LIMIT 1";
const OTHERS: &str = "
    SELECT area_id, area_name, parent_name,
           (SELECT count(*) FROM flood_changes WHERE flood_changes.area_id = areas.area_id) AS entries
    FROM areas WHERE area_id <> ALL ($1) ORDER BY area_id";
const REMOVE: [&str; 3] = [
    "DELETE FROM flood_states WHERE area_id = ANY ($1)",
    "DELETE FROM flood_changes WHERE area_id = ANY ($1)",
    "DELETE FROM areas WHERE area_id = ANY ($1)",
];

const REMOVE_INFRASTRUCTURE: &str = "DELETE FROM infrastructure";
impl RecordStore<Area> for Transaction {
    fn find(&mut self, _: FolderFile, ids: &[AreaId], each: RowVisitor<'_, Area>) -> Result<(), OpenError> {
        self.for_each_row(sqlx::query_as(AREAS_OF).bind(numbers(ids)), each)
    }

    fn put(&mut self, _: FolderFile, rows: Vec<Area>) -> Result<(), OpenError> {
        self.upsert("areas", "area_id", &rows)
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
        self.for_each_row(sqlx::query_as(statement).bind(codes), each)
    }

    fn put(&mut self, file: FolderFile, rows: Vec<Region>) -> Result<(), OpenError> {
        self.upsert(if file == FolderFile::Cities { "cities" } else { "regions" }, "code", &rows)
    }
}

impl PlaceTarget for Transaction {
    fn extra_areas(&mut self, areas: &HashSet<AreaId>) -> Result<Vec<ExtraArea>, OpenError> {
        let areas: Vec<i64> = areas.iter().map(|area| area.number().cast_signed()).collect();
        let any: Vec<(i64,)> = self.rows(sqlx::query_as(ANY_OTHERS).bind(&areas))?;
        if any.is_empty() {
            return Ok(Vec::new());
        }
        // Until the import ends, no other session can set a state. A session that waited then finds each extra area either
        // removed or unchanged.
        self.lock(LOCK_STATES)?;
        self.rows(sqlx::query_as(OTHERS).bind(&areas))
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
        all.chunks(Self::BATCH).try_for_each(|rows| self.insert("infrastructure", rows, ""))
    }
}

fn numbers(areas: &[AreaId]) -> Vec<i64> {
    column(areas, |area| area.number().cast_signed())
}
