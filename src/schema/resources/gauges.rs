use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{Description, Gauges, MapResource, Offer, SelectableCodes};
use crate::model::{
    AlertLevel, Gauge, GaugeLayer, GaugeSettings, Hazards, Layer, LayerKind, Observation, ObservedGauge,
    Quality, Timestamp,
};
use crate::schema::{array, object, reference, text, utc_date_time};

impl MapResource for Gauges {
    const DESCRIPTION: Description = Description {
        kind: LayerKind::Gauges,
        path: "floodgauges",
        selectable: |regions| {
            SelectableCodes::new(&[&regions.mapped[..], &regions.configured].concat(), &regions.mapped)
        },
        offer: Offer::Configured,
        preferred_format: None,
        geometries: &["Point"],
        properties,
        sample,
    };
}

fn properties(_: &Hazards) -> Value {
    object(json!({
        "gaugeid": text("The gauge."),
        "gaugenameid": text("Its name."),
        "observations": array(reference("Observation")),
        "thresholds?": reference("Thresholds"),
        "range?": reference("GaugeRange"),
        "every?": reference("GaugeInterval"),
        "status?": reference("GaugeStatus"),
        "last?": reference("Observation"),
        "silent_since?": utc_date_time("`silent`: when the third expected reading was missing."),
        "trend?": reference("GaugeTrend"),
        "muted_until?": utc_date_time("`muted`: when the gauge counts again."),
    }))
}

fn sample(sample: Sample, now: Timestamp) -> Layer {
    let label = sample.text(AlertLevel::Watch.label());
    let reading = |level| Observation {
        observed_at: now,
        level,
        alert: AlertLevel::Watch,
        label: label.into(),
        reported: None,
        quality: Quality::default(),
    };
    let gauge = |(id, levels): (&str, &[f64])| {
        let name = sample.text("Bendung Katulampa").to_owned();
        let gauge = Gauge {
            id: id.to_owned(),
            name,
            region_code: None,
            location: Sample::place(),
            settings: GaugeSettings::default(),
            mute: None,
        };
        let observations = levels.iter().copied().map(reading).collect();
        ObservedGauge::new(Arc::new(gauge), observations)
    };
    let all: [(&str, &[f64]); 2] = [("TMA00001", &[-165.0, 40.5]), ("TMA00002", &[0.0])];
    Layer::Gauges(GaugeLayer(sample.limit(all.map(gauge))))
}
