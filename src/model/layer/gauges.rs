use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{FeatureId, MapLayer};
use crate::model::{Gauge, Geometry, Observation, Timestamp};

/// Gauges on the map, each with readings.
#[derive(Clone, Debug, Default)]
pub struct GaugeLayer(pub Vec<ObservedGauge>);

impl GaugeLayer {
    #[must_use]
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let oldest = self.0.iter().filter_map(|gauge| gauge.observations.first());
        oldest.map(|reading| reading.observed_at).min()
    }

    #[must_use]
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        let newest = self.0.iter().filter_map(|gauge| gauge.observations.last());
        newest.map(|reading| reading.observed_at).max()
    }
}

/// A gauge and its readings.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedGauge {
    /// The gauge.
    pub gauge: Arc<Gauge>,
    /// The readings, oldest first.
    pub observations: Vec<Observation>,
}

/// The properties of a gauge in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct GaugeProperties<'a> {
    gaugeid: &'a str,
    gaugenameid: &'a str,
    observations: Readings<'a>,
}

#[derive(Clone, Copy, Debug)]
struct Readings<'a>(&'a [Observation]);

impl Serialize for Readings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Reading))
    }
}

struct Reading<'a>(&'a Observation);

impl Serialize for Reading<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Observation { observed_at, level, alert, label } = self.0;
        let mut reading = serializer.serialize_struct("Observation", 4)?;
        reading.serialize_field("f1", &observed_at.with_offset())?;
        reading.serialize_field("f2", &Level(*level))?;
        reading.serialize_field("f3", &alert.number())?;
        reading.serialize_field("f4", &**label)?;
        reading.end()
    }
}

/// A water level. Serialized as an integer if it has no fraction, as clients expect.
struct Level(f64);

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Up to 2⁵³, whole doubles are exact integers.
        if self.0.fract() == 0.0 && self.0.abs() < 9_007_199_254_740_992.0 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl MapLayer for GaugeLayer {
    type Properties<'a> = GaugeProperties<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn feature(&self, index: usize) -> (Geometry<'_>, GaugeProperties<'_>) {
        let ObservedGauge { gauge, observations } = &self.0[index];
        let properties = GaugeProperties {
            gaugeid: &gauge.id,
            gaugenameid: &gauge.name,
            observations: Readings(observations),
        };
        (Geometry::Point(gauge.location.coord()), properties)
    }

    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        Some(FeatureId::Text((&*self.0[index].gauge.id).into()))
    }
}
