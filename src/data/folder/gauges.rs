use std::collections::HashSet;

use super::feature::Feature;
use super::geometry::place;
use super::{Folder, FolderFile, FolderRow, FolderWriter, GeoJsonWriter, WriteError, geojson_file};
use crate::data::folder::DatasetError;
use crate::model::{Gauge, Geometry, Locator, Position};

impl Folder {
    /// Reads the gauges. Fails on duplicate identifiers. `locator` finds the province of a gauge without the property.
    pub fn gauges<E: From<DatasetError>>(
        &self,
        locator: &Locator,
        each: impl FnMut(FolderRow<Gauge>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ids = HashSet::new();
        let make = |feature: &Feature<'_>| {
            let gauge = gauge(feature, locator)?;
            if ids.insert(gauge.id.clone()) {
                Ok(gauge)
            } else {
                Err(format!("gaugeid {} occurs already", gauge.id))
            }
        };
        geojson_file::read(self, FolderFile::Gauges, make, each)
    }
}

fn gauge(feature: &Feature<'_>, locator: &Locator) -> Result<Gauge, String> {
    let location = place(feature.geometry()?)?;
    let region_code = region_code(feature, location, locator)?;
    Ok(Gauge { id: feature.name("gaugeid")?, name: feature.name("gaugenameid")?, region_code, location })
}

/// Returns the code of the province. Uses the place if the property is absent or empty. Null means that there is no province.
fn region_code(feature: &Feature<'_>, place: Position, locator: &Locator) -> Result<Option<String>, String> {
    const KEY: &str = "instance_region_code";
    match feature.text(KEY)? {
        code if !code.is_empty() => Ok(Some(code)),
        _ if feature.is_null(KEY) => Ok(None),
        _ => Ok(locator.locate(place).instance_region_code.map(String::from)),
    }
}

#[derive(serde::Serialize)]
struct Properties<'a> {
    gaugeid: &'a str,
    gaugenameid: &'a str,
    instance_region_code: Option<&'a str>,
}

impl FolderWriter {
    /// Starts writing `gauges.geojson`.
    pub fn gauges(&self) -> Result<GeoJsonWriter<Gauge>, WriteError> {
        self.features(FolderFile::Gauges)
    }
}

impl GeoJsonWriter<Gauge> {
    /// Writes the next gauge.
    pub fn write(&mut self, gauge: &Gauge) -> Result<(), WriteError> {
        let properties = Properties {
            gaugeid: &gauge.id,
            gaugenameid: &gauge.name,
            instance_region_code: gauge.region_code.as_deref(),
        };
        self.feature(&properties, Geometry::Point(gauge.location.coord()))
    }
}
