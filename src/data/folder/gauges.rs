use std::collections::HashSet;

use super::feature::Feature;
use super::geometry::place;
use super::{Folder, FolderFile, FolderRow, FolderWriter, GeoJsonWriter, WriteError, geojson_file};
use crate::data::folder::DatasetError;
use crate::model::{Gauge, GaugeSettings, Geometry, InvalidThresholds, Locator, Mute, Position};

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

const EVERY: &str = "every must be whole seconds from 60 to 86400";
const RANGE: &str = "range must be the lowest and the highest level, two ascending numbers in cm";

fn gauge(feature: &Feature<'_>, locator: &Locator) -> Result<Gauge, String> {
    let location = place(feature.geometry()?)?;
    let region_code = region_code(feature, location, locator)?;
    let settings = GaugeSettings {
        thresholds: feature.json("thresholds").map_err(|_| format!("thresholds {InvalidThresholds}"))?,
        range: match feature.json::<[f64; 2]>("range").map_err(|_| RANGE)? {
            Some([low, high]) if low >= high => return Err(RANGE.to_owned()),
            range => range,
        },
        every: match feature.json::<u32>("every").map_err(|_| EVERY)? {
            Some(seconds) if !(60..=86_400).contains(&seconds) => return Err(EVERY.to_owned()),
            every => every,
        },
    };
    let (id, name) = (feature.name("gaugeid")?, feature.name("gaugenameid")?);
    let mute =
        feature.json("mute").map_err(|error| format!("mute must be as siaga export writes it: {error}"))?;
    Ok(Gauge { id, name, region_code, location, settings, mute })
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
    #[serde(flatten)]
    settings: &'a GaugeSettings,
    #[serde(skip_serializing_if = "Option::is_none")]
    mute: Option<&'a Mute>,
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
            settings: &gauge.settings,
            mute: gauge.mute.as_ref(),
        };
        self.feature(&properties, Geometry::Point(gauge.location.coord()))
    }
}
