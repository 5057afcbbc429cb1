use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rocket::tokio::time;
use serde::{Deserialize, Serialize};

use super::flood_map::{FloodMap, Mark};
use super::subscription::Subscription;
use super::{POLL_INTERVAL, Shared};
use crate::model::Timestamp;
use crate::stores::{PushRecord, PushUpdate, Resource, Revision, Store, StoreError};
use crate::webhooks::{Lease, Task, invalidate_lease, replace_state};

/// The name of the stored checkpoint among the states of webhooks.
const NAME: &str = "*push";
const PAGE: u32 = 1_000;
/// How often floods are read although no state has changed: time alone makes a state lapse.
const REREAD_INTERVAL: Duration = Duration::from_mins(1);
/// A subscription ends after this time without a visit to the page.
const MAX_AGE: Duration = Duration::from_hours(24 * 400);
/// The interval at which ended subscriptions are removed.
const CLEANING_INTERVAL: Duration = Duration::from_hours(24);

/// The stored position of the fan-out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Checkpoint {
    /// The epoch of the data. In restored data, nothing counts as changed.
    epoch: Option<u64>,
    /// The number of fan-outs that have begun.
    number: u64,
    /// The changes of ended fan-outs.
    marks: BTreeMap<u64, Mark>,
    /// The changes of the fan-out that has begun; empty if it has ended.
    changed: BTreeMap<u64, Mark>,
    /// Whether an import has added changes, which phones get no messages about.
    #[serde(default)]
    is_imported: bool,
}

/// Marks the subscriptions of changed areas as due.
///
/// After a crash, the fan-out that had begun is repeated: each subscription remembers the last one that reached it.
pub(super) struct FanOut {
    shared: Arc<Shared>,
    lease: Arc<Lease>,
    /// The epoch of the lease at which the checkpoint was read.
    lease_epoch: Option<u64>,
    version: u64,
    checkpoint: Checkpoint,
    /// The revision at which floods were read last, and when.
    read: Option<(Revision, Timestamp)>,
    cleaned: Option<Timestamp>,
}

#[async_trait]
impl Task for FanOut {
    const WHAT: &'static str = "push messages";

    async fn run_step(&mut self) -> Result<Duration, StoreError> {
        self.step().await
    }
}

impl FanOut {
    pub(super) fn new(shared: Arc<Shared>, lease: Arc<Lease>) -> Self {
        Self {
            shared,
            lease,
            lease_epoch: None,
            version: 0,
            checkpoint: Checkpoint::default(),
            read: None,
            cleaned: None,
        }
    }

    /// Runs one fan-out if states have changed. Returns the wait until the next step.
    pub(super) async fn step(&mut self) -> Result<Duration, StoreError> {
        let Some(epoch) = self.lease.epoch() else {
            self.lease_epoch = None;
            return Ok(POLL_INTERVAL);
        };
        let (store, now) = (Arc::clone(&self.shared.store), self.shared.clock.now());
        let revision = store.revision(Resource::Floods).await?;
        let is_read = self.read.is_some_and(|(read, at)| {
            read == revision && now.saturating_duration_since(at) < REREAD_INTERVAL
        });
        if self.lease_epoch == Some(epoch) && is_read {
            return Ok(POLL_INTERVAL);
        }
        let map = self.shared.map().await?;
        let marks = map.marks(now);
        if self.lease_epoch != Some(epoch) {
            self.lease_epoch = Some(epoch);
            self.load(&marks).await?;
            if self.lease_epoch.is_none() {
                return Ok(Duration::ZERO);
            }
        }
        if self.checkpoint.changed.is_empty() {
            let is_changed = |(area, mark): &(&u64, &Mark)| {
                mark.is_news_after(self.checkpoint.marks.get(area).copied()) && mark.is_recent(now)
            };
            let changed: BTreeMap<_, _> =
                marks.iter().filter(is_changed).map(|(area, mark)| (*area, *mark)).collect();
            if !changed.is_empty() {
                self.checkpoint.number += u64::from(self.shared.is_actual);
                if self.shared.is_actual {
                    self.checkpoint.changed = changed;
                } else {
                    self.checkpoint.marks.extend(changed);
                }
                self.save().await?;
            }
        }
        if self.lease_epoch.is_none() {
            return Ok(Duration::ZERO);
        }
        if !self.checkpoint.changed.is_empty() {
            self.mark_all(&map).await?;
            let changed = std::mem::take(&mut self.checkpoint.changed);
            self.checkpoint.marks.extend(changed);
            self.save().await?;
            // Another change may have come meanwhile.
            self.read = None;
            return Ok(Duration::ZERO);
        }
        self.read = Some((revision, now));
        if self.cleaned.is_none_or(|at| now.saturating_duration_since(at) >= CLEANING_INTERVAL) {
            self.clean(&map).await?;
            self.cleaned = Some(now);
        }
        Ok(POLL_INTERVAL)
    }

    /// Loads the checkpoint. Without any, or in restored data, everything up to now counts as sent.
    async fn load(&mut self, marks: &BTreeMap<u64, Mark>) -> Result<(), StoreError> {
        let epoch = self.shared.store.epoch().await?;
        let stored = self.shared.store.webhook_states().await?.remove(NAME);
        self.version = stored.as_ref().map_or(0, |stored| stored.version);
        let stored: Option<Checkpoint> = stored.and_then(|stored| serde_json::from_str(&stored.text).ok());
        let number = stored.as_ref().map_or(0, |stored| stored.number);
        match stored.filter(|stored| stored.epoch == epoch) {
            Some(stored) if !stored.is_imported => {
                self.checkpoint = stored;
                return Ok(());
            }
            // A fan-out that had begun before the import is finished.
            Some(stored) => {
                self.checkpoint = Checkpoint { marks: marks.clone(), is_imported: false, ..stored };
            }
            None => {
                self.checkpoint = Checkpoint { epoch, number, marks: marks.clone(), ..Checkpoint::default() }
            }
        }
        self.save().await
    }

    async fn save(&mut self) -> Result<(), StoreError> {
        let text = serde_json::json!(self.checkpoint).to_string();
        let saved = self.shared.store.put_webhook_state(NAME, self.version, &text).await;
        if saved.as_ref().is_ok_and(|is_saved| *is_saved) {
            self.version += 1;
        } else {
            // Another server or a command has written, or the store has failed: read it again.
            self.lease_epoch = None;
        }
        saved.map(drop)
    }

    /// Marks the subscriptions of the changed areas as due, in pages.
    async fn mark_all(&self, map: &FloodMap) -> Result<(), StoreError> {
        let Checkpoint { number, changed, .. } = &self.checkpoint;
        let now = self.shared.clock.now();
        let mark = |record: &PushRecord| {
            let mut subscription = Subscription::read(record)?;
            if subscription.fan_out >= *number {
                return None;
            }
            if !map.touches(&subscription, changed) {
                return None;
            }
            subscription.fan_out = *number;
            let next = subscription.next_message(now);
            // A phone that fails keeps its time.
            let due =
                record.content.due.filter(|due| subscription.failures > 0 || *due < next).unwrap_or(next);
            Some(subscription.update(record, Some(due)))
        };
        self.update_pages(mark).await
    }

    /// Removes ended subscriptions. Those whose areas are all gone get a last message first.
    async fn clean(&self, map: &FloodMap) -> Result<(), StoreError> {
        let now = self.shared.clock.now();
        let clean = |record: &PushRecord| {
            let Some(subscription) = Subscription::read(record) else { return Some(record.removal()) };
            if now.saturating_duration_since(subscription.renewed) > MAX_AGE {
                return Some(record.removal());
            }
            let has_areas = map.selected(&subscription).next().is_some();
            let next = Some(subscription.next_message(now));
            (!has_areas && record.content.due.is_none()).then(|| subscription.update(record, next))
        };
        self.update_pages(clean).await
    }

    /// Applies `change` to all records. Repeats a page whose records were changed by others meanwhile.
    async fn update_pages(
        &self,
        change: impl Fn(&PushRecord) -> Option<PushUpdate>,
    ) -> Result<(), StoreError> {
        let mut after = 0;
        loop {
            let page = self.shared.store.push_records(after, PAGE).await?;
            let Some(last) = page.last().map(|record| record.id) else { return Ok(()) };
            let updates: Vec<_> = page.iter().filter_map(&change).collect();
            let count = updates.len();
            let done =
                if count == 0 { 0 } else { self.shared.store.update_push_records(updates).await?.len() };
            if done == count {
                after = last;
            }
            time::sleep(Duration::ZERO).await;
        }
    }
}

/// Makes the next fan-out skip the changes that are in the store now, because an import has added them.
pub(crate) async fn skip_imported(store: &dyn Store) -> Result<(), StoreError> {
    let skipped = |text: Option<&str>| {
        let checkpoint: Checkpoint = serde_json::from_str(text?).unwrap_or_default();
        Some(serde_json::json!(Checkpoint { is_imported: true, ..checkpoint }).to_string())
    };
    replace_state(store, NAME, skipped).await?;
    invalidate_lease(store).await
}
