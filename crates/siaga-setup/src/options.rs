use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answers to the questions of `siaga setup`, each of which is an option.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Options {
    /// The folder to make. In a folder that setup has made, it replaces what you have not edited.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Asks nothing: uses the defaults.
    #[arg(long)]
    #[serde(skip)]
    pub yes: bool,
    /// Where the areas come from: an OpenStreetMap extract (.osm.pbf), a GeoJSON file in WGS 84, or `demo`.
    #[arg(long, value_name = "FILE")]
    pub from: Option<String>,
    /// The name of the place in the extract, in any language.
    #[arg(long, value_name = "NAME")]
    pub place: Option<String>,
    /// The number of the place in OpenStreetMap, such as r1155955, if several places have its name.
    #[arg(long, value_name = "ID")]
    pub place_id: Option<String>,
    /// Takes all areas of the level in the extract.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub whole_file: Option<bool>,
    /// The `admin_level` of the areas whose flood state officers set.
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<u8>,
    /// The `admin_level` of the larger areas by which the map groups them.
    #[arg(long, value_name = "LEVEL")]
    pub larger_area_level: Option<u8>,
    /// The agency in whose name pages and alerts speak.
    #[arg(long, value_name = "NAME")]
    pub agency: Option<String>,
    /// The web address at which people reach the agency.
    #[arg(long, value_name = "URL")]
    pub contact: Option<String>,
    /// The emergency number.
    #[arg(long, value_name = "NUMBER")]
    pub emergency: Option<String>,
    /// The address of the service, such as <https://flood.example.org>.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The first language of the pages, such as de.
    #[arg(long, value_name = "CODE")]
    pub language: Option<String>,
    /// The time zone, such as Europe/Vaduz.
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// Whether residents may send reports by the form.
    #[arg(long)]
    pub form: Option<Form>,
    /// Which reports officers review before they are public.
    #[arg(long)]
    pub review: Option<Review>,
    /// The name of the first officer, or of the desk, whose key is made.
    #[arg(long, value_name = "NAME")]
    pub officer: Option<String>,
    /// The proxy in front of the service.
    #[arg(long)]
    pub proxy: Option<Proxy>,
    /// The code of the province (ISO 3166-2) of all areas, instead of what the extract tells.
    #[arg(long, value_name = "CODE")]
    pub region_code: Option<String>,
    /// What residents report.
    #[arg(long)]
    pub hazards: Option<HazardChoice>,
    /// The property of a GeoJSON file with the names of the areas.
    #[arg(long, value_name = "PROPERTY")]
    pub name_column: Option<String>,
    /// The property of a GeoJSON file with the names of the larger areas.
    #[arg(long, value_name = "PROPERTY")]
    pub parent_column: Option<String>,
    /// The property of a GeoJSON file with the numbers of the areas, which must never change.
    #[arg(long, value_name = "PROPERTY")]
    pub id_column: Option<String>,
}

/// Whether there is a form for residents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Anybody may report.
    On,
    /// Only programs with a key send reports.
    Off,
}

/// Which reports are reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Review {
    /// All.
    All,
    /// Those after a number in an hour.
    After,
    /// None.
    None,
}

/// A proxy in front of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proxy {
    /// None, or one that you configure.
    None,
    /// Caddy, which gets a certificate by itself.
    Caddy,
}

/// What residents report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HazardChoice {
    /// Floods.
    Flood,
    /// Floods, earthquakes, fires, haze, wind and volcanoes.
    All,
}

impl Options {
    /// Returns these options, and for those that are not given the ones of an earlier run.
    pub(crate) fn or(self, earlier: Value) -> Result<Self, serde_json::Error> {
        let Value::Object(mut all) = earlier else { return Ok(self) };
        // Another place, not one more property of it.
        if self.place.is_some() || self.place_id.is_some() || self.whole_file.is_some() {
            all.retain(|name, _| !["place", "place-id", "whole-file"].contains(&name.as_str()));
        }
        if let Value::Object(given) = serde_json::to_value(&self)? {
            all.extend(given.into_iter().filter(|(_, value)| !value.is_null()));
        }
        let merged: Self = serde_json::from_value(all.into())?;
        Ok(Self { folder: self.folder, yes: self.yes, ..merged })
    }
}
