//! The map resources: everything that has a place on the map, one file for each.
//!
//! [`LayerKind`] lists them. [`describe`] returns the description of one: how requests select it, what its features
//! look like, and a made-up layer. Guards, formats, the configuration and the description of the interface read these
//! descriptions, so none of them names single resources.

mod alerts;
mod areas;
mod boundaries;
mod floods;
mod gauges;
mod infrastructure;
mod reports;
mod sample;

use std::fmt::Debug;

use serde_json::{Map, Value};

pub(crate) use self::sample::Sample;
use crate::model::{Hazards, Layer, LayerKind, Regions, Timestamp, for_each_map_resource};
use crate::schema;

/// A resource with a place on the map.
///
/// Guards that validate differently by resource are generic over it: `AreaFilter<Floods>`.
pub trait MapResource: Debug + Send + Sync + 'static {
    /// Its description.
    const DESCRIPTION: Description;
}

/// The description of a map resource.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The kind of its layers.
    pub kind: LayerKind,
    /// Its path below the base address, without a slash.
    pub path: &'static str,
    /// Returns the codes that requests can select it by, unless others are configured.
    pub selectable: fn(&Regions) -> Selectable,
    /// Which codes requests can select it by.
    pub offer: Offer,
    /// The name of the format for requests that name none, if it is enabled; `None`: the configured one.
    pub preferred_format: Option<&'static str>,
    /// The types of geometry that its features have, as GeoJSON names them (RFC 7946 §1.4).
    pub geometries: &'static [&'static str],
    /// Returns the JSON Schema of the properties of its features.
    pub properties: fn(&Hazards) -> Value,
    /// Returns a made-up layer.
    sample: fn(Sample, Timestamp) -> Layer,
}

/// Where the codes come from that requests can select a resource by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Offer {
    /// From the configuration.
    Configured,
    /// From the configuration, and the cities of the loaded areas.
    AlsoCities,
    /// From the loaded areas, of which a selection has at least one; from the configuration while there are none.
    Loaded,
}

/// The codes that requests can select a resource by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selectable {
    /// The values of the parameter `city`. Empty: there is no such parameter.
    pub city: Vec<String>,
    /// The values of the parameter `admin`.
    pub admin: Vec<String>,
}

impl Selectable {
    pub(crate) fn by(city: &[String], admin: &[String]) -> Self {
        Self { city: city.to_vec(), admin: admin.to_vec() }
    }
}

macro_rules! described {
    ($($Kind:ident: $Layer:ty = $name:literal, $doc:literal;)+) => {
        $(
            #[doc = $doc]
            #[derive(Clone, Copy, Debug)]
            pub struct $Kind;
        )+

        /// Returns the description of the resource whose layers are of a kind.
        #[must_use]
        pub fn describe(kind: LayerKind) -> &'static Description {
            match kind {
                $(LayerKind::$Kind => &$Kind::DESCRIPTION,)+
            }
        }
    };
}
for_each_map_resource!(described);

/// Returns a made-up layer of a kind.
pub(crate) fn sample(kind: LayerKind, sample: Sample, now: Timestamp) -> Layer {
    (describe(kind).sample)(sample, now)
}

/// Returns a reference to the schema of the properties of features, by which other schemas name it.
#[must_use]
pub(crate) fn properties(kind: LayerKind) -> Value {
    schema::reference(&schema_name(kind))
}

/// Returns the schemas of the properties of all resources, by name.
pub(crate) fn schemas(hazards: &Hazards) -> Map<String, Value> {
    LayerKind::ALL.into_iter().map(|kind| (schema_name(kind), (describe(kind).properties)(hazards))).collect()
}

fn schema_name(kind: LayerKind) -> String {
    format!("{kind:?}.properties")
}
