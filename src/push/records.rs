use super::flood_map::FloodMap;
use super::subscription::Subscription;
use super::{PushError, Shared};
use crate::model::Timestamp;
use crate::model::bodies::PushBody;
use crate::stores::{NewPushRecord, PushRecord, PushUpdate, StoreError};

/// The number of attempts to change a record that somebody else changes.
pub(super) const MAX_ATTEMPTS: u32 = 5;

impl Shared {
    /// Stores a new subscription. Returns its number.
    pub(super) async fn put_new(
        &self,
        body: &PushBody,
        service: String,
        subscription: &Subscription,
        map: &FloodMap,
    ) -> Result<u64, PushError> {
        let record =
            NewPushRecord { endpoint: body.endpoint.clone(), service, due: None, text: subscription.text() };
        let id = self.store.put_push_record(record, self.settings.max.into()).await?;
        let id = id.ok_or(PushError::Full)?;
        self.catch_up(id, map).await?;
        Ok(id)
    }

    /// Removes a subscription whose push service has ended it.
    pub(super) async fn remove_ended(&self, id: u64, secret: &str, endpoint: &str) -> Result<(), PushError> {
        for _ in 0..MAX_ATTEMPTS {
            let (current, _) = self.find(id, secret).await?;
            // A renewal may have got another endpoint.
            if current.content.endpoint != endpoint {
                break;
            }
            if self.put(current.removal()).await? {
                return Ok(());
            }
        }
        Err(PushError::contended())
    }

    pub(super) async fn put_replacement(
        &self,
        id: u64,
        secret: &str,
        body: &PushBody,
        service: &str,
        map: &FloodMap,
        is_confirmed: bool,
    ) -> Result<(), PushError> {
        for _ in 0..MAX_ATTEMPTS {
            let (record, earlier) = self.find(id, secret).await?;
            let subscription = self.subscription(body, secret, map)?;
            let subscription = subscription.replacing(earlier, map, is_confirmed);
            // A phone that gets messages again does not wait any longer.
            let next = |due| if is_confirmed { subscription.next_message(self.clock.now()) } else { due };
            let content = NewPushRecord {
                endpoint: body.endpoint.clone(),
                service: service.to_owned(),
                due: record.content.due.map(next),
                text: subscription.text(),
            };
            let update = PushUpdate { id, version: record.version, content: Some(content) };
            if self.put(update).await? {
                return Ok(self.catch_up(id, map).await?);
            }
        }
        Err(PushError::contended())
    }

    /// Makes a message due about areas that have changed since `map` was read: a fan-out of that time has not seen the new choice.
    pub(super) async fn catch_up(&self, id: u64, map: &FloodMap) -> Result<(), StoreError> {
        let now = self.clock.now();
        let (before, after) = (map.marks(now), self.map().await?);
        let mut changed = after.marks(now);
        changed.retain(|area, mark| mark.is_news_after(before.get(area).copied()));
        let make_due = |record: &PushRecord, subscription: &mut Subscription| {
            let due = || record.content.due.unwrap_or_else(|| subscription.next_message(now));
            after.touches(subscription, &changed).then(|| Some(due()))
        };
        self.change(id, make_due).await
    }

    /// Changes a subscription, if it still exists. `change` returns its due time; `None` changes nothing. Tries again if somebody else changes
    /// the record.
    pub(super) async fn change(
        &self,
        id: u64,
        change: impl Fn(&PushRecord, &mut Subscription) -> Option<Option<Timestamp>>,
    ) -> Result<(), StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(record) = self.store.push_record(id).await? else { break };
            let Some(mut subscription) = Subscription::read(&record) else { break };
            let Some(due) = change(&record, &mut subscription) else { break };
            if self.put(subscription.update(&record, due)).await? {
                break;
            }
        }
        Ok(())
    }

    /// Returns a record with its subscription, if the secret is its own.
    pub(super) async fn find(&self, id: u64, secret: &str) -> Result<(PushRecord, Subscription), PushError> {
        let record = self.store.push_record(id).await?.ok_or(PushError::NotFound)?;
        let subscription = Subscription::read(&record).filter(|subscription| subscription.is_secret(secret));
        subscription.map(|subscription| (record, subscription)).ok_or(PushError::NotFound)
    }

    /// Whether the record still had the version of the update.
    pub(super) async fn put(&self, update: PushUpdate) -> Result<bool, StoreError> {
        Ok(!self.store.update_push_records(vec![update]).await?.is_empty())
    }
}
