use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{Description, Gauges, MapResource, Offer, SelectableCodes};
use crate::model::{
    AlertLevel, Gauge, GaugeLayer, GaugeSettings, Hazards, Layer, LayerKind, Observation, ObservedGauge,
    Quality, Timestamp,
};
use crate::schema::{array, object, reference, text};

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
        };
        let observations = levels.iter().copied().map(reading).collect();
        ObservedGauge { gauge: Arc::new(gauge), observations }
    };
    let all: [(&str, &[f64]); 2] = [("TMA00001", &[-165.0, 40.5]), ("TMA00002", &[0.0])];
    Layer::Gauges(GaugeLayer(sample.limit(all.map(gauge))))
}
