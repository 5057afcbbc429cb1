//! Imports what is on the map.

use super::import::{Import, ImportError, Written, column, counting, lines};
use crate::datasets::{FolderFile, FolderRow};
use crate::model::{Area, Attributes, Infrastructure, Places, Region};
use crate::stores::StoreError;
use crate::stores::wkb::{shape, surface};

const AREAS: &str = counting!(
    "
    INSERT INTO areas AS known
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
        outline = excluded.outline
    WHERE (known.geom_id, known.area_name, known.parent_name, known.city_name, known.city, known.instance_region_code,
           known.attributes::text, known.outline)
        IS DISTINCT FROM (excluded.geom_id, excluded.area_name, excluded.parent_name, excluded.city_name, excluded.city,
                          excluded.instance_region_code, excluded.attributes::text, excluded.outline)"
);

/// Provinces and cities have tables of the same columns.
macro_rules! insert_into {
    ($table:literal) => {
        counting!(concat!(
            "INSERT INTO ",
            $table,
            " AS known (code, name, outline)
             SELECT code, name, ST_GeomFromWKB(outline, 4326)
             FROM unnest($1::text[], $2::text[], $3::bytea[]) AS rows (code, name, outline)
             ON CONFLICT (code) DO UPDATE SET name = excluded.name, outline = excluded.outline
             WHERE (known.*) IS DISTINCT FROM (excluded.*)"
        ))
    };
}

const REGIONS: &str = insert_into!("regions");
const CITIES: &str = insert_into!("cities");

/// Infrastructure has no key. If a folder has the same piece n times, it is stored n times, and importing it again adds
/// none.
const INCOMING: &str = "
    CREATE TEMPORARY TABLE incoming_infrastructure (
        line bigint, kind text, name text, instance_region_code text, local_area_id bigint, shape geometry
    ) ON COMMIT DROP";

const INFRASTRUCTURE: &str = "
    INSERT INTO incoming_infrastructure
    SELECT line, kind, name, instance_region_code, local_area_id, ST_GeomFromWKB(shape, 4326)
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bytea[])
        AS rows (line, kind, name, instance_region_code, local_area_id, shape)";

const MERGE: &str = "
    WITH stored AS (
        SELECT kind, name, shape, count(*) AS times FROM infrastructure GROUP BY kind, name, shape
    ), numbered AS (
        SELECT *, row_number() OVER (PARTITION BY kind, name, shape ORDER BY line) AS time
        FROM incoming_infrastructure
    )
    INSERT INTO infrastructure (kind, name, instance_region_code, local_area_id, shape)
    SELECT kind, name, instance_region_code, local_area_id, shape
    FROM numbered LEFT JOIN stored USING (kind, name, shape)
    WHERE time > coalesce(times, 0)
    ORDER BY line";

/// Imports the areas, and returns their identifiers.
pub(super) fn areas(import: &mut Import<'_>) -> Result<Vec<i64>, ImportError> {
    let folder = import.folder;
    let mut areas = Vec::new();
    import.fill(
        FolderFile::Areas,
        |each| folder.areas(each),
        |import, rows: Vec<FolderRow<Area>>| {
            let outlines: Result<Vec<_>, StoreError> =
                rows.iter().map(|row| surface(&row.value.outline)).collect();
            let ids = column(&rows, |area| area.id.number().cast_signed());
            areas.extend_from_slice(&ids);
            import.write(
                sqlx::query(AREAS)
                    .bind(ids)
                    .bind(column(&rows, |area| area.geom_id.as_str()))
                    .bind(column(&rows, |area| area.name.as_str()))
                    .bind(column(&rows, |area| area.parent_name.as_str()))
                    .bind(column(&rows, |area| area.city_name.as_str()))
                    .bind(column(&rows, |area| area.city_code.as_str()))
                    .bind(column(&rows, |area| area.region_code.as_str()))
                    .bind(column(&rows, |area| area.attributes.as_ref().map(Attributes::as_json)))
                    .bind(outlines?),
            )
        },
    )?;
    Ok(areas)
}

pub(super) fn regions(import: &mut Import<'_>) -> Result<(), ImportError> {
    let folder = import.folder;
    let write = |import: &mut Import<'_>, rows| write_regions(import, REGIONS, rows);
    import.fill(FolderFile::Regions, |each| folder.regions(each), write)?;
    Ok(())
}

/// Imports the cities, and returns whether that changed any of them.
pub(super) fn cities(import: &mut Import<'_>) -> Result<bool, ImportError> {
    let (folder, mut changed) = (import.folder, false);
    import.fill(
        FolderFile::Cities,
        |each| folder.cities(each),
        |import, rows| {
            let written = write_regions(import, CITIES, rows)?;
            changed |= written.added + written.replaced > 0;
            Ok(written)
        },
    )?;
    Ok(changed)
}

fn write_regions(
    import: &mut Import<'_>,
    statement: &'static str,
    rows: Vec<FolderRow<Region>>,
) -> Result<Written, ImportError> {
    let outlines: Result<Vec<_>, StoreError> = rows.iter().map(|row| surface(&row.value.outline)).collect();
    import.write(
        sqlx::query(statement)
            .bind(column(&rows, |region| region.code.as_str()))
            .bind(column(&rows, |region| region.name.as_str()))
            .bind(outlines?),
    )
}

pub(super) fn infrastructure(import: &mut Import<'_>, places: &Places) -> Result<(), ImportError> {
    let folder = import.folder;
    import.execute(sqlx::query(INCOMING))?;
    import.fill(
        FolderFile::Infrastructure,
        |each| folder.infrastructure(places.locator(), each),
        |import, rows: Vec<FolderRow<Infrastructure>>| {
            let shapes: Result<Vec<_>, StoreError> =
                rows.iter().map(|row| shape(row.value.geometry())).collect();
            import.execute(
                sqlx::query(INFRASTRUCTURE)
                    .bind(lines(&rows))
                    .bind(column(&rows, |of| of.kind.name()))
                    .bind(column(&rows, |of| of.name.as_str()))
                    .bind(column(&rows, |of| of.tags.instance_region_code.as_deref()))
                    .bind(column(&rows, |of| of.tags.local_area_id.map(|area| area.number().cast_signed())))
                    .bind(shapes?),
            )?;
            Ok(Written::default())
        },
    )?;
    let added = import.add(sqlx::query(MERGE))?;
    if import.folder.has(FolderFile::Infrastructure) {
        import.count(FolderFile::Infrastructure, added);
    }
    Ok(())
}
