use std::io;

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::json;

use super::{Collection, Column, FeatureRow, FieldValue, TableSchema};
use crate::model::{CancelFlag, Geometry, Layer, geojson};

/// The media type of pages and single features (RFC 7946 §12).
pub(crate) const GEOJSON: &str = "application/geo+json";

#[derive(Clone, Debug)]
pub(crate) struct Items {
    pub(crate) collection: Collection,
    pub(crate) layer: Layer,
    pub(crate) selected: Vec<usize>,
    pub(crate) matched: Option<usize>,
    pub(crate) next: Option<String>,
    /// The rest of the offset: the number of features that the next page must skip.
    pub(crate) left_out: usize,
}

impl Items {
    pub(crate) fn one(collection: Collection, layer: Layer, index: usize) -> Self {
        Self { collection, layer, selected: vec![index], matched: None, next: None, left_out: 0 }
    }

    pub(crate) fn rows<'a>(&'a self, tables: &'a TableSchema) -> impl Iterator<Item = FeatureRow<'a>> {
        self.selected.iter().filter_map(|index| tables.row(&self.layer, *index))
    }

    /// Writes a page (OGC API – Features 1.0 §7.16). Fails if no request waits for the page any more.
    pub(crate) fn write_page(
        &self,
        tables: &TableSchema,
        links: &[Link],
        stop: &CancelFlag,
    ) -> io::Result<Vec<u8>> {
        let mut out = br#"{"type":"FeatureCollection","features":["#.to_vec();
        let columns = tables.columns(self.collection);
        for (index, row) in self.rows(tables).enumerate() {
            stop.check().map_err(io::Error::other)?;
            if index > 0 {
                out.push(b',');
            }
            begin_row(&row, columns, &mut out)?;
            out.push(b'}');
        }
        out.extend_from_slice(br#"],"links":"#);
        serde_json::to_writer(&mut out, links)?;
        if let Some(matched) = self.matched {
            out.extend_from_slice(format!(r#","numberMatched":{matched}"#).as_bytes());
        }
        out.extend_from_slice(format!(r#","numberReturned":{}}}"#, self.selected.len()).as_bytes());
        Ok(out)
    }

    /// Writes only the first feature (OGC API – Features 1.0 §7.17).
    pub(crate) fn write_first(&self, tables: &TableSchema, links: &[Link]) -> io::Result<Vec<u8>> {
        let row = self.rows(tables).next().ok_or_else(|| io::Error::other("there is no feature"))?;
        let mut out = Vec::new();
        begin_row(&row, tables.columns(self.collection), &mut out)?;
        out.extend_from_slice(br#","links":"#);
        serde_json::to_writer(&mut out, links)?;
        out.push(b'}');
        Ok(out)
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Link {
    pub(crate) href: String,
    pub(crate) rel: &'static str,
    #[serde(rename = "type")]
    pub(crate) media_type: &'static str,
    pub(crate) title: String,
}

fn begin_row(row: &FeatureRow<'_>, columns: &[Column], out: &mut Vec<u8>) -> io::Result<()> {
    let FeatureRow { id, geometry, cells } = row;
    begin_feature(id, *geometry, columns, cells, out)
}

/// Writes a feature with its properties, without the closing brace.
pub(crate) fn begin_feature(
    id: impl Serialize,
    geometry: Geometry<'_>,
    columns: &[Column],
    cells: &[FieldValue<'_>],
    out: &mut Vec<u8>,
) -> io::Result<()> {
    out.extend_from_slice(br#"{"type":"Feature","id":"#);
    serde_json::to_writer(&mut *out, &id)?;
    out.extend_from_slice(br#","geometry":"#);
    geojson::geometry(geometry, out);
    out.extend_from_slice(br#","properties":"#);
    serde_json::to_writer(&mut *out, &Properties(columns, cells))?;
    Ok(())
}

struct Properties<'a>(&'a [Column], &'a [FieldValue<'a>]);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(columns, cells) = self;
        serializer.collect_map(columns.iter().map(|column| &column.name).zip(*cells))
    }
}

impl TableSchema {
    pub(crate) fn schema(&self, collection: Collection) -> serde_json::Value {
        let properties = self.columns(collection).iter().map(|Column { name, kind, description }| {
            let mut schema = kind.schema();
            schema["title"] = json!(name);
            schema["description"] = json!(description);
            (name.to_string(), schema)
        });
        serde_json::Value::Object(properties.collect())
    }
}
