use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use imbl::OrdMap;

use super::MemoryStore;
use super::snapshot::{Snapshots, Written};
use crate::model::intake::GaugeReadings;
use crate::model::{Gauge, GaugeLayer, Observation, ObservedGauge, Timestamp};
use crate::stores::{GaugeQuery, GaugeStore, Revision, StoreError, Versioned};

/// Gauges by their identifier.
#[derive(Debug)]
pub(super) struct Gauges {
    snapshots: Snapshots<OrdMap<String, Record>>,
}

/// A gauge and all its readings.
#[derive(Clone, Debug, PartialEq)]
struct Record {
    gauge: Arc<Gauge>,
    readings: OrdMap<Timestamp, Observation>,
}

impl Record {
    /// When it was first read after a moment.
    fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        let later = (Bound::Excluded(moment), Bound::Unbounded);
        self.readings.range(later).next().map(|(at, _)| *at)
    }
}

impl Gauges {
    pub(super) fn new(gauges: Vec<ObservedGauge>) -> Self {
        let records = gauges.into_iter().map(|ObservedGauge { gauge, observations }| {
            let readings = observations.into_iter().map(|reading| (reading.observed_at, reading));
            (gauge.id.clone(), Record { gauge, readings: readings.collect() })
        });
        Self { snapshots: Snapshots::new(records.collect()) }
    }

    /// The date of the newest reading that is not dated after a moment.
    pub(super) fn newest(&self, until: Timestamp) -> Option<Timestamp> {
        let snapshot = self.snapshots.read();
        let newest = |record: &Record| record.readings.range(..=until).next_back().map(|(at, _)| *at);
        snapshot.value.values().filter_map(newest).max()
    }

    pub(super) fn revision(&self) -> Revision {
        self.snapshots.revision()
    }
}

#[async_trait]
impl GaugeStore for MemoryStore {
    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError> {
        let snapshot = self.gauges.snapshots.read();
        let now = self.clock.now();
        let (first, last) = query.window.bounds(now);
        let in_window = |record: &Record| {
            // A range that ends before it begins is a panic of the map's.
            let readings = (first <= last).then(|| record.readings.range(first..=last));
            readings.into_iter().flatten().map(|(_, reading)| reading.clone()).collect::<Vec<_>>()
        };
        let gauges = snapshot
            .value
            .values()
            .filter(|record| query.selector.matches_codes(None, record.gauge.region_code.as_deref()))
            .map(|record| ObservedGauge { gauge: Arc::clone(&record.gauge), observations: in_window(record) })
            .filter(|gauge| !gauge.observations.is_empty());
        let layer = GaugeLayer(gauges.collect());
        let next = snapshot.value.values().filter_map(|record| record.next_after(last)).min();
        let lasting = query.window.lasting(now, layer.oldest(), next);
        Ok(snapshot.of(layer).within(lasting))
    }

    async fn store_gauge(&self, readings: GaugeReadings) -> Result<usize, StoreError> {
        let GaugeReadings { id, name, location, observations } = readings;
        let sent: OrdMap<_, _> =
            observations.into_iter().map(|reading| (reading.observed_at, reading)).collect();
        let stored = sent.len();
        self.gauges.snapshots.write(|gauges| {
            let known = gauges.get(&id);
            let unmoved = known.filter(|record| record.gauge.location == location);
            let region_code = match unmoved {
                Some(record) => record.gauge.region_code.clone(),
                None => self.places.locate(location).instance_region_code.map(String::from),
            };
            let before = known.map(|record| record.readings.clone()).unwrap_or_default();
            let gauge = Arc::new(Gauge { id: id.clone(), name, region_code, location });
            let record = Record { gauge, readings: sent.union(before) };
            if known == Some(&record) {
                return Ok(Written::Unseen(stored));
            }
            gauges.insert(id, record);
            Ok(Written::Visible(stored))
        })
    }
}
