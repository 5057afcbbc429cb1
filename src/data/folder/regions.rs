use std::collections::HashSet;

use super::feature::Feature;
use super::{Folder, FolderFile, FolderRow, FolderWriter, GeoJsonWriter, WriteError, geojson_file};
use crate::data::folder::DatasetError;
use crate::model::{Geometry, Region};

impl Folder {
    /// Reads the provinces. Fails if two have the same code.
    pub fn regions<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<Region>) -> Result<(), E>,
    ) -> Result<(), E> {
        read(self, FolderFile::Regions, each)
    }

    /// Reads the cities that have a boundary. Fails if two have the same code.
    pub fn cities<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<Region>) -> Result<(), E>,
    ) -> Result<(), E> {
        read(self, FolderFile::Cities, each)
    }
}

fn read<E: From<DatasetError>>(
    folder: &Folder,
    file: FolderFile,
    each: impl FnMut(FolderRow<Region>) -> Result<(), E>,
) -> Result<(), E> {
    let mut codes = HashSet::new();
    let make = |feature: &Feature<'_>| {
        let code = feature.required("code")?;
        if !codes.insert(code.clone()) {
            return Err(format!("code {code} occurs already"));
        }
        Ok(Region { code, name: feature.required("name")?, outline: feature.outline()? })
    };
    geojson_file::read(folder, file, make, each)
}

#[derive(serde::Serialize)]
struct Properties<'a> {
    code: &'a str,
    name: &'a str,
}

impl FolderWriter {
    /// Starts writing `regions.geojson`.
    pub fn regions(&self) -> Result<GeoJsonWriter<Region>, WriteError> {
        self.features(FolderFile::Regions)
    }

    /// Starts writing `cities.geojson`.
    pub fn cities(&self) -> Result<GeoJsonWriter<Region>, WriteError> {
        self.features(FolderFile::Cities)
    }
}

impl GeoJsonWriter<Region> {
    /// Writes the next province or city.
    pub fn write(&mut self, region: &Region) -> Result<(), WriteError> {
        let properties = Properties { code: &region.code, name: &region.name };
        self.feature(&properties, Geometry::surface(&region.outline))
    }
}
