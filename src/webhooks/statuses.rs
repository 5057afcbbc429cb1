use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::checkpoint::Checkpoint;
use crate::model::Timestamp;
use crate::stores::WebhookState;

/// The age of a pending event at which `/health/data` starts to list the webhook.
const LONG_BEHIND: Duration = Duration::from_hours(1);

/// The status of each webhook at this server's last read or write of the checkpoint. Clones share the statuses.
#[derive(Clone, Debug, Default)]
pub(crate) struct WebhookStatuses(Arc<Mutex<Vec<WebhookStatus>>>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WebhookStatus {
    pub(super) name: String,
    waiting_since: Option<Timestamp>,
    pub(super) off: bool,
}

impl WebhookStatuses {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let list = names.map(|name| WebhookStatus { name: name.clone(), waiting_since: None, off: false });
        Self(Arc::new(Mutex::new(list.collect())))
    }

    pub(super) fn set(&self, name: &str, checkpoint: &Checkpoint) {
        if let Some(status) = self.all().iter_mut().find(|status| status.name == name) {
            (status.waiting_since, status.off) = (checkpoint.waiting_since(), checkpoint.off);
        }
    }

    pub(super) fn update(&self, states: &BTreeMap<String, WebhookState>) {
        for (name, state) in states {
            self.set(name, &Checkpoint::read(&state.text));
        }
    }

    pub(super) fn get(&self) -> Vec<WebhookStatus> {
        self.all().clone()
    }

    /// Returns the webhooks that need an operator: disabled, or behind for more than an hour.
    pub(crate) fn long_behind(&self, now: Timestamp) -> Vec<WebhookStatus> {
        let is_shown = |status: &&WebhookStatus| status.off || status.behind(now) > LONG_BEHIND;
        self.all().iter().filter(is_shown).cloned().collect()
    }

    fn all(&self) -> MutexGuard<'_, Vec<WebhookStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WebhookStatus {
    pub(super) fn behind(&self, now: Timestamp) -> Duration {
        self.waiting_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}
