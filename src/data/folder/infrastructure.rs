use super::feature::Feature;
use super::geometry::shapes;
use super::tags::tags;
use super::{Folder, FolderFile, FolderRow, FolderWriter, GeoJsonWriter, WriteError, geojson_file};
use crate::data::folder::DatasetError;
use crate::model::{Infrastructure, InfrastructureKind, InfrastructureShape, Locator, Tags};

impl Folder {
    /// Reads floodgates, pumps and waterways. A feature with several points or lines becomes one piece of infrastructure for each
    /// of them. `locator` determines missing tags from the place.
    pub fn infrastructure<E: From<DatasetError>>(
        &self,
        locator: &Locator,
        mut each: impl FnMut(FolderRow<Infrastructure>) -> Result<(), E>,
    ) -> Result<(), E> {
        let make = |feature: &Feature<'_>| infrastructure(feature, locator);
        let each_part = |row: FolderRow<Vec<Infrastructure>>| {
            row.value.into_iter().try_for_each(|value| each(FolderRow { line: row.line, value }))
        };
        geojson_file::read(self, FolderFile::Infrastructure, make, each_part)
    }
}

/// Returns one piece of infrastructure for each part of the feature's geometry.
fn infrastructure(feature: &Feature<'_>, locator: &Locator) -> Result<Vec<Infrastructure>, String> {
    let kind = feature.required("type")?;
    let kind: InfrastructureKind = kind.parse().map_err(|error| format!("type {error}, not {kind:?}"))?;
    let name = feature.text("name")?;
    let id = feature.id()?;
    let piece = |shape: InfrastructureShape| {
        if !kind.allows(&shape) {
            feature.note_unusual_shape();
        }
        let tags = tags(feature, shape.beginning(), locator)?;
        Ok(Infrastructure { id: id.clone(), kind, name: name.clone(), tags, shape })
    };
    shapes(feature.geometry()?)?.into_iter().map(piece).collect()
}

#[derive(serde::Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    r#type: InfrastructureKind,
    name: &'a str,
    tags: &'a Tags,
}

impl FolderWriter {
    /// Starts writing `infrastructure.geojson`.
    pub fn infrastructure(&self) -> Result<GeoJsonWriter<Infrastructure>, WriteError> {
        self.features(FolderFile::Infrastructure)
    }
}

impl GeoJsonWriter<Infrastructure> {
    /// Writes the next floodgate, pump or waterway.
    pub fn write(&mut self, item: &Infrastructure) -> Result<(), WriteError> {
        let properties = Properties { id: &item.id, r#type: item.kind, name: &item.name, tags: &item.tags };
        self.feature(&properties, item.geometry())
    }
}
