use super::feature::Feature;
use super::geometry::shape;
use super::tags::tags;
use super::{Folder, FolderFile, FolderRow, FolderWriter, GeoJsonWriter, WriteError, geojson_file};
use crate::folder::DatasetError;
use crate::model::{Infrastructure, InfrastructureKind, Locator, Tags};

impl Folder {
    /// Reads floodgates, pumps and waterways. `locator` finds missing tags.
    ///
    /// # Errors
    ///
    /// As [`Self::areas`].
    pub fn infrastructure<E: From<DatasetError>>(
        &self,
        locator: &Locator,
        each: impl FnMut(FolderRow<Infrastructure>) -> Result<(), E>,
    ) -> Result<(), E> {
        geojson_file::read(self, FolderFile::Infrastructure, |feature| infrastructure(feature, locator), each)
    }
}

fn infrastructure(feature: &Feature<'_>, locator: &Locator) -> Result<Infrastructure, String> {
    let kind = feature.required("type")?;
    let shape = shape(feature.geometry()?)?;
    Ok(Infrastructure {
        kind: kind.parse().map_err(|error| format!("type {error}, not {kind:?}"))?,
        name: feature.text("name")?,
        tags: tags(feature, shape.beginning(), locator)?,
        shape,
    })
}

#[derive(serde::Serialize)]
struct Properties<'a> {
    r#type: InfrastructureKind,
    name: &'a str,
    tags: &'a Tags,
}

impl FolderWriter {
    /// Begins `infrastructure.geojson`.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn infrastructure(&self) -> Result<GeoJsonWriter<Infrastructure>, WriteError> {
        self.features(FolderFile::Infrastructure)
    }
}

impl GeoJsonWriter<Infrastructure> {
    /// Writes the next floodgate, pump or waterway.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&mut self, of: &Infrastructure) -> Result<(), WriteError> {
        let properties = Properties { r#type: of.kind, name: &of.name, tags: &of.tags };
        self.feature(&properties, of.geometry())
    }
}
