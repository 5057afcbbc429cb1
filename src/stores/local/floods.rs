use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use imbl::{OrdSet, Vector};

use super::area_log::AreaLog;
use super::{LocalStore, Row, State, read_long};
use crate::model::CancelFlag;
use crate::model::alerts::LogEntry;
use crate::model::{
    ArchiveRecord, AreaId, AreaSelector, AreaSet, BatchContext, BatchDecision, BatchNumber, BatchOperation,
    BatchOutcome, BatchRequest, FloodBatch, FloodChange, FloodLayer, FloodStatus, LoggedChange, REPEATABLE,
    RequestKey, SeriesPoint, StateChange, Timestamp, archive, series,
};
use crate::stores::{
    EntryQuery, FloodLogQuery, FloodQuery, FloodStore, HistoryQuery, LogQuery, SetFloodState, StoreError,
    Versioned,
};

/// The logs of all areas, which also give the states.
#[derive(Clone, Debug)]
pub(super) struct Floods {
    areas: Arc<AreaSet>,
    /// The log of each area, by its position in the area set.
    logs: Vector<AreaLog>,
    /// The positions of the areas that have a state.
    flooded: OrdSet<usize>,
    /// The latest time of a change.
    newest: Option<Timestamp>,
    /// The batches, by their numbers.
    batches: Vector<Arc<FloodBatch>>,
    /// The numbers of the batches, by their times. Several can have one time, for different areas.
    batch_times: OrdSet<(Timestamp, BatchNumber)>,
}

impl Floods {
    /// Creates the floods from a log, which must ascend in time and name only areas of the set, as a data set's log
    /// does.
    pub(super) fn new(areas: Arc<AreaSet>, log: Vec<FloodChange>) -> Self {
        let logs = std::iter::repeat_n(AreaLog::default(), areas.len()).collect();
        let mut floods = Self {
            areas,
            logs,
            flooded: OrdSet::new(),
            newest: None,
            batches: Vector::new(),
            batch_times: OrdSet::new(),
        };
        for change in log {
            if let Some(position) = floods.areas.position(change.area) {
                floods.apply(position, change, None);
            }
        }
        floods
    }

    /// Adds a change to the log of an area. `undone` is when the change took effect that this one undoes.
    fn apply(&mut self, position: usize, change: FloodChange, undone: Option<Timestamp>) {
        let (state, at) = (change.state, change.at);
        if let Some(log) = self.logs.get_mut(position) {
            log.push(change, undone);
            match state {
                Some(_) => self.flooded.insert(position),
                None => self.flooded.remove(&position),
            };
            self.newest = self.newest.max(Some(at));
        }
    }

    /// Adds the batches of the log, which is complete, by their numbers. Those that undo others give their entries the times of
    /// the states that they restore.
    pub(super) fn add_batches(&mut self, batches: Vec<FloodBatch>) {
        for batch in batches {
            let batch = Arc::new(batch);
            self.add_batch(Arc::clone(&batch));
            let Some(undone) = self.undone_by(&batch) else { continue };
            for (area, _) in &batch.changes {
                let log = self.areas.position(*area).and_then(|position| self.logs.get_mut(position));
                if let Some(log) = log {
                    log.restore(*area, batch.at, undone);
                }
            }
        }
    }

    fn add_batch(&mut self, batch: Arc<FloodBatch>) {
        self.batch_times.insert((batch.at, batch.number));
        self.batches.push_back(batch);
    }

    /// Returns when the changes took effect that a batch undoes.
    fn undone_by(&self, batch: &FloodBatch) -> Option<Timestamp> {
        self.batch(batch.undoes?).map(|undone| undone.at)
    }

    /// Returns the batches from one moment to another, both included, the latest first.
    fn batches_within(&self, from: Timestamp, until: Timestamp) -> impl Iterator<Item = &Arc<FloodBatch>> {
        let first = BatchNumber::after(None);
        let last = BatchNumber::try_from(BatchNumber::MAX).unwrap_or(first);
        let numbers = self.batch_times.range((from, first)..=(until, last)).rev();
        numbers.filter_map(|(_, number)| self.batch(*number))
    }

    fn batch(&self, number: BatchNumber) -> Option<&Arc<FloodBatch>> {
        let found = self.batches.binary_search_by_key(&number, |batch| batch.number);
        self.batches.get(found.ok()?)
    }

    /// Returns an entry of the log with its batch.
    fn with_batch(&self, change: FloodChange) -> LoggedChange {
        let batch = self.batches_within(change.at, change.at).find(|batch| batch.has(change.area, change.at));
        LoggedChange {
            batch: batch.map(|batch| batch.number),
            note: batch.and_then(|batch| batch.note.clone()),
            change,
        }
    }

    /// Returns what an order depends on.
    fn known(&self, order: &BatchRequest, now: Timestamp) -> BatchContext {
        let recent = || self.batches_within(now.before(REPEATABLE), Timestamp::LAST);
        let is_repeated = |batch: &&Arc<FloodBatch>| {
            let id = |request: Option<RequestKey>| request.map(|request| request.id);
            batch.by.subject == order.by.subject && id(batch.request) == id(order.request)
        };
        let (undone, areas): (_, Vec<AreaId>) = match &order.changes {
            BatchOperation::Set(orders) => (None, orders.iter().map(|order| order.area).collect()),
            BatchOperation::Undo(number) => {
                let undone = self.batch(*number);
                (
                    undone.cloned(),
                    undone.iter().flat_map(|batch| &batch.changes).map(|(area, _)| *area).collect(),
                )
            }
        };
        let areas = areas.into_iter().filter_map(|area| {
            let mut latest = self.log(area)?.latest(area, None, 2);
            Some((area, [latest.next(), latest.next()]))
        });
        let undoes = |batch: &&Arc<FloodBatch>| {
            batch.undoes.is_some() && batch.undoes == undone.as_ref().map(|of| of.number)
        };
        BatchContext {
            newest_batch: self.batches.last().map(|batch| batch.number),
            areas: areas.collect(),
            repeated: order.request.and_then(|_| recent().find(is_repeated)).cloned(),
            undo: self.batches.iter().rev().find(undoes).cloned(),
            undone,
        }
    }

    /// Returns the log of all areas, newest first, and entries of one time by `area_id`.
    fn newest_first(&self, before: Option<Timestamp>) -> impl Iterator<Item = FloodChange> {
        let logs = self.areas.iter().zip(&self.logs);
        let mut logs: Vec<_> =
            logs.map(|(area, log)| log.latest(area.id, before, usize::MAX).peekable()).collect();
        let heads = logs.iter_mut().enumerate();
        let mut heads: BinaryHeap<_> =
            heads.filter_map(|(number, log)| Some((log.peek()?.at, Reverse(number)))).collect();
        iter::from_fn(move || {
            let (_, Reverse(number)) = heads.pop()?;
            let log = logs.get_mut(number)?;
            let change = log.next();
            heads.extend(log.peek().map(|next| (next.at, Reverse(number))));
            change
        })
    }

    /// Returns the log of an area; `None` if there is no such area.
    fn log(&self, area: AreaId) -> Option<&AreaLog> {
        self.logs.get(self.areas.position(area)?)
    }

    /// Returns whether the area at a position is flooded, and since when.
    fn status(&self, position: usize) -> FloodStatus {
        self.logs.get(position).map_or(FloodStatus::NEVER_FLOODED, AreaLog::status)
    }

    /// Returns the latest time of a change, and how many areas have each state, from 1 to 4.
    pub(super) fn overview(&self) -> (Option<Timestamp>, [u64; 4]) {
        let mut flooded = [0; 4];
        for current in self.flooded.iter().filter_map(|position| self.status(*position).current()) {
            flooded[usize::from(current.state.code()) - 1] += 1;
        }
        (self.newest, flooded)
    }

    /// Returns the selected areas with their states. With a minimum state, this costs as much as there are flooded areas.
    fn select(&self, query: &FloodQuery) -> FloodLayer {
        let is_selected =
            |(position, status): &(usize, FloodStatus)| query.asks_for(&self.areas[*position], status);
        let selected = if query.minimum_state.is_some() {
            let flooded = self.flooded.iter().map(|position| (*position, self.status(*position)));
            flooded.filter(is_selected).collect()
        } else {
            self.logs.iter().map(AreaLog::status).enumerate().filter(is_selected).collect()
        };
        FloodLayer::new(Arc::clone(&self.areas), selected)
    }

    /// Returns the logs of the selected areas, by `area_id`.
    fn selected(&self, selector: &AreaSelector) -> impl Iterator<Item = (AreaId, &AreaLog)> {
        self.logs_at(self.areas.selected(selector))
    }

    /// Returns the logs of the areas whose entries a query selects, by `area_id`.
    fn logs_of(&self, query: &EntryQuery) -> impl Iterator<Item = (AreaId, &AreaLog)> {
        self.logs_at(match query.area {
            None => self.areas.selected(&query.selector),
            Some(area) => {
                let position = self.areas.position(area);
                let selected = position.filter(|position| query.selector.matches(&self.areas[*position]));
                Some(selected.into_iter().collect())
            }
        })
    }

    /// Returns the logs of the areas at these positions, or of all areas.
    fn logs_at(&self, positions: Option<Vec<usize>>) -> impl Iterator<Item = (AreaId, &AreaLog)> {
        let all = positions.is_none().then(|| self.logs.iter().enumerate());
        let some = positions.into_iter().flatten().filter_map(|at| Some((at, self.logs.get(at)?)));
        all.into_iter().flatten().chain(some).map(|(position, log)| (self.areas[position].id, log))
    }
}

impl State {
    fn set_flood_state(&mut self, order: SetFloodState, now: Timestamp) -> Result<FloodChange, StoreError> {
        let SetFloodState { area, state, by } = order;
        let floods = &self.floods.value;
        let position = floods.areas.position(area).ok_or_else(|| StoreError::no_area(area))?;
        let last = floods.logs.get(position).and_then(AreaLog::last).map(|last| last.at);
        // At least 1 ms after the previous change of the area, even if the clock has stepped back.
        let at = last.map_or(now, |last| now.max(last.after(Duration::from_millis(1))));
        let change = FloodChange { area, state, at, received: now, by };
        self.floods.get_mut().apply(position, change.clone(), None);
        Ok(change)
    }
}

impl State {
    /// Carries out an order. Also returns the batch that was made.
    fn change_floods(
        &mut self,
        order: &BatchRequest,
        now: Timestamp,
    ) -> (BatchOutcome, Option<Arc<FloodBatch>>) {
        let (batch, left) = match order.decide(&self.floods.value.known(order, now), now) {
            BatchDecision::Return(outcome) => return (outcome, None),
            BatchDecision::Make(batch, left) => (batch, left),
        };
        if !batch.changes.is_empty() {
            self.floods.bump_revision();
        }
        let floods = self.floods.get_mut_untracked();
        let undone = floods.undone_by(&batch);
        for change in batch.entries(now) {
            if let Some(position) = floods.areas.position(change.area) {
                floods.apply(position, change, undone);
            }
        }
        floods.add_batch(Arc::clone(&batch));
        (BatchOutcome::Done { batch: Arc::clone(&batch), left }, Some(batch))
    }
}

/// Passes on the changes until no caller waits for the result any more.
fn checked(
    changes: impl Iterator<Item = StateChange>,
    stop: &CancelFlag,
) -> impl Iterator<Item = StateChange> {
    changes.take_while(|_| stop.check().is_ok())
}

#[async_trait]
impl FloodStore for LocalStore {
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        let floods = &self.state().floods;
        Ok(floods.with_value(floods.value.select(query)))
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |stop| {
            let selected = state.floods.value.selected(&query.selector);
            let within = selected.map(|(area, log)| (area, checked(log.within(&query.period), stop)));
            let records = archive(within, &query.period);
            stop.check()?;
            Ok(state.floods.with_value(records))
        })
        .await
    }

    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |stop| {
            // The first hour is counted at its beginning, which may be before the period begins.
            let hours = query.period.whole_hours();
            let selected = state.floods.value.selected(&query.selector);
            let points = series(selected.map(|(_, log)| checked(log.within(&hours), stop)), &query.period);
            stop.check()?;
            Ok(state.floods.with_value(points))
        })
        .await
    }

    async fn flood_log(&self, area: AreaId) -> Result<Vec<FloodChange>, StoreError> {
        let state = self.state();
        Ok(state.floods.value.log(area).map(|log| log.changes(area).collect()).unwrap_or_default())
    }

    async fn latest_flood_changes(&self, query: &LogQuery) -> Result<Vec<FloodChange>, StoreError> {
        let LogQuery { area, before, most } = *query;
        let state = self.state();
        let log = state.floods.value.log(area).ok_or_else(|| StoreError::no_area(area))?;
        Ok(log.latest(area, before, most as usize).collect())
    }

    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> Result<Versioned<Vec<(AreaId, Vec<LogEntry>)>>, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |stop| {
            let mut found = Vec::new();
            for (id, log) in state.floods.value.logs_of(&query) {
                stop.check()?;
                let entries: Vec<_> = log.entries(query.from, query.until).collect();
                if !entries.is_empty() {
                    found.push((id, entries));
                }
            }
            Ok(state.floods.with_value(found))
        })
        .await
    }

    async fn count_flood_entries(&self, query: &EntryQuery, most: u64) -> Result<u64, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |stop| {
            let mut count = 0;
            for (_, log) in state.floods.value.logs_of(&query) {
                stop.check()?;
                count += log.count(query.from, query.until) as u64;
                if count >= most {
                    return Ok(most);
                }
            }
            Ok(count)
        })
        .await
    }

    async fn set_flood_state(&self, order: SetFloodState) -> Result<FloodChange, StoreError> {
        let setting = self.write(|state, rows, now| {
            let change = state.set_flood_state(order, now)?;
            rows.add(|| [Row::FloodState(change.clone())]);
            Ok(change)
        });
        setting.await
    }

    async fn change_floods(&self, order: BatchRequest) -> Result<BatchOutcome, StoreError> {
        let changing = self.write(move |state, rows, now| {
            let (outcome, made) = state.change_floods(&order, now);
            if let Some(batch) = made {
                rows.add(|| batch.entries(now).map(Row::FloodState).collect::<Vec<_>>());
                rows.add(|| [Row::FloodBatch(batch)]);
            }
            Ok(outcome)
        });
        changing.await
    }

    async fn all_flood_changes(&self, query: &FloodLogQuery) -> Result<Vec<LoggedChange>, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |stop| {
            let floods = &state.floods.value;
            let batch = query.batch.map(|number| floods.batch(number));
            // The entries of a batch have one time.
            let earliest = query.since.max(batch.flatten().map(|batch| batch.at));
            let upper = batch.flatten().map(|batch| batch.at.after(Duration::from_millis(1)));
            let before = query
                .before
                .into_iter()
                .chain(query.until.map(|until| until.after(Duration::from_millis(1))))
                .chain(upper)
                .min();
            let log = floods.newest_first(before);
            let within = log.take_while(|change| {
                earliest.is_none_or(|earliest| change.at >= earliest) && stop.check().is_ok()
            });
            let is_asked = |change: &FloodChange| {
                query.asks_for(change)
                    && batch.is_none_or(|batch| batch.is_some_and(|batch| batch.has(change.area, change.at)))
            };
            let page = query.page(within.filter(is_asked), |change| change.at);
            stop.check()?;
            Ok(page.into_iter().map(|change| floods.with_batch(change)).collect())
        })
        .await
    }
}
