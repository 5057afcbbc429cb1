//! `FlatGeobuf`, the binary format that desktop programs such as QGIS open as a layer.

use std::error::Error;
use std::time::Duration;

use flatgeobuf::{ColumnType, FgbCrs, FgbWriter, FgbWriterOptions, GeometryType};
use geozero::geo_types::process_geom;
use geozero::{ColumnValue, FeatureProcessor, PropertyProcessor};
use siaga::formats::{Container, EncodeContext, EncodeError, Format};
use siaga::model::{FloodLayer, Layer, LayerKind};

/// The columns, in the order in which [`write`] writes their values.
const COLUMNS: [(&str, ColumnType); 7] = [
    ("area_id", ColumnType::String),
    ("geom_id", ColumnType::String),
    ("area_name", ColumnType::String),
    ("parent_name", ColumnType::String),
    ("city_name", ColumnType::String),
    ("state", ColumnType::UByte),
    ("last_updated", ColumnType::DateTime),
];

/// Writes the flood map as one file of multipolygons in WGS 84, in the order of the layer and without an index.
///
/// The interface documents the properties; an area without a state has neither `state` nor `last_updated`. Costs O(positions) and
/// a temporary file, in which the writer buffers the features until it knows their number.
#[derive(Clone, Copy, Debug)]
pub struct FlatGeobuf;

impl Format for FlatGeobuf {
    fn name(&self) -> &'static str {
        "flatgeobuf"
    }

    fn container(&self) -> Container {
        Container("fgb")
    }

    fn media_type(&self) -> &'static str {
        "application/flatgeobuf"
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Floods
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, _: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let written = match layer {
            Layer::Floods(floods) => write(floods, out),
            _ => Err("it writes floods alone".into()),
        };
        written.map_err(|source| EncodeError::new(self.name(), source))
    }
}

fn write(floods: &FloodLayer, out: &mut Vec<u8>) -> Result<(), Box<dyn Error + Send + Sync>> {
    let options = FgbWriterOptions {
        write_index: false,
        crs: FgbCrs { code: 4326, ..FgbCrs::default() },
        ..FgbWriterOptions::default()
    };
    let mut file = FgbWriter::create_with_options("floods", GeometryType::MultiPolygon, options)?;
    for (name, kind) in COLUMNS {
        file.add_column(name, kind, |_, _| {});
    }
    for (index, flood) in floods.features().enumerate() {
        let (area, current) = (flood.area, flood.current);
        let id = area.id.to_string();
        let since = current.map(|current| current.last_updated.to_string());
        let values = [
            Some(ColumnValue::String(&id)),
            Some(ColumnValue::String(&area.geom_id)),
            Some(ColumnValue::String(&area.name)),
            Some(ColumnValue::String(&area.parent_name)),
            Some(ColumnValue::String(&area.city_name)),
            current.map(|current| ColumnValue::UByte(current.state.code())),
            since.as_deref().map(ColumnValue::DateTime),
        ];
        process_geom(&area.outline.clone().into(), &mut file)?;
        for (column, ((name, _), value)) in COLUMNS.iter().zip(&values).enumerate() {
            if let Some(value) = value {
                file.property(column, name, value)?;
            }
        }
        file.feature_end(index as u64)?;
    }
    Ok(file.write(out)?)
}
