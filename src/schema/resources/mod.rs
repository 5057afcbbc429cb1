//! The map resources, one file for each.
//!
//! [`describe`] returns the description of a resource: how requests select it, its features, and a sample layer. Guards, formats,
//! the configuration and the OpenAPI document read these descriptions, so that none of them refers to single resources.

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

/// A resource that the map can show. Guards that differ by resource are generic over this trait: `AreaFilter<Floods>`.
pub trait MapResource: Debug + Send + Sync + 'static {
    /// The description of the resource.
    const DESCRIPTION: Description;
}

/// The description of a map resource.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The kind of the resource's layers.
    pub kind: LayerKind,
    /// The path below the base address, without a slash.
    pub path: &'static str,
    /// Returns the codes by which requests can select the resource, unless configured otherwise.
    pub selectable: fn(&Regions) -> SelectableCodes,
    /// The source of these codes.
    pub offer: Offer,
    /// The format for requests that name none, if this format is enabled. `None`: the configured default.
    pub preferred_format: Option<&'static str>,
    /// The geometry types of the features, as GeoJSON spells them (RFC 7946 §1.4).
    pub geometries: &'static [&'static str],
    /// Returns the JSON Schema of the properties of the features.
    pub properties: fn(&Hazards) -> Value,
    sample: fn(Sample, Timestamp) -> Layer,
}

/// The source of the codes by which requests can select a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Offer {
    /// The codes come from the configuration.
    Configured,
    /// The codes come from the configuration, and from the cities of the loaded areas.
    AlsoCities,
    /// The codes come from the loaded areas, so that no selection is empty. Without loaded areas, from the configuration.
    Loaded,
}

/// The codes by which requests can select a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectableCodes {
    /// The values of the parameter `city`. If empty, there is no such parameter.
    pub city: Vec<String>,
    /// The values of the parameter `admin`.
    pub admin: Vec<String>,
}

impl SelectableCodes {
    pub(crate) fn new(city: &[String], admin: &[String]) -> Self {
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

        /// Returns the description of the resource of a kind.
        #[must_use]
        pub fn describe(kind: LayerKind) -> &'static Description {
            match kind {
                $(LayerKind::$Kind => &$Kind::DESCRIPTION,)+
            }
        }
    };
}
for_each_map_resource!(described);

pub(crate) fn sample(kind: LayerKind, sample: Sample, now: Timestamp) -> Layer {
    (describe(kind).sample)(sample, now)
}

#[must_use]
pub(crate) fn properties(kind: LayerKind) -> Value {
    schema::reference(&schema_name(kind))
}

pub(crate) fn schemas(hazards: &Hazards) -> Map<String, Value> {
    LayerKind::ALL.into_iter().map(|kind| (schema_name(kind), (describe(kind).properties)(hazards))).collect()
}

fn schema_name(kind: LayerKind) -> String {
    format!("{kind:?}.properties")
}
