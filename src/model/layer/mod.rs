//! Layers: the features of responses. Stores return layers, and formats encode them.

mod alerts;
mod areas;
mod boundaries;
mod floods;
mod gauges;
mod infrastructure;
mod reports;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::alerts::{AlertFeature, AlertLayer, AlertProperties};
pub use self::areas::{AreaLayer, AreaOutline, AreaProperties};
pub use self::boundaries::{BoundaryLayer, BoundaryProperties};
pub(crate) use self::floods::{FloodCondition, FloodIdentity};
pub use self::floods::{FloodFeature, FloodLayer, FloodProperties, FloodStateRecord};
pub use self::gauges::{GaugeLayer, GaugeProperties, ObservedGauge};
pub use self::infrastructure::{InfrastructureLayer, InfrastructureProperties};
pub use self::reports::{ReportLayer, ReportProperties};
use super::alerts::Issuer;
use super::{BoundingBox, Geometry, digits};

/// Passes the list of all map resources to a macro: kind, layer, name in the configuration, and content.
macro_rules! for_each_map_resource {
    ($then:ident) => {
        $then! {
            Floods: FloodLayer = "floods", "Local areas with their flood states.";
            Reports: ReportLayer = "reports", "Reports.";
            Gauges: GaugeLayer = "gauges", "Flood gauges with their readings.";
            Infrastructure: InfrastructureLayer = "infrastructure", "Floodgates, pumps and waterways.";
            Boundaries: BoundaryLayer = "boundaries", "Provinces.";
            Alerts: AlertLayer = "alerts", "Alerts about floods.";
            Areas: AreaLayer = "areas", "Outlines of local areas, larger areas or cities.";
        }
    };
}
pub(crate) use for_each_map_resource;

/// The features of a map resource in a response, in order.
pub trait MapLayer: Clone + fmt::Debug + Default + Into<Layer> + Send + Sync + 'static {
    /// The properties of a feature, serialized with the names and in the order of the interface.
    type Properties<'a>: Clone + Copy + fmt::Debug + Serialize;

    /// Returns the number of features.
    fn len(&self) -> usize;

    /// Returns whether there are no features.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the geometry and the properties of a feature. Panics if `index` is not below [`len`](Self::len).
    fn feature(&self, index: usize) -> (Geometry<'_>, Self::Properties<'_>);

    /// Returns the unique identifier of a feature within its resource, if any. **Default: `None`**
    /// Panics if `index` is not below [`len`](Self::len).
    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        let _ = index;
        None
    }
}

/// Identifies a feature within its resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum FeatureId<'a> {
    /// A number.
    Number(u64),
    /// A text.
    Text(Cow<'a, str>),
}

impl FeatureId<'_> {
    #[must_use]
    pub(crate) fn is(&self, text: &str) -> bool {
        match self {
            Self::Number(number) => digits(text) == Some(*number),
            Self::Text(own) => own == text,
        }
    }
}

macro_rules! layers {
    ($($Kind:ident: $Layer:ty = $name:literal, $doc:literal;)+) => {
        /// The kind of features in a layer: one for each map resource.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[non_exhaustive]
        pub enum LayerKind {
            $(#[doc = $doc] $Kind,)+
        }

        impl LayerKind {
            /// All kinds.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Kind),+];

            /// The names of the resources in the configuration, in the same order.
            pub const NAMES: [&str; Self::ALL.len()] = [$($name),+];

            /// Returns the name of the resource in the configuration.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Kind => $name,)+
                }
            }
        }

        /// The features of a response, typed by resource, in order. Stores return and formats encode them. Geometry is shared.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum Layer {
            $(#[doc = $doc] $Kind($Layer),)+
        }

        impl Layer {
            /// Creates a layer without features.
            #[must_use]
            pub fn empty(kind: LayerKind) -> Self {
                match kind {
                    $(LayerKind::$Kind => Self::$Kind(<$Layer>::default()),)+
                }
            }

            /// Returns the kind.
            #[must_use]
            pub fn kind(&self) -> LayerKind {
                match self {
                    $(Self::$Kind(_) => LayerKind::$Kind,)+
                }
            }

            /// Returns the number of features.
            #[must_use]
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$Kind(layer) => MapLayer::len(layer),)+
                }
            }

            /// Returns the identifier of the feature at an index below [`len`](Self::len), if any.
            #[must_use]
            pub fn id(&self, index: usize) -> Option<FeatureId<'_>> {
                match self {
                    $(Self::$Kind(layer) => MapLayer::id(layer, index),)+
                }
            }

            pub(crate) fn feature(&self, index: usize) -> Feature<'_> {
                match self {
                    $(Self::$Kind(layer) => {
                        let (geometry, properties) = MapLayer::feature(layer, index);
                        Feature { geometry, properties: Properties::$Kind(properties) }
                    })+
                }
            }
        }

        /// The properties of a feature, serialized with the names and in the order of the interface.
        #[derive(Clone, Copy, Debug, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum Properties<'a> {
            $(#[doc = $doc] $Kind(<$Layer as MapLayer>::Properties<'a>),)+
        }

        $(
            impl From<$Layer> for Layer {
                fn from(layer: $Layer) -> Self {
                    Self::$Kind(layer)
                }
            }
        )+
    };
}
for_each_map_resource!(layers);

impl Layer {
    /// Returns geometry and properties of all features, for generic map formats.
    #[must_use]
    pub fn features(&self) -> impl ExactSizeIterator<Item = Feature<'_>> + Clone {
        (0..self.len()).map(|index| self.feature(index))
    }

    /// Returns whether there are no features.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps only features that touch `bbox` in layers of floods, reports, outlines or infrastructure. Other layers stay whole.
    pub(crate) fn within(self, bbox: &BoundingBox) -> Self {
        match self {
            Self::Floods(layer) => Self::Floods(layer.within(bbox)),
            Self::Reports(layer) => Self::Reports(layer.within(bbox)),
            Self::Areas(layer) => Self::Areas(layer.within(bbox)),
            Self::Infrastructure(layer) => Self::Infrastructure(layer.within(bbox)),
            layer => layer,
        }
    }

    pub(crate) fn issued_by(self, issuer: &Arc<Issuer>) -> Self {
        match self {
            Self::Alerts(layer) => Self::Alerts(layer.issued_by(Arc::clone(issuer))),
            layer => layer,
        }
    }

    pub(crate) fn with_photos_at(self, address: &Arc<str>) -> Self {
        match self {
            Self::Reports(layer) => Self::Reports(layer.with_photos_at(Arc::clone(address))),
            layer => layer,
        }
    }
}

/// A feature of a layer, for generic map formats.
#[derive(Clone, Copy, Debug)]
pub struct Feature<'a> {
    /// The geometry.
    pub geometry: Geometry<'a>,
    /// The properties, serialized as the interface documents them.
    pub properties: Properties<'a>,
}
