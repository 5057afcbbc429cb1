//! Gauges along the rivers, read every ten minutes; the water follows the flood.

use std::sync::Arc;
use std::time::Duration;

use super::LIVE;
use super::noise::noise;
use crate::model::{AlertLevel, Gauge, Observation, ObservedGauge, Position, Timestamp};

/// Name, longitude, latitude, level without a flood, and how much a flood adds, in centimetres.
const GAUGES: [(&str, f64, f64, f64, f64); 9] = [
    ("Bendung Katulampa", 106.837, -6.633, 40.0, 150.0),
    ("Pos Depok", 106.832, -6.401, 90.0, 240.0),
    ("Manggarai BKB", 106.848, -6.208, 580.0, 340.0),
    ("PA. Karet", 106.810, -6.198, 310.0, 260.0),
    ("Pesanggrahan", 106.772, -6.395, 80.0, 180.0),
    ("Angke Hulu", 106.720, -6.215, 100.0, 220.0),
    ("Sunter Hulu", 106.902, -6.300, 70.0, 170.0),
    ("Cipinang Hulu", 106.885, -6.320, 85.0, 120.0),
    ("Waduk Pluit", 106.799, -6.113, -180.0, 60.0),
];

const EVERY: Duration = Duration::from_mins(10);
/// How many readings of the last day there are.
const PAST: u64 = 24 * 6;

/// Returns the gauges with their readings of the last day, and those that will appear while the demo runs.
pub(super) fn gauges(now: Timestamp) -> Vec<ObservedGauge> {
    (0u64..).zip(GAUGES).filter_map(|(number, gauge)| observed(number, gauge, now)).collect()
}

fn observed(
    number: u64,
    (name, lng, lat, low, rise): (&str, f64, f64, f64, f64),
    now: Timestamp,
) -> Option<ObservedGauge> {
    let gauge = Gauge {
        id: format!("TMA{:05}", number + 1),
        name: name.to_owned(),
        region_code: Some("ID-JK".to_owned()),
        location: Position::new(lng, lat)?,
    };
    let last = now.floor(EVERY);
    let first = last.before(EVERY.saturating_mul(PAST as u32));
    let coming = LIVE.as_secs() / EVERY.as_secs();
    let observations = (1..=PAST + coming).map(|reading| {
        // The flood is as old as the readings: it rises for the first half of the day and then stays.
        let risen = (2.0 * reading as f64 / PAST as f64).min(1.0);
        let level = (low + rise * risen + 4.0 * noise([number, reading, 77])).round();
        let alert = match risen {
            r if r > 0.85 => AlertLevel::Critical,
            r if r > 0.60 => AlertLevel::Alert,
            r if r > 0.30 => AlertLevel::Watch,
            _ => AlertLevel::Normal,
        };
        let observed_at = first.after(EVERY.saturating_mul(reading as u32));
        Observation { observed_at, level, alert, label: alert.label().into() }
    });
    Some(ObservedGauge { gauge: Arc::new(gauge), observations: observations.collect() })
}
