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
    BatchOutcome, BatchRequest, FloodBatch, FloodChange, FloodLayer, FloodStatus, LoggedChange, PlaceNames,
    REPEATABLE, RequestKey, SeriesPoint, StateChange, Timestamp, archive, series,
};
use crate::stores::{
    EntryQuery, FloodLogQuery, FloodQuery, FloodStore, HistoryQuery, LogQuery, SetFloodState, StoreError,
    Versioned,
};

/// The flood logs of all areas. The states of the areas are derived from them.
#[derive(Clone, Debug)]
pub(super) struct Floods {
    areas: Arc<AreaSet>,
    /// One log for each area, at the position of the area in `areas`.
    logs: Vector<AreaLog>,
    flooded: OrdSet<usize>,
    newest: Option<Timestamp>,
    batches: Vector<Arc<FloodBatch>>,
    /// The numbers of the batches by time. Several batches can have the same time if they change different areas.
    batch_times: OrdSet<(Timestamp, BatchNumber)>,
}

impl Floods {
    /// Builds the logs of the areas from the log of a data set, which must be oldest first. Ignores unknown areas.
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

    /// Adds a change to the log of an area. `undone` is the time of the earlier change that `change` undoes.
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

    /// Adds batches, ascending by number, to a complete log. If one undoes another, its entries get the restored states' times.
    pub(super) fn add_batches(&mut self, batches: Vec<FloodBatch>) {
        for batch in batches {
            let batch = Arc::new(batch);
            self.add_batch(Arc::clone(&batch));
            let Some(undone) = self.undone_time(&batch) else { continue };
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

    /// Returns the time of the changes that a batch undoes; `None` if it undoes nothing.
    fn undone_time(&self, batch: &FloodBatch) -> Option<Timestamp> {
        self.batch(batch.undoes?).map(|undone| undone.at)
    }

    /// Returns the batches within a span of time, both ends included, latest first.
    fn batches_within(&self, from: Timestamp, until: Timestamp) -> impl Iterator<Item = &Arc<FloodBatch>> {
        let first = BatchNumber::after(None);
        let last = BatchNumber::try_from(BatchNumber::MAX).unwrap_or(first);
        let numbers = self.batch_times.range((from, first)..=(until, last)).rev();
        numbers.filter_map(|(_, number)| self.batch(*number))
    }

    fn batch(&self, number: BatchNumber) -> Option<&Arc<FloodBatch>> {
        let index = self.batches.binary_search_by_key(&number, |batch| batch.number);
        self.batches.get(index.ok()?)
    }

    /// Adds to a change the batch that it belongs to, if any.
    fn with_batch(&self, change: FloodChange) -> LoggedChange {
        let batch = self.batches_within(change.at, change.at).find(|batch| batch.has(change.area, change.at));
        LoggedChange {
            batch: batch.map(|batch| batch.number),
            note: batch.and_then(|batch| batch.note.clone()),
            undoes: batch.and_then(|batch| batch.undoes),
            change,
        }
    }

    /// Returns the stored data that `BatchRequest::decide` needs.
    fn batch_context(&self, request: &BatchRequest, now: Timestamp) -> BatchContext {
        let recent = || self.batches_within(now.saturating_sub(REPEATABLE), Timestamp::LAST);
        let has_same_request = |batch: &&Arc<FloodBatch>| {
            let id = |request: Option<RequestKey>| request.map(|request| request.id);
            batch.by.subject == request.by.subject && id(batch.request) == id(request.request)
        };
        let (undone, areas): (_, Vec<AreaId>) = match &request.changes {
            BatchOperation::Set(changes) => (None, changes.iter().map(|change| change.area).collect()),
            BatchOperation::Undo(number) => {
                let undone = self.batch(*number);
                (
                    undone.cloned(),
                    undone.iter().flat_map(|batch| &batch.changes).map(|(area, _)| *area).collect(),
                )
            }
        };
        let outside = request.limit.outside(areas.iter().map(|area| (*area, self.names(*area))));
        let areas = areas.into_iter().filter_map(|area| {
            let mut latest = self.log(area)?.latest(area, None, 2);
            Some((area, [latest.next(), latest.next()]))
        });
        let undoes = |batch: &&Arc<FloodBatch>| {
            batch.undoes.is_some() && batch.undoes == undone.as_ref().map(|batch| batch.number)
        };
        BatchContext {
            newest_batch: self.batches.last().map(|batch| batch.number),
            areas: areas.collect(),
            outside,
            repeated: request.request.and_then(|_| recent().find(has_same_request)).cloned(),
            undo: self.batches.iter().rev().find(undoes).cloned(),
            undone,
        }
    }

    /// Merges the logs of all areas, newest first; entries with the same time are ordered by `area_id`.
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

    fn names(&self, area: AreaId) -> Option<PlaceNames<'_>> {
        self.areas.find(area).map(PlaceNames::from)
    }

    fn log(&self, area: AreaId) -> Option<&AreaLog> {
        self.logs.get(self.areas.position(area)?)
    }

    fn status(&self, position: usize) -> FloodStatus {
        self.logs.get(position).map_or(FloodStatus::NEVER_FLOODED, AreaLog::status)
    }

    /// Returns the time of the newest change, and the number of areas with each state, from 1 to 4.
    pub(super) fn overview(&self) -> (Option<Timestamp>, [u64; 4]) {
        let mut flooded = [0; 4];
        for current in self.flooded.iter().filter_map(|position| self.status(*position).current()) {
            flooded[usize::from(current.state.code()) - 1] += 1;
        }
        (self.newest, flooded)
    }

    /// Returns the selected areas. With a minimum state, costs O(flooded areas).
    fn select(&self, query: &FloodQuery) -> FloodLayer {
        let is_selected =
            |(position, status): &(usize, FloodStatus)| query.matches(&self.areas[*position], status);
        let selected = if query.minimum_state.is_some() {
            let flooded = self.flooded.iter().map(|position| (*position, self.status(*position)));
            flooded.filter(is_selected).collect()
        } else {
            self.logs.iter().map(AreaLog::status).enumerate().filter(is_selected).collect()
        };
        FloodLayer::new(Arc::clone(&self.areas), selected)
    }

    fn logs_in(&self, selector: &AreaSelector) -> impl Iterator<Item = (AreaId, &AreaLog)> {
        self.logs_at(self.areas.selected(selector))
    }

    fn selected_logs(&self, query: &EntryQuery) -> impl Iterator<Item = (AreaId, &AreaLog)> {
        self.logs_at(match query.area {
            None => self.areas.selected(&query.selector),
            Some(area) => {
                let position = self.areas.position(area);
                let selected = position.filter(|position| query.selector.matches(&self.areas[*position]));
                Some(selected.into_iter().collect())
            }
        })
    }

    /// Returns the logs at these positions; `None` for all areas.
    fn logs_at(&self, positions: Option<Vec<usize>>) -> impl Iterator<Item = (AreaId, &AreaLog)> {
        let all = positions.is_none().then(|| self.logs.iter().enumerate());
        let some = positions.into_iter().flatten().filter_map(|at| Some((at, self.logs.get(at)?)));
        all.into_iter().flatten().chain(some).map(|(position, log)| (self.areas[position].id, log))
    }
}

impl State {
    fn set_flood_state(&mut self, change: SetFloodState, now: Timestamp) -> Result<FloodChange, StoreError> {
        let SetFloodState { area, state, by, limit } = change;
        let floods = &self.floods.value;
        let position = floods.areas.position(area).ok_or_else(|| StoreError::no_area(area))?;
        let areas = limit.outside([(area, floods.names(area))]);
        if !areas.is_empty() {
            return Err(StoreError::OutsideLimit { areas });
        }
        let last = floods.logs.get(position).and_then(AreaLog::last).map(|last| last.at);
        // Changes of an area are at least 1 ms apart, even if the clock has stepped back.
        let at = last.map_or(now, |last| now.max(last.saturating_add(Duration::from_millis(1))));
        let change = FloodChange { area, state, at, received: now, by };
        self.floods.get_mut().apply(position, change.clone(), None);
        Ok(change)
    }

    /// Changes the areas of a request. Also returns the batch, if the request creates one.
    fn change_floods(
        &mut self,
        request: &BatchRequest,
        now: Timestamp,
    ) -> (BatchOutcome, Option<Arc<FloodBatch>>) {
        let (batch, left) = match request.decide(&self.floods.value.batch_context(request, now), now) {
            BatchDecision::Return(outcome) => return (outcome, None),
            BatchDecision::Make(batch, left) => (batch, left),
        };
        if !batch.changes.is_empty() {
            self.floods.bump_revision();
        }
        let floods = self.floods.get_mut_untracked();
        let undone = floods.undone_time(&batch);
        for change in batch.entries(now) {
            if let Some(position) = floods.areas.position(change.area) {
                floods.apply(position, change, undone);
            }
        }
        floods.add_batch(Arc::clone(&batch));
        (BatchOutcome::Done { batch: Arc::clone(&batch), left }, Some(batch))
    }
}

/// Yields `changes` until the read is cancelled. The caller must then check `cancel`, because the result may be incomplete.
fn take_until_cancelled(
    changes: impl Iterator<Item = StateChange>,
    cancel: &CancelFlag,
) -> impl Iterator<Item = StateChange> {
    changes.take_while(|_| cancel.check().is_ok())
}

#[async_trait]
impl FloodStore for LocalStore {
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        let floods = &self.state().floods;
        Ok(floods.with_value(floods.value.select(query)))
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |cancel| {
            let selected = state.floods.value.logs_in(&query.selector);
            let within = selected
                .map(|(area, log)| (area, take_until_cancelled(log.changes_within(&query.period), cancel)));
            let records = archive(within, &query.period);
            cancel.check()?;
            Ok(state.floods.with_value(records))
        })
        .await
    }

    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |cancel| {
            // The series counts whole hours, and the first hour may start before the period.
            let hours = query.period.whole_hours();
            let selected = state.floods.value.logs_in(&query.selector);
            let points = series(
                selected.map(|(_, log)| take_until_cancelled(log.changes_within(&hours), cancel)),
                &query.period,
            );
            cancel.check()?;
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
        read_long(move |cancel| {
            let mut logs = Vec::new();
            for (id, log) in state.floods.value.selected_logs(&query) {
                cancel.check()?;
                let entries: Vec<_> = log.entries(query.from, query.until).collect();
                if !entries.is_empty() {
                    logs.push((id, entries));
                }
            }
            Ok(state.floods.with_value(logs))
        })
        .await
    }

    async fn count_flood_entries(&self, query: &EntryQuery, most: u64) -> Result<u64, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |cancel| {
            let mut count = 0;
            for (_, log) in state.floods.value.selected_logs(&query) {
                cancel.check()?;
                count += log.count(query.from, query.until) as u64;
                if count >= most {
                    return Ok(most);
                }
            }
            Ok(count)
        })
        .await
    }

    async fn set_flood_state(&self, change: SetFloodState) -> Result<FloodChange, StoreError> {
        let write = self.write(|state, rows, now| {
            let logged = state.set_flood_state(change, now)?;
            rows.add(|| [Row::FloodState(logged.clone())]);
            Ok(logged)
        });
        write.await
    }

    async fn change_floods(&self, request: BatchRequest) -> Result<BatchOutcome, StoreError> {
        let write = self.write(move |state, rows, now| {
            let (outcome, batch) = state.change_floods(&request, now);
            if let Some(batch) = batch {
                rows.add(|| batch.entries(now).map(Row::FloodState).collect::<Vec<_>>());
                rows.add(|| [Row::FloodBatch(batch)]);
            }
            Ok(outcome)
        });
        write.await
    }

    async fn all_flood_changes(&self, query: &FloodLogQuery) -> Result<Vec<LoggedChange>, StoreError> {
        let (state, query) = (self.state(), query.clone());
        read_long(move |cancel| {
            let floods = &state.floods.value;
            let batch = query.batch.map(|number| floods.batch(number));
            // All entries of a batch have the same time, so only entries with this time are read.
            let earliest = query.since.max(batch.flatten().map(|batch| batch.at));
            let upper = batch.flatten().map(|batch| batch.at.saturating_add(Duration::from_millis(1)));
            let before = query
                .before
                .into_iter()
                .chain(query.until.map(|until| until.saturating_add(Duration::from_millis(1))))
                .chain(upper)
                .min();
            let log = floods.newest_first(before);
            let within = log.take_while(|change| {
                earliest.is_none_or(|earliest| change.at >= earliest) && cancel.check().is_ok()
            });
            let is_selected = |change: &FloodChange| {
                query.matches(change)
                    && batch.is_none_or(|batch| batch.is_some_and(|batch| batch.has(change.area, change.at)))
            };
            let page = query.page(within.filter(is_selected), |change| change.at);
            cancel.check()?;
            Ok(page.into_iter().map(|change| floods.with_batch(change)).collect())
        })
        .await
    }
}
