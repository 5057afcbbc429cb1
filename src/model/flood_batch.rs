//! Orders for many areas, and the batches of changes that they make.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::{Actor, AreaId, FloodChange, FloodState, Timestamp, digits};

/// The number of a batch, from 1. Later batches have larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchNumber(u64);

/// The error for a text or a number that is not a [`BatchNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", BatchNumber::MAX)]
pub struct InvalidBatchNumber;

impl BatchNumber {
    /// The largest number: the largest in a signed 64-bit database column.
    pub const MAX: u64 = i64::MAX as u64;

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    /// Returns the number of the batch after the newest one.
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

    /// Reads decimal digits.
    fn from_str(text: &str) -> Result<Self, InvalidBatchNumber> {
        digits(text).ok_or(InvalidBatchNumber)?.try_into()
    }
}

impl fmt::Display for BatchNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An order that changes many areas at once: all of them, or none.
#[derive(Clone, Debug)]
pub struct BatchRequest {
    /// What to change.
    pub changes: BatchOperation,
    /// Who gives the order.
    pub by: Actor,
    /// A note for the log.
    pub note: Option<String>,
    /// Identifies the request, so that repeating it changes nothing.
    pub request: Option<RequestKey>,
    /// Whether to return what the order would do, and change nothing.
    pub preview: bool,
}

/// What an order changes.
#[derive(Clone, Debug)]
pub enum BatchOperation {
    /// Sets or clears the states of areas, each of which is named once.
    Set(Vec<BatchItem>),
    /// Sets the states that the areas of a batch had before it.
    Undo(BatchNumber),
}

/// The order for one area.
#[derive(Clone, Copy, Debug)]
pub struct BatchItem {
    /// The area.
    pub area: AreaId,
    /// The state it gets; `None` clears it.
    pub state: Option<FloodState>,
    /// The state it must have.
    pub after: Condition,
}

/// The state that an area must have for an order to be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Any state.
    Any,
    /// None: it is dry.
    Dry,
    /// The state that was set at this time.
    SetAt(Timestamp),
}

/// Identifies a request among those of a credential's subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// The number that the client chose: a UUID.
    pub id: u128,
    /// A digest of what was requested: another request must not have the same number.
    pub digest: [u8; 32],
}

/// The changes that an order has made, all at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloodBatch {
    /// Its number.
    pub number: BatchNumber,
    /// When the changes took effect.
    pub at: Timestamp,
    /// Who gave the order.
    pub by: Actor,
    /// The note for the log.
    pub note: Option<String>,
    /// The batch that it undoes.
    pub undoes: Option<BatchNumber>,
    /// The request that gave the order.
    pub request: Option<RequestKey>,
    /// The areas and their new states, by `area_id`.
    pub changes: Vec<(AreaId, Option<FloodState>)>,
}

impl FloodBatch {
    /// Returns the entries of the log, which the store received at a time.
    pub fn entries(&self, received: Timestamp) -> impl Iterator<Item = FloodChange> {
        self.changes.iter().map(move |&(area, state)| FloodChange {
            area,
            state,
            at: self.at,
            received,
            by: self.by.clone(),
        })
    }

    /// Returns whether an entry of the log is of this batch. An area has one entry at each time.
    #[must_use]
    pub fn has(&self, area: AreaId, at: Timestamp) -> bool {
        self.at == at && self.position(area).is_some()
    }

    fn position(&self, area: AreaId) -> Option<usize> {
        self.changes.binary_search_by_key(&area, |(area, _)| *area).ok()
    }
}

/// An entry of the log, with the batch it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedChange {
    /// The change.
    pub change: FloodChange,
    /// The batch; `None` if the change was ordered alone.
    pub batch: Option<BatchNumber>,
    /// The note of the batch.
    pub note: Option<String>,
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// The order was carried out, now or when the same request came first; or it would be, if it is a preview.
    Done {
        /// The changes. The number of a preview means nothing.
        batch: Arc<FloodBatch>,
        /// The areas of the undone batch that have changed since, and so were left alone.
        left: Vec<AreaId>,
    },
    /// These areas do not exist. Nothing was changed.
    NoSuchAreas(Vec<AreaId>),
    /// These areas have other states than the order depends on, with their newest entry. Nothing was changed.
    Conflicts(Vec<(AreaId, Option<FloodChange>)>),
    /// There is no such batch to undo.
    NoSuchBatch,
    /// The batch is too old to be undone.
    TooOld,
    /// Another request with the same number was carried out.
    OtherRequest,
}

/// What a store knows about an order, read while no other change is made.
#[derive(Debug, Default)]
pub(crate) struct BatchContext {
    /// The number of the newest batch.
    pub(crate) newest_batch: Option<BatchNumber>,
    /// The areas of the order that exist, each with its last two entries, newest first.
    pub(crate) areas: HashMap<AreaId, [Option<FloodChange>; 2]>,
    /// The batch of the same subject's request with the same number, made within [`REPEATABLE`].
    pub(crate) repeated: Option<Arc<FloodBatch>>,
    /// The batch to be undone.
    pub(crate) undone: Option<Arc<FloodBatch>>,
    /// The batch that has undone it.
    pub(crate) undo: Option<Arc<FloodBatch>>,
}

/// What to do about an order.
#[derive(Debug)]
pub(crate) enum BatchDecision {
    /// Store the batch and its entries.
    Make(Arc<FloodBatch>, Vec<AreaId>),
    /// Store nothing.
    Return(BatchOutcome),
}

/// How long repeating a request changes nothing.
pub const REPEATABLE: Duration = Duration::from_hours(24);
/// How long a batch can be undone.
pub const UNDOABLE: Duration = Duration::from_hours(24);

impl BatchRequest {
    /// Decides what to do about the order.
    pub(crate) fn decide(&self, known: &BatchContext, now: Timestamp) -> BatchDecision {
        if let (Some(first), Some(request)) = (&known.repeated, self.request) {
            let is_same = first.request == Some(request);
            return BatchDecision::Return(if is_same {
                known.done(first)
            } else {
                BatchOutcome::OtherRequest
            });
        }
        let (changes, left) = match &self.changes {
            BatchOperation::Set(orders) => match known.settable(orders) {
                Ok(changes) => (changes, Vec::new()),
                Err(outcome) => return BatchDecision::Return(outcome),
            },
            BatchOperation::Undo(_) => match (&known.undone, &known.undo) {
                (None, _) => return BatchDecision::Return(BatchOutcome::NoSuchBatch),
                (Some(_), Some(undo)) => return BatchDecision::Return(known.done(undo)),
                (Some(batch), None) if now.since(batch.at) > UNDOABLE => {
                    return BatchDecision::Return(BatchOutcome::TooOld);
                }
                (Some(batch), None) => known.before(batch),
            },
        };
        let batch = FloodBatch {
            number: BatchNumber::after(known.newest_batch),
            at: known.moment(&changes, now),
            by: self.by.clone(),
            note: self.note.clone(),
            undoes: known.undone.as_ref().map(|batch| batch.number),
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
    /// Returns when changes that are made now take effect: at least 1 ms after the previous change of each of their areas.
    fn moment(&self, changes: &[(AreaId, Option<FloodState>)], now: Timestamp) -> Timestamp {
        let newest = changes.iter().filter_map(|(area, _)| self.areas.get(area)?[0].as_ref());
        newest.map(|newest| newest.at.after(Duration::from_millis(1))).fold(now, Timestamp::max)
    }

    /// Returns the outcome of an order that was carried out before.
    fn done(&self, batch: &Arc<FloodBatch>) -> BatchOutcome {
        let undone = self.undone.iter().flat_map(|undone| &undone.changes).map(|(area, _)| *area);
        let left = undone.filter(|area| batch.position(*area).is_none());
        BatchOutcome::Done { batch: Arc::clone(batch), left: left.collect() }
    }

    /// Returns the ordered states, by `area_id`.
    fn settable(&self, orders: &[BatchItem]) -> Result<Vec<(AreaId, Option<FloodState>)>, BatchOutcome> {
        let mut orders = orders.to_vec();
        orders.sort_unstable_by_key(|order| order.area);
        let unknown = orders.iter().map(|order| order.area).filter(|area| !self.areas.contains_key(area));
        let unknown: Vec<_> = unknown.collect();
        if !unknown.is_empty() {
            return Err(BatchOutcome::NoSuchAreas(unknown));
        }
        let newest = |area| self.areas.get(&area).and_then(|[newest, _]| newest.as_ref());
        let conflicts = orders.iter().filter(|order| {
            let flooded = newest(order.area).filter(|newest| newest.state.is_some());
            match order.after {
                Condition::Any => false,
                Condition::Dry => flooded.is_some(),
                Condition::SetAt(at) => flooded.is_none_or(|newest| newest.at != at),
            }
        });
        let conflicts: Vec<_> = conflicts.map(|order| (order.area, newest(order.area).cloned())).collect();
        if !conflicts.is_empty() {
            return Err(BatchOutcome::Conflicts(conflicts));
        }
        Ok(orders.into_iter().map(|order| (order.area, order.state)).collect())
    }

    /// Returns the states before a batch, and the areas that have changed since.
    fn before(&self, batch: &FloodBatch) -> (Vec<(AreaId, Option<FloodState>)>, Vec<AreaId>) {
        let (mut changes, mut left) = (Vec::new(), Vec::new());
        for (area, _) in &batch.changes {
            match self.areas.get(area) {
                Some([Some(newest), before]) if newest.at == batch.at => {
                    changes.push((*area, before.as_ref().and_then(|before| before.state)));
                }
                _ => left.push(*area),
            }
        }
        (changes, left)
    }
}
