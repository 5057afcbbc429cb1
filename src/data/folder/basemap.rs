use geo::LineString;
use geojson::GeometryValue;

use super::feature::Feature;
use super::geometry::{close_rings, line, place};
use super::{Folder, FolderFile, FolderRow, geojson_file};
use crate::data::folder::DatasetError;
use crate::model::{BasemapFeature, BasemapKind, BasemapShape, BasemapShapeType};

/// The maximum number of positions. Limits a server's memory: a position takes about 120 bytes if roads are short.
const MAX_POSITIONS: usize = 5_000_000;

impl Folder {
    /// Reads the base map. More than `MAX_POSITIONS` positions are a fault.
    pub(crate) fn basemap<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<BasemapFeature>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut positions = 0;
        let make = |feature: &Feature<'_>| {
            let basemap_feature = basemap_feature(feature)?;
            positions += count(&basemap_feature.shape);
            if positions > MAX_POSITIONS {
                return Err(format!(
                    "the base map has more than {MAX_POSITIONS} positions: cut it to your city, or leave out kind street"
                ));
            }
            Ok(basemap_feature)
        };
        geojson_file::read(self, FolderFile::Basemap, make, each)
    }
}

fn basemap_feature(feature: &Feature<'_>) -> Result<BasemapFeature, String> {
    let kind: BasemapKind = feature.required("kind")?.parse()?;
    let geometry = feature.geometry()?;
    let shape = match kind.shape_type() {
        BasemapShapeType::Points => BasemapShape::Point(place(geometry)?),
        // Ignores faults of the rings, because the map only draws the area.
        BasemapShapeType::Areas => BasemapShape::Areas(close_rings(geometry)?.0),
        BasemapShapeType::Lines => BasemapShape::Lines(lines(geometry, kind)?),
    };
    Ok(BasemapFeature { kind, name: feature.text("name")?, shape })
}

fn lines(geometry: &GeometryValue, kind: BasemapKind) -> Result<Vec<LineString<f64>>, String> {
    match geometry {
        GeometryValue::LineString { coordinates } => Ok(vec![line(coordinates)?]),
        GeometryValue::MultiLineString { coordinates } => coordinates.iter().map(|part| line(part)).collect(),
        other => {
            let (kind, found) = (kind.name(), other.type_name());
            Err(format!("geometry of kind {kind} must be a LineString or MultiLineString, not a {found}"))
        }
    }
}

fn count(shape: &BasemapShape) -> usize {
    match shape {
        BasemapShape::Lines(lines) => lines.iter().map(|line| line.0.len()).sum(),
        BasemapShape::Areas(areas) => {
            let rings = areas.iter().flat_map(|area| [area.exterior()].into_iter().chain(area.interiors()));
            rings.map(|ring| ring.0.len()).sum()
        }
        BasemapShape::Point(_) => 1,
    }
}
