use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{FeatureId, MapLayer};
use crate::model::{
    Centimetres, Gauge, GaugeActivity, GaugeSettings, GaugeStatus, Geometry, Observation, Quality, Timestamp,
    Trend,
};

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
    /// Whether the gauge still sends readings. Stores leave it out: the server computes it for [`GaugeListQuery`].
    ///
    /// [`GaugeListQuery`]: crate::stores::GaugeListQuery
    pub activity: Option<Box<GaugeActivity>>,
}

impl ObservedGauge {
    /// Joins a gauge with its readings, without its activity.
    #[must_use]
    pub fn new(gauge: Arc<Gauge>, observations: Vec<Observation>) -> Self {
        Self { gauge, observations, activity: None }
    }
}

/// The properties of a gauge in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct GaugeProperties<'a> {
    gaugeid: &'a str,
    gaugenameid: &'a str,
    observations: Readings<'a>,
    /// The interval is the expected one if it is not set.
    #[serde(flatten)]
    settings: GaugeSettings,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    activity: Option<Activity<'a>>,
}

/// The status of a gauge; `last` only if no other reading is listed.
#[derive(Clone, Copy, Debug, Serialize)]
struct Activity<'a> {
    status: GaugeStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Reading<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    silent_since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trend: Option<&'a Trend>,
    #[serde(skip_serializing_if = "Option::is_none")]
    muted_until: Option<Timestamp>,
}

impl<'a> Activity<'a> {
    fn new(activity: &'a GaugeActivity, is_listed: bool) -> Self {
        let GaugeActivity { status, last, every: _, silent_since, trend, muted_until } = activity;
        Self {
            status: *status,
            last: last.as_ref().filter(|_| !is_listed).map(Reading),
            silent_since: silent_since.filter(|_| *status == GaugeStatus::Silent),
            trend: trend.as_ref(),
            muted_until: *muted_until,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Readings<'a>(&'a [Observation]);

impl Serialize for Readings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Reading))
    }
}

#[derive(Clone, Copy, Debug)]
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
        let ObservedGauge { gauge, observations, activity } = &self.0[index];
        let seconds = |activity: &GaugeActivity| u32::try_from(activity.every.as_secs()).ok();
        let every = activity.as_deref().and_then(seconds).or(gauge.settings.every);
        let activity = activity.as_deref().map(|activity| Activity::new(activity, !observations.is_empty()));
        let properties = GaugeProperties {
            gaugeid: &gauge.id,
            gaugenameid: &gauge.name,
            observations: Readings(observations),
            settings: GaugeSettings { every, ..gauge.settings },
            activity,
        };
        (Geometry::Point(gauge.location.coord()), properties)
    }

    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        Some(FeatureId::Text((&*self.0[index].gauge.id).into()))
    }
}
