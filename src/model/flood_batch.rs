//! Batch requests, which change many areas at once, and the resulting batches.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::{Actor, AreaId, AreaLimit, FloodChange, FloodState, Timestamp, digits};

/// The number of a batch. The first batch has number 1, and later batches have higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchNumber(u64);

/// Error for a text or number that is not a [`BatchNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", BatchNumber::MAX)]
pub struct InvalidBatchNumber;

impl BatchNumber {
    /// The largest number: the maximum of a signed 64-bit database column.
    pub const MAX: u64 = i64::MAX as u64;

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    pub(crate) fn after(newest: Option<Self>) -> Self {
        Self(newest.map_or(1, |newest| newest.0 + 1))
    }
}

impl TryFrom<u64> for BatchNumber {
    type Error = InvalidBatchNumber;

    fn try_from(number: u64) -> Result<Self, InvalidBatchNumber> {
        (1..=Self::MAX).contains(&number).then_some(Self(number)).ok_or(InvalidBatchNumber)
    }
}

impl FromStr for BatchNumber {
    type Err = InvalidBatchNumber;

    fn from_str(text: &str) -> Result<Self, InvalidBatchNumber> {
        digits(text).ok_or(InvalidBatchNumber)?.try_into()
    }
}

impl fmt::Display for BatchNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A request to change many areas at once: all of them, or none.
#[derive(Clone, Debug)]
pub struct BatchRequest {
    /// The changes.
    pub changes: BatchOperation,
    /// The author.
    pub by: Actor,
    /// The areas that the author may change.
    pub limit: AreaLimit,
    /// A note for the log.
    pub note: Option<String>,
    /// The idempotency key: a repeated request with this key changes nothing.
    pub request: Option<RequestKey>,
    /// Whether to return the outcome without changing anything.
    pub preview: bool,
}

/// The changes of a batch request.
#[derive(Clone, Debug)]
pub enum BatchOperation {
    /// Sets or clears the states of areas, each listed once.
    Set(Vec<BatchItem>),
    /// Restores the states before a batch.
    Undo(BatchNumber),
}

/// The requested change of one area.
#[derive(Clone, Copy, Debug)]
pub struct BatchItem {
    /// The area.
    pub area: AreaId,
    /// The new state; `None` clears the state.
    pub state: Option<FloodState>,
    /// The state that the area must have before the change.
    pub after: Condition,
}

/// The state that an area must have for a batch request to succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Any state.
    Any,
    /// No state: the area must be dry.
    Dry,
    /// The state that was set at this time.
    SetAt(Timestamp),
}

/// Identifies a request. Unique among the requests of one credential subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// The UUID chosen by the client.
    pub id: u128,
    /// A digest of the request, to reject a different request with the same `id`.
    pub digest: [u8; 32],
}

/// The changes made by a batch request, all at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloodBatch {
    /// The number.
    pub number: BatchNumber,
    /// When the changes took effect.
    pub at: Timestamp,
    /// The author.
    pub by: Actor,
    /// The note for the log.
    pub note: Option<String>,
    /// The batch that this batch undoes, if any.
    pub undoes: Option<BatchNumber>,
    /// The idempotency key of the request.
    pub request: Option<RequestKey>,
    /// The areas and their new states, ordered by `area_id`.
    pub changes: Vec<(AreaId, Option<FloodState>)>,
}

impl FloodBatch {
    /// Returns the log entries of the batch. `received` is the time at which the store received the request.
    pub fn entries(&self, received: Timestamp) -> impl Iterator<Item = FloodChange> {
        self.changes.iter().map(move |&(area, state)| FloodChange {
            area,
            state,
            at: self.at,
            received,
            by: self.by.clone(),
        })
    }

    /// Returns whether the log entry of an area at a time belongs to this batch. An area has at most one entry for each time.
    #[must_use]
    pub fn has(&self, area: AreaId, at: Timestamp) -> bool {
        self.at == at && self.position(area).is_some()
    }

    fn position(&self, area: AreaId) -> Option<usize> {
        self.changes.binary_search_by_key(&area, |(area, _)| *area).ok()
    }
}

/// A log entry with its batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedChange {
    /// The change.
    pub change: FloodChange,
    /// The batch; `None` for single changes.
    pub batch: Option<BatchNumber>,
    /// The note of the batch.
    pub note: Option<String>,
    /// The batch that this batch undoes, if any.
    pub undoes: Option<BatchNumber>,
}

/// The changes of a log that were undone. A change whose undo was itself undone is not one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UndoneChanges(HashSet<(BatchNumber, AreaId)>);

impl UndoneChanges {
    /// Creates the set from a log, newest first.
    pub(crate) fn new(log: &[LoggedChange]) -> Self {
        let mut undone = Self::default();
        // An undo that was itself undone is known when it is reached.
        for logged in log.iter().filter(|logged| logged.undoes.is_some()) {
            if !undone.has(logged) {
                undone.0.extend(logged.undoes.map(|batch| (batch, logged.change.area)));
            }
        }
        undone
    }

    pub(crate) fn has(&self, LoggedChange { change, batch, .. }: &LoggedChange) -> bool {
        batch.is_some_and(|batch| self.0.contains(&(batch, change.area)))
    }
}

/// The outcome of a batch request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// The request succeeded, now or when it was first sent. In a preview: it would succeed.
    Done {
        /// The changes. In a preview, `number` and `at` are only the values expected now.
        batch: Arc<FloodBatch>,
        /// The areas of the undone batch that the undo left unchanged, because they had changed after that batch.
        left: Vec<AreaId>,
    },
    /// These areas do not exist. Nothing was changed.
    NoSuchAreas(Vec<AreaId>),
    /// These areas, ascending, are outside of the limit. Nothing was changed.
    OutsideLimit(Vec<AreaId>),
    /// These areas do not meet their conditions. Each is listed with its newest log entry. Nothing was changed.
    Conflicts(Vec<(AreaId, Option<FloodChange>)>),
    /// The batch to undo does not exist.
    NoSuchBatch,
    /// The batch is too old to be undone.
    TooOld,
    /// A different request with the same key succeeded before.
    OtherRequest,
}

#[derive(Debug, Default)]
pub(crate) struct BatchContext {
    pub(crate) newest_batch: Option<BatchNumber>,
    /// The existing areas of the request, each with its last two log entries, newest first.
    pub(crate) areas: HashMap<AreaId, [Option<FloodChange>; 2]>,
    /// The areas of the request or of the batch to undo that are outside of the request's limit, ascending.
    pub(crate) outside: Vec<AreaId>,
    /// The batch of an earlier request with the same subject and `id`, made within [`REPEATABLE`].
    pub(crate) repeated: Option<Arc<FloodBatch>>,
    pub(crate) undone: Option<Arc<FloodBatch>>,
    /// The batch that undid the batch `undone`, if any.
    pub(crate) undo: Option<Arc<FloodBatch>>,
}

#[derive(Debug)]
pub(crate) enum BatchDecision {
    /// The store must store the batch and its entries. The second field has the areas that the batch leaves unchanged.
    Make(Arc<FloodBatch>, Vec<AreaId>),
    Return(BatchOutcome),
}

/// How long an idempotency key is valid: within this time, a repeated request changes nothing.
pub const REPEATABLE: Duration = Duration::from_hours(24);
/// How long a batch can be undone.
pub const UNDOABLE: Duration = Duration::from_hours(24);

impl BatchRequest {
    /// Returns the batch to store. Returns the outcome instead if the request is repeated, refused or a preview.
    pub(crate) fn decide(&self, context: &BatchContext, now: Timestamp) -> BatchDecision {
        if let BatchOperation::Set(items) = &self.changes
            && let Err(outcome) = context.check_existence(items)
        {
            return BatchDecision::Return(outcome);
        }
        if !context.outside.is_empty() {
            return BatchDecision::Return(BatchOutcome::OutsideLimit(context.outside.clone()));
        }
        if let (Some(first), Some(request)) = (&context.repeated, self.request) {
            let is_same = first.request == Some(request);
            return BatchDecision::Return(if is_same {
                context.done(first)
            } else {
                BatchOutcome::OtherRequest
            });
        }
        let (changes, left) = match &self.changes {
            BatchOperation::Set(items) => match context.resolve(items) {
                Ok(changes) => (changes, Vec::new()),
                Err(outcome) => return BatchDecision::Return(outcome),
            },
            BatchOperation::Undo(_) => match (&context.undone, &context.undo) {
                (None, _) => return BatchDecision::Return(BatchOutcome::NoSuchBatch),
                (Some(_), Some(undo)) => return BatchDecision::Return(context.done(undo)),
                (Some(batch), None) if now.saturating_duration_since(batch.at) > UNDOABLE => {
                    return BatchDecision::Return(BatchOutcome::TooOld);
                }
                (Some(batch), None) => context.before_batch(batch),
            },
        };
        let batch = FloodBatch {
            number: BatchNumber::after(context.newest_batch),
            at: context.effective_time(&changes, now),
            by: self.by.clone(),
            note: self.note.clone(),
            undoes: context.undone.as_ref().map(|batch| batch.number),
            request: self.request,
            changes,
        };
        let batch = Arc::new(batch);
        if self.preview {
            return BatchDecision::Return(BatchOutcome::Done { batch, left });
        }
        BatchDecision::Make(batch, left)
    }
}

impl BatchContext {
    /// Returns when the changes take effect: at least 1 ms after the previous change of each of their areas.
    fn effective_time(&self, changes: &[(AreaId, Option<FloodState>)], now: Timestamp) -> Timestamp {
        let newest = changes.iter().filter_map(|(area, _)| self.areas.get(area)?[0].as_ref());
        newest.map(|newest| newest.at.saturating_add(Duration::from_millis(1))).fold(now, Timestamp::max)
    }

    fn done(&self, batch: &Arc<FloodBatch>) -> BatchOutcome {
        let undone = self.undone.iter().flat_map(|undone| &undone.changes).map(|(area, _)| *area);
        let left = undone.filter(|area| batch.position(*area).is_none());
        BatchOutcome::Done { batch: Arc::clone(batch), left: left.collect() }
    }

    fn check_existence(&self, items: &[BatchItem]) -> Result<(), BatchOutcome> {
        let unknown = items.iter().map(|item| item.area).filter(|area| !self.areas.contains_key(area));
        let mut unknown: Vec<_> = unknown.collect();
        unknown.sort_unstable();
        if unknown.is_empty() { Ok(()) } else { Err(BatchOutcome::NoSuchAreas(unknown)) }
    }

    /// Returns the changes ordered by area. Fails if areas do not meet their conditions.
    fn resolve(&self, items: &[BatchItem]) -> Result<Vec<(AreaId, Option<FloodState>)>, BatchOutcome> {
        let mut items = items.to_vec();
        items.sort_unstable_by_key(|item| item.area);
        let newest_entry = |area| self.areas.get(&area).and_then(|[newest, _]| newest.as_ref());
        let conflicts = items.iter().filter(|item| {
            let newest_flood = newest_entry(item.area).filter(|newest| newest.state.is_some());
            match item.after {
                Condition::Any => false,
                Condition::Dry => newest_flood.is_some(),
                Condition::SetAt(at) => newest_flood.is_none_or(|newest| newest.at != at),
            }
        });
        let conflicts: Vec<_> = conflicts.map(|item| (item.area, newest_entry(item.area).cloned())).collect();
        if !conflicts.is_empty() {
            return Err(BatchOutcome::Conflicts(conflicts));
        }
        Ok(items.into_iter().map(|item| (item.area, item.state)).collect())
    }

    /// Returns the changes that restore the states before the batch, and the areas that changed after it.
    fn before_batch(&self, batch: &FloodBatch) -> (Vec<(AreaId, Option<FloodState>)>, Vec<AreaId>) {
        let (mut changes, mut left) = (Vec::new(), Vec::new());
        for (area, _) in &batch.changes {
            match self.areas.get(area) {
                Some([Some(newest), previous]) if newest.at == batch.at => {
                    changes.push((*area, previous.as_ref().and_then(|previous| previous.state)));
                }
                _ => left.push(*area),
            }
        }
        (changes, left)
    }
}
