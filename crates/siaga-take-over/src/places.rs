//! Provinces, areas and infrastructure.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use siaga::folder::{FolderFile, GeoJsonWriter, outline, repair_outline, shapes};
use siaga::model::bodies::{Object, check_storable};
use siaga::model::{Area, AreaId, Attributes, Infrastructure, InfrastructureKind, Region};

use super::copied::What;
use super::copy::Options;
use super::source::{CopyError, Refused, Source, Table, TableRow};
use super::values::{digits, number, object, required, text};

const REGIONS: Table = Table {
    name: "cognicity.instance_regions",
    sql: "SELECT row_to_json(t)::text, ST_AsBinary(ST_Force2D(the_geom), 'NDR'), 'pkey ' || pkey
          FROM cognicity.instance_regions t ORDER BY pkey",
};

const AREAS: Table = Table {
    name: "cognicity.local_areas",
    sql: "SELECT row_to_json(t)::text, ST_AsBinary(ST_Force2D(the_geom), 'NDR'), 'pkey ' || pkey
          FROM cognicity.local_areas t ORDER BY pkey",
};

const INFRASTRUCTURE: [(InfrastructureKind, Table); 3] = [
    (
        InfrastructureKind::Floodgates,
        Table {
            name: "infrastructure.floodgates",
            sql: "SELECT row_to_json(t)::text, ST_AsBinary(ST_Force2D(the_geom), 'NDR'), 'pkey ' || pkey
              FROM infrastructure.floodgates t ORDER BY pkey",
        },
    ),
    (
        InfrastructureKind::Pumps,
        Table {
            name: "infrastructure.pumps",
            sql: "SELECT row_to_json(t)::text, ST_AsBinary(ST_Force2D(the_geom), 'NDR'), 'pkey ' || pkey
              FROM infrastructure.pumps t ORDER BY pkey",
        },
    ),
    (
        InfrastructureKind::Waterways,
        Table {
            name: "infrastructure.waterways",
            sql: "SELECT row_to_json(t)::text, ST_AsBinary(ST_Force2D(the_geom), 'NDR'), 'pkey ' || pkey
              FROM infrastructure.waterways t ORDER BY pkey",
        },
    ),
];

#[derive(Deserialize)]
struct RegionRow {
    code: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct AreaRow {
    pkey: i64,
    #[serde(default)]
    geom_id: Value,
    area_name: Option<String>,
    parent_name: Option<String>,
    city_name: Option<String>,
    instance_region_code: Option<String>,
    attributes: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct InfrastructureRow {
    name: Option<String>,
    tags: Option<Value>,
}

/// Copies the provinces and the cities. The form of its code shows whether a row is a province or a city.
pub(super) async fn regions(
    source: &mut Source,
    regions: &mut GeoJsonWriter<Region>,
    cities: &mut GeoJsonWriter<Region>,
    options: &Options<'_>,
) -> Result<(), CopyError> {
    let mut codes = HashSet::new();
    let copy_row = |columns: RegionRow, row: &mut TableRow<'_>| {
        let code = required("code", columns.code.as_deref())?;
        let name = text("name", columns.name.as_deref())?;
        let name = if name.is_empty() { code.clone() } else { name };
        let outline = surface(row, options.repair)?;
        if !codes.insert(code.clone()) {
            return Err("code is that of a row before".into());
        }
        let (writer, file) = if is_province(&code) {
            (&mut *regions, FolderFile::Regions)
        } else {
            (&mut *cities, FolderFile::Cities)
        };
        writer.write(&Region { code, name, outline })?;
        row.copied.count_row(file);
        Ok(())
    };
    source.each(REGIONS, copy_row).await
}

pub(super) async fn areas(
    source: &mut Source,
    areas: &mut GeoJsonWriter<Area>,
    options: &Options<'_>,
) -> Result<HashSet<AreaId>, CopyError> {
    let mut ids = HashSet::new();
    let copy_row = |json: Box<RawValue>, row: &mut TableRow<'_>| {
        let columns: AreaRow = read(&json)?;
        let id = AreaId::try_from(number("pkey", columns.pkey)?).map_err(|error| format!("pkey {error}"))?;
        let geom_id = match columns.geom_id {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => digits(&other),
        };
        let code = text("instance_region_code", columns.instance_region_code.as_deref())?;
        let (region_code, city_code) =
            if is_province(&code) { (code, String::new()) } else { (String::new(), code) };
        if ids.contains(&id) {
            return Err("pkey is that of a row before".into());
        }
        let area = Area {
            id,
            geom_id: text("geom_id", Some(&geom_id))?,
            name: text("area_name", columns.area_name.as_deref())?,
            parent_name: text("parent_name", columns.parent_name.as_deref())?,
            city_name: text("city_name", columns.city_name.as_deref())?,
            city_code,
            region_code,
            outline: surface(row, options.repair)?,
            attributes: row.value("attributes", attributes(columns.attributes, &read(&json)?)),
        };
        areas.write(&area)?;
        ids.insert(id);
        row.copied.count_row(FolderFile::Areas);
        Ok(())
    };
    source.each(AREAS, copy_row).await?;
    Ok(ids)
}

pub(super) async fn infrastructure(
    source: &mut Source,
    infrastructure: &mut GeoJsonWriter<Infrastructure>,
) -> Result<(), CopyError> {
    for (kind, table) in INFRASTRUCTURE {
        let copy_row = |columns: InfrastructureRow, row: &mut TableRow<'_>| {
            let name = text("name", columns.name.as_deref())?;
            let tags = row.tags(columns.tags.as_ref());
            for shape in shapes(&row.shape.geometry()?)? {
                infrastructure.write(&Infrastructure {
                    id: String::new(),
                    kind,
                    name: name.clone(),
                    tags: tags.clone(),
                    shape,
                })?;
                row.copied.count_row(FolderFile::Infrastructure);
            }
            Ok(())
        };
        source.each(table, copy_row).await?;
    }
    Ok(())
}

/// Whether a code is a province code (ISO 3166-2), such as `ID-JK`. City codes look like `jbd`.
fn is_province(code: &str) -> bool {
    let Some((country, province)) = code.split_once('-') else { return false };
    let is_short = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    is_short(country, 2..=2) && is_short(province, 1..=3)
}

fn surface(row: &mut TableRow<'_>, repair: bool) -> Result<geo::MultiPolygon<f64>, Refused> {
    let geometry = row.shape.geometry()?;
    if !repair {
        return Ok(outline(&geometry)?);
    }
    let (outline, fault) = repair_outline(&geometry)?;
    if fault.is_some() {
        row.note(What::Repaired, "which was not valid");
    }
    Ok(outline)
}

/// The columns for which an area has its own field.
const KNOWN: [&str; 8] = [
    "pkey",
    "geom_id",
    "area_name",
    "parent_name",
    "city_name",
    "instance_region_code",
    "attributes",
    "the_geom",
];

/// Returns the members of the column `attributes`, then the columns that only this installation has; `None` without any of them.
fn attributes(
    json: Option<Box<RawValue>>,
    columns: &BTreeMap<String, &RawValue>,
) -> Result<Option<Attributes>, String> {
    let json = object("attributes", json)?;
    let members: Object = json.as_deref().map(read).transpose()?.unwrap_or_default();
    let own = json.as_deref().and_then(|json| json.get().strip_prefix('{')?.strip_suffix('}'));
    let own = own.filter(|own| !own.trim().is_empty()).map(str::to_owned);
    let is_further = |name: &str| !KNOWN.contains(&name) && !members.contains_key(name);
    let further = columns.iter().map(|(name, value)| (name.as_str(), value.get()));
    let further = further.filter(|(name, value)| is_further(name) && *value != "null");
    let further = further.map(|(name, value)| format!("{}:{value}", Value::from(name)));
    let all: Vec<String> = own.into_iter().chain(further).collect();
    let Ok(all) = Attributes::try_from(format!("{{{}}}", all.join(","))) else { return Ok(None) };
    let object = serde_json::from_str(all.as_json()).map_err(|error| error.to_string())?;
    check_storable(&object).map_err(|unkeepable| unkeepable.to_string())?;
    all.check_district().map_err(|wrong| wrong.to_string())?;
    Ok(Some(all))
}

fn read<'a, T: Deserialize<'a>>(json: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(json.get()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::is_province;

    #[test]
    fn codes_of_provinces_are_told_from_those_of_cities() {
        for province in ["ID-JK", "PH-00", "US-FL", "JP-13"] {
            assert!(is_province(province), "{province}");
        }
        for city in ["jbd", "bdg", "srg", "id-jk", "ID-", "ID", "chn-1", ""] {
            assert!(!is_province(city), "{city}");
        }
    }
}
