use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{FeatureId, MapLayer};
use crate::model::{Centimetres, Gauge, GaugeSettings, Geometry, Observation, Quality, Timestamp};

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
    #[serde(flatten)]
    settings: &'a GaugeSettings,
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
        let Observation { observed_at, level, alert, label, reported, quality } = self.0;
        let mut reading = serializer.serialize_struct("Observation", 7)?;
        reading.serialize_field("f1", &observed_at.with_offset())?;
        reading.serialize_field("f2", &Centimetres(*level))?;
        reading.serialize_field("f3", &alert.number())?;
        reading.serialize_field("f4", &**label)?;
        if *quality != Quality::NotEvaluated {
            reading.serialize_field("quality", &quality.flag())?;
        }
        if let Some(reason) = quality.reason() {
            reading.serialize_field("reason", reason)?;
        }
        if let Some(reported) = reported {
            reading.serialize_field("reported", reported)?;
        }
        reading.end()
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
            settings: &gauge.settings,
        };
        (Geometry::Point(gauge.location.coord()), properties)
    }

    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        Some(FeatureId::Text((&*self.0[index].gauge.id).into()))
    }
}
