use async_trait::async_trait;

use super::service_state::state;
use super::{ServiceStore, StoreError};
use crate::model::Timestamp;

/// Stores the push subscriptions of phones.
///
/// The store does not interpret the texts. Records are never exported. By default, each method uses the store's
/// [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait PushStore: ServiceStore {
    /// Stores a record, and returns its number. A record with the same endpoint keeps its number and gets the next version. Returns
    /// `None` if there are `max` records, or more, with other endpoints.
    async fn put_push_record(&self, record: NewPushRecord, max: u64) -> Result<Option<u64>, StoreError> {
        Ok(state(self)?.with(|service, _| service.push.put(record, max)))
    }

    /// Returns one record.
    async fn push_record(&self, id: u64) -> Result<Option<PushRecord>, StoreError> {
        Ok(state(self)?.with(|service, _| service.push.find(id)))
    }

    /// Returns at most `most` records with a number above `after`, in the order of their numbers.
    async fn push_records(&self, after: u64, most: u32) -> Result<Vec<PushRecord>, StoreError> {
        Ok(state(self)?.with(|service, _| service.push.page(after, most)))
    }

    /// Returns at most `most` records of a service that are due at `until`, the longest due first.
    async fn due_push_records(
        &self,
        service: &str,
        until: Timestamp,
        most: u32,
    ) -> Result<Vec<PushRecord>, StoreError> {
        Ok(state(self)?.with(|stored, _| stored.push.due(service, until, most)))
    }

    /// Replaces or removes each record whose stored version is still the one of the update, and whose new endpoint no other record
    /// has. Returns the numbers of these records, ascending.
    async fn update_push_records(&self, updates: Vec<PushUpdate>) -> Result<Vec<u64>, StoreError> {
        Ok(state(self)?.with(|service, _| service.push.update(updates)))
    }

    /// Returns the number of records.
    async fn count_push_records(&self) -> Result<u64, StoreError> {
        Ok(state(self)?.with(|service, _| service.push.len()))
    }
}

/// The content of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPushRecord {
    /// The address to which messages are sent. Unique; at most 1,000 characters.
    pub endpoint: String,
    /// The push service of the endpoint: at most 255 characters.
    pub service: String,
    /// When a message is due, if ever; not before 1970.
    pub due: Option<Timestamp>,
    /// JSON that only the service interprets.
    pub text: String,
}

/// A stored record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRecord {
    /// The number, from 1. The numbers of removed records may be used again.
    pub id: u64,
    /// The number of writes so far; 1 after the first.
    pub version: u64,
    /// The content.
    pub content: NewPushRecord,
}

impl PushRecord {
    /// Returns the update that removes this version of the record.
    #[must_use]
    pub fn removal(&self) -> PushUpdate {
        PushUpdate { id: self.id, version: self.version, content: None }
    }
}

/// A change of a record.
#[derive(Clone, Debug)]
pub struct PushUpdate {
    /// The number of the record.
    pub id: u64,
    /// The version that was read.
    pub version: u64,
    /// The new content; `None` removes the record.
    pub content: Option<NewPushRecord>,
}
