use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::progress::Progress;
use crate::model::Timestamp;
use crate::stores::KeptCall;

/// After how long a call that is behind shows in the health of the data.
const LONG: Duration = Duration::from_hours(1);

/// How far each call has come, as this server knows it. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallStatuses(Arc<Mutex<BTreeMap<String, CallStatus>>>);

/// How far a call has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CallStatus {
    waiting: Option<Timestamp>,
    is_off: bool,
}

/// A call whose receiver has not taken an event for more than an hour, or has switched it off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BehindCall {
    name: String,
    /// The time of the oldest event that the receiver has not taken.
    waiting_since: Option<Timestamp>,
    off: bool,
}

impl CallStatuses {
    /// Returns the statuses of calls with these names.
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let all = names.map(|name| (name.clone(), CallStatus::default()));
        Self(Arc::new(Mutex::new(all.collect())))
    }

    pub(super) fn set(&self, name: &str, progress: &Progress) {
        if let Some(status) = self.all().get_mut(name) {
            *status = CallStatus { waiting: progress.waiting(), is_off: progress.is_off() };
        }
    }

    /// Takes over what the store keeps.
    pub(super) fn learn(&self, kept: &BTreeMap<String, KeptCall>) {
        for (name, kept) in kept {
            self.set(name, &Progress::read(&kept.text));
        }
    }

    /// Returns the name of each call, how far it is behind, and whether it is off.
    pub(super) fn behind(&self, now: Timestamp) -> Vec<(String, Duration, bool)> {
        let behind = |status: &CallStatus| status.waiting.map_or(Duration::ZERO, |since| now.since(since));
        self.all().iter().map(|(name, status)| (name.clone(), behind(status), status.is_off)).collect()
    }

    /// Returns the calls that an operator should look at.
    pub(crate) fn long_behind(&self, now: Timestamp) -> Vec<BehindCall> {
        let is_long = |status: &CallStatus| status.waiting.is_some_and(|since| now.since(since) > LONG);
        let shown = |(name, status): (&String, &CallStatus)| {
            let (name, waiting_since) = (name.clone(), status.waiting);
            (status.is_off || is_long(status)).then_some(BehindCall {
                name,
                waiting_since,
                off: status.is_off,
            })
        };
        self.all().iter().filter_map(shown).collect()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, CallStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
