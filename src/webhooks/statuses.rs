use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::checkpoint::Checkpoint;
use crate::model::Timestamp;
use crate::stores::WebhookState;

/// After how long a call that is behind shows in the health of the data.
const LONG: Duration = Duration::from_hours(1);

/// How far each call has come, as this server knows it. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WebhookStatuses(Arc<Mutex<Vec<WebhookStatus>>>);

/// How far a call has come, as the health of the data shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WebhookStatus {
    pub(super) name: String,
    /// The time of the oldest event that the receiver has not taken.
    waiting_since: Option<Timestamp>,
    /// Whether the receiver has switched the call off.
    pub(super) off: bool,
}

impl WebhookStatuses {
    /// Returns the statuses of calls with these names.
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let all = names.map(|name| WebhookStatus { name: name.clone(), waiting_since: None, off: false });
        Self(Arc::new(Mutex::new(all.collect())))
    }

    pub(super) fn set(&self, name: &str, checkpoint: &Checkpoint) {
        if let Some(status) = self.all().iter_mut().find(|status| status.name == name) {
            (status.waiting_since, status.off) = (checkpoint.waiting(), checkpoint.off);
        }
    }

    /// Takes over what the store keeps.
    pub(super) fn learn(&self, kept: &BTreeMap<String, WebhookState>) {
        for (name, kept) in kept {
            self.set(name, &Checkpoint::read(&kept.text));
        }
    }

    /// Returns the status of each call.
    pub(super) fn get(&self) -> Vec<WebhookStatus> {
        self.all().clone()
    }

    /// Returns the calls that an operator should look at: those that are off, or behind for more than an hour.
    pub(crate) fn long_behind(&self, now: Timestamp) -> Vec<WebhookStatus> {
        let is_shown = |status: &&WebhookStatus| status.off || status.behind(now) > LONG;
        self.all().iter().filter(is_shown).cloned().collect()
    }

    fn all(&self) -> MutexGuard<'_, Vec<WebhookStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WebhookStatus {
    /// Returns how old the oldest event is that the receiver has not taken.
    pub(super) fn behind(&self, now: Timestamp) -> Duration {
        self.waiting_since.map_or(Duration::ZERO, |since| now.since(since))
    }
}
