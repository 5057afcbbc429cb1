use geo::LineString;
use geojson::GeometryValue;

use super::feature::Feature;
use super::geometry::{closed, line, place};
use super::{Folder, FolderFile, FolderRow, geojson_file};
use crate::data::folder::DatasetError;
use crate::model::{BasemapFeature, BasemapKind, BasemapShape, BasemapShapeType};

/// How many positions a base map has at most. In short roads, each takes about 120 bytes of a server's memory.
const MOST_POSITIONS: usize = 5_000_000;

impl Folder {
    /// Reads the parts of the base map.
    ///
    /// # Errors
    ///
    /// As [`Self::areas`]; also if the file has too many positions.
    pub(crate) fn basemap<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<BasemapFeature>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut positions = 0;
        let make = |feature: &Feature<'_>| {
            let part = part(feature)?;
            positions += count(&part.shape);
            if positions > MOST_POSITIONS {
                return Err(format!(
                    "the base map has more than {MOST_POSITIONS} positions: cut it to your city, or leave out kind street"
                ));
            }
            Ok(part)
        };
        geojson_file::read(self, FolderFile::Basemap, make, each)
    }
}

fn part(feature: &Feature<'_>) -> Result<BasemapFeature, String> {
    let kind: BasemapKind = feature.required("kind")?.parse()?;
    let geometry = feature.geometry()?;
    let shape = match kind.form() {
        BasemapShapeType::Points => BasemapShape::Point(place(geometry)?),
        // It is only drawn, so a part of it may be wrong.
        BasemapShapeType::Areas => BasemapShape::Areas(closed(geometry)?.0),
        BasemapShapeType::Lines => BasemapShape::Lines(lines(geometry, kind)?),
    };
    Ok(BasemapFeature { kind, name: feature.text("name")?, shape })
}

fn lines(geometry: &GeometryValue, kind: BasemapKind) -> Result<Vec<LineString<f64>>, String> {
    match geometry {
        GeometryValue::LineString { coordinates } => Ok(vec![line(coordinates)?]),
        GeometryValue::MultiLineString { coordinates } => coordinates.iter().map(|of| line(of)).collect(),
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
