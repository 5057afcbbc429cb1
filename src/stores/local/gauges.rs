use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use imbl::{OrdMap, Vector};

use super::{LocalStore, Row, State, count_items, read_long};
use crate::model::CancelFlag;
use crate::model::bodies::GaugeReadings;
use crate::model::{Gauge, GaugeLayer, Mute, Observation, ObservedGauge, Timestamp};
use crate::stores::gauges::{LEAST_RECENT, MOST_RECENT};
use crate::stores::{GaugeQuery, GaugeStore, StoreError, Versioned};

/// How old the readings are that a store with a journal holds in memory: those of a day, which is the attention window, and of the
/// hours before that decide on their quality. The store in the file reads older ones from the file.
pub(in crate::stores) const HELD_READINGS: Duration = Duration::from_hours(26);

#[derive(Clone, Debug)]
pub(super) struct Gauges(OrdMap<String, GaugeRecord>);

#[derive(Clone, Debug, PartialEq)]
struct GaugeRecord {
    gauge: Arc<Gauge>,
    readings: OrdMap<Timestamp, Observation>,
    /// Newest entry last.
    log: Vector<Mute>,
}

impl GaugeRecord {
    /// Returns the readings since a time, but at least [`LEAST_RECENT`] and at most [`MOST_RECENT`], oldest first.
    fn recent(&self, since: Timestamp) -> Vec<Observation> {
        let newest = self.readings.values().rev().take(MOST_RECENT).enumerate();
        let newest =
            newest.take_while(|(index, reading)| *index < LEAST_RECENT || reading.observed_at >= since);
        let mut recent: Vec<_> = newest.map(|(_, reading)| reading.clone()).collect();
        recent.reverse();
        recent
    }

    /// Keeps the readings since a time, and the newest [`LEAST_RECENT`].
    fn drop_before(&mut self, since: Timestamp) {
        let first_recent =
            self.readings.keys().rev().nth(LEAST_RECENT - 1).copied().unwrap_or(Timestamp::EPOCH);
        self.keep_since(since.min(first_recent));
    }

    fn keep_since(&mut self, since: Timestamp) {
        if self.readings.keys().next().is_some_and(|oldest| *oldest < since) {
            self.readings =
                self.readings.range(since..).map(|(at, reading)| (*at, reading.clone())).collect();
        }
    }

    fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        let later = (Bound::Excluded(moment), Bound::Unbounded);
        self.readings.range(later).next().map(|(at, _)| *at)
    }
}

impl Gauges {
    pub(super) fn new(gauges: Vec<ObservedGauge>) -> Self {
        let records = gauges.into_iter().map(|ObservedGauge { gauge, observations, .. }| {
            let readings = observations.into_iter().map(|reading| (reading.observed_at, reading));
            let log = gauge.mute.iter().cloned().collect();
            (gauge.id.clone(), GaugeRecord { gauge, readings: readings.collect(), log })
        });
        Self(records.collect())
    }

    pub(super) fn set_logs(&mut self, logs: Vec<(String, Vec<Mute>)>) {
        for (id, log) in logs {
            if let Some(record) = self.0.get_mut(&id) {
                record.log = log.into();
            }
        }
    }

    /// Returns the time of the newest reading up to a moment.
    pub(super) fn newest(&self, until: Timestamp) -> Option<Timestamp> {
        let newest_in_record =
            |record: &GaugeRecord| record.readings.range(..=until).next_back().map(|(at, _)| *at);
        self.0.values().filter_map(newest_in_record).max()
    }
}

/// A gauge query, with the state to read and the current time.
struct GaugeQueryRun {
    state: Arc<State>,
    query: GaugeQuery,
    now: Timestamp,
}

impl GaugeQueryRun {
    /// Returns the gauges of the selected province. Each comes with its readings in the window, which may be none.
    fn gauges(&self) -> impl Iterator<Item = (&Arc<Gauge>, impl Iterator<Item = &Observation>)> {
        let (first, last) = self.query.window.bounds(self.now);
        let selected = self.state.gauges.value.0.values();
        let selected = selected
            .filter(|record| self.query.selector.matches_codes(None, record.gauge.region_code.as_deref()));
        selected.map(move |record| {
            // The map panics if a range ends before it begins.
            let readings = (first <= last).then(|| record.readings.range(first..=last));
            (&record.gauge, readings.into_iter().flatten().map(|(_, reading)| reading))
        })
    }
}

impl LocalStore {
    fn gauge_run(&self, query: &GaugeQuery) -> GaugeQueryRun {
        GaugeQueryRun { state: self.state(), query: query.clone(), now: self.clock.now() }
    }
}

#[async_trait]
impl GaugeStore for LocalStore {
    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError> {
        let run = self.gauge_run(query);
        let list = move |cancel: &CancelFlag| {
            let mut gauges = Vec::new();
            for (gauge, readings) in run.gauges() {
                let mut observations = Vec::new();
                for reading in readings {
                    cancel.check()?;
                    observations.push(reading.clone());
                }
                if !observations.is_empty() {
                    gauges.push(ObservedGauge::new(Arc::clone(gauge), observations));
                }
            }
            let layer = GaugeLayer(gauges);
            let GaugeQueryRun { state, query, now } = &run;
            let (_, last) = query.window.bounds(*now);
            let next = state.gauges.value.0.values().filter_map(|record| record.next_after(last)).min();
            let validity = query.window.validity(*now, layer.oldest(), next);
            Ok(state.gauges.with_value(layer).within(validity))
        };
        read_long(list).await
    }

    async fn all_gauges(&self) -> Result<Versioned<GaugeLayer>, StoreError> {
        let state = self.state();
        let gauge = |record: &GaugeRecord| ObservedGauge::new(Arc::clone(&record.gauge), Vec::new());
        let layer = GaugeLayer(state.gauges.value.0.values().map(gauge).collect());
        Ok(state.gauges.with_value(layer))
    }

    async fn recent_readings(&self, since: Timestamp) -> Result<Versioned<GaugeLayer>, StoreError> {
        let state = self.state();
        let list = move |cancel: &CancelFlag| {
            let mut gauges = Vec::new();
            for record in state.gauges.value.0.values() {
                cancel.check()?;
                gauges.push(ObservedGauge::new(Arc::clone(&record.gauge), record.recent(since)));
            }
            Ok(state.gauges.with_value(GaugeLayer(gauges)))
        };
        read_long(list).await
    }

    async fn count_readings(&self, query: &GaugeQuery, most: u64) -> Result<u64, StoreError> {
        let run = self.gauge_run(query);
        read_long(move |cancel| count_items(run.gauges().flat_map(|(_, readings)| readings), most, cancel))
            .await
    }

    async fn store_gauge(&self, readings: GaugeReadings) -> Result<usize, StoreError> {
        let held_since = self.journal.is_some().then(|| self.clock.now().saturating_sub(HELD_READINGS));
        let write = self.write(move |state, rows, _| {
            let current = state.gauges.value.0.get(&readings.id);
            let settings = current.map(|record| &record.gauge.settings);
            let (settings, sent) = readings.resolve(settings).map_err(StoreError::missing_alert)?;
            let sent: OrdMap<_, _> = sent.into_iter().collect();
            let stored = sent.len();
            let mute = current.and_then(|record| record.gauge.mute.clone());
            let log = current.map(|record| record.log.clone()).unwrap_or_default();
            let GaugeReadings { id, name, location, .. } = readings;
            let unmoved = current.filter(|record| record.gauge.location == location);
            let region_code = match unmoved {
                Some(record) => record.gauge.region_code.clone(),
                None => state.places.value.locator().locate(location).instance_region_code.map(String::from),
            };
            let previous = current.map(|record| record.readings.clone()).unwrap_or_default();
            let gauge = Arc::new(Gauge { id: id.clone(), name, region_code, location, settings, mute });
            let mut record = GaugeRecord { gauge, readings: sent.clone().union(previous), log };
            // Readings that are no longer held may differ from those in the file.
            let are_held =
                held_since.is_none_or(|since| sent.keys().next().is_none_or(|first| *first >= since));
            if let Some(since) = held_since {
                record.drop_before(since);
            }
            if are_held && current == Some(&record) {
                return Ok(stored);
            }
            rows.add(|| {
                let gauge_id: Arc<str> = id.as_str().into();
                let readings =
                    sent.into_iter().map(move |(_, reading)| Row::Reading(Arc::clone(&gauge_id), reading));
                [Row::Gauge(Arc::clone(&record.gauge))].into_iter().chain(readings)
            });
            state.gauges.get_mut().0.insert(id, record);
            Ok(stored)
        });
        write.await
    }

    async fn erase_readings(&self, before: Timestamp) -> Result<(), StoreError> {
        let write = self.write(move |state, rows, _| {
            // Readings may be only in the file, so the revision grows in any case.
            let gauges = &mut state.gauges.get_mut().0;
            let ids: Vec<String> = gauges.keys().cloned().collect();
            for id in &ids {
                if let Some(record) = gauges.get_mut(id) {
                    record.keep_since(before);
                }
            }
            rows.add(|| [Row::ErasedReadings(ids, before)]);
            Ok(())
        });
        write.await
    }

    async fn mute_gauge(&self, id: &str, entry: Mute) -> Result<(), StoreError> {
        let id = id.to_owned();
        let write = self.write(move |state, rows, _| {
            let current = state.gauges.value.0.get(&id).ok_or_else(|| StoreError::no_gauge(&id))?;
            let mut record = current.clone();
            record.gauge = Arc::new(Gauge { mute: Some(entry.clone()), ..Gauge::clone(&record.gauge) });
            if record.log.len() >= Mute::MOST {
                record.log.pop_front();
            }
            record.log.push_back(entry);
            let log = record.log.iter().cloned().collect();
            rows.add(|| [Row::Gauge(Arc::clone(&record.gauge)), Row::GaugeLog(id.clone(), log)]);
            state.gauges.get_mut().0.insert(id, record);
            Ok(())
        });
        write.await
    }

    async fn gauge_log(&self, id: &str) -> Result<Vec<Mute>, StoreError> {
        let state = self.state();
        let record = state.gauges.value.0.get(id).ok_or_else(|| StoreError::no_gauge(id))?;
        Ok(record.log.iter().rev().cloned().collect())
    }
}
