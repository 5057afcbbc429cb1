use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{MapResource, Sampled, Selectable};
use crate::model::{
    AlertLevel, Gauge, GaugeLayer, Hazards, Layer, LayerKind, Observation, ObservedGauge, Regions, Timestamp,
};
use crate::schema::{array, object, reference};

/// `/floodgauges`: gauges with their readings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges;

impl MapResource for Gauges {
    fn kind(&self) -> LayerKind {
        LayerKind::Gauges
    }

    fn path(&self) -> &'static str {
        "floodgauges"
    }

    fn selectable(&self, regions: &Regions) -> Selectable {
        Selectable::by(&[&regions.mapped[..], &regions.configured].concat(), &regions.mapped)
    }

    fn geometries(&self) -> &'static [&'static str] {
        &["Point"]
    }

    fn properties(&self, _: &Hazards) -> Value {
        object(json!({
            "gaugeid": { "type": "string", "description": "The gauge." },
            "gaugenameid": { "type": "string", "description": "Its name." },
            "observations": array(reference("Observation")),
        }))
    }
}

impl Sampled for Gauges {
    fn sample(&self, sample: Sample, now: Timestamp) -> Layer {
        let label = sample.text(AlertLevel::Watch.label());
        let reading =
            |level| Observation { observed_at: now, level, alert: AlertLevel::Watch, label: label.into() };
        let gauge = |(id, levels): (&str, &[f64])| {
            let name = sample.text("Bendung Katulampa").to_owned();
            let gauge = Gauge { id: id.to_owned(), name, region_code: None, location: Sample::place() };
            let observations = levels.iter().copied().map(reading).collect();
            ObservedGauge { gauge: Arc::new(gauge), observations }
        };
        let all: [(&str, &[f64]); 2] = [("TMA00001", &[-165.0, 40.5]), ("TMA00002", &[0.0])];
        Layer::Gauges(GaugeLayer(sample.some(all.map(gauge))))
    }
}
