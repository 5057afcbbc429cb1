use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use crate::model::Timestamp;
use crate::stores::{NewPushRecord, PushRecord, PushUpdate};

/// The push subscriptions, with indexes by endpoint and by due time. Clones share their unchanged parts.
#[derive(Clone, Debug, Default)]
pub(in crate::stores) struct PushRecords {
    records: OrdMap<u64, Arc<PushRecord>>,
    by_endpoint: OrdMap<String, u64>,
    due: OrdSet<(String, Timestamp, u64)>,
    /// The highest number since the start, which no new record gets again.
    last: u64,
}

impl FromIterator<PushRecord> for PushRecords {
    fn from_iter<I: IntoIterator<Item = PushRecord>>(records: I) -> Self {
        let mut all = Self::default();
        records.into_iter().for_each(|record| all.insert(record));
        all
    }
}

impl PushRecords {
    pub(in crate::stores) fn put(&mut self, content: NewPushRecord, max: u64) -> Option<u64> {
        let known = self.by_endpoint.get(&content.endpoint).and_then(|id| self.records.get(id)).cloned();
        if known.is_none() && self.len() >= max {
            return None;
        }
        let (id, version) = match known {
            Some(known) => (known.id, known.version + 1),
            None => (self.last + 1, 1),
        };
        self.insert(PushRecord { id, version, content });
        Some(id)
    }

    pub(in crate::stores) fn find(&self, id: u64) -> Option<PushRecord> {
        self.records.get(&id).map(|record| PushRecord::clone(record))
    }

    pub(in crate::stores) fn page(&self, after: u64, most: u32) -> Vec<PushRecord> {
        let page = self.records.range(after.saturating_add(1)..).take(most as usize);
        page.map(|(_, record)| PushRecord::clone(record)).collect()
    }

    pub(in crate::stores) fn due(&self, service: &str, until: Timestamp, most: u32) -> Vec<PushRecord> {
        let first = (service.to_owned(), Timestamp::EPOCH, 0);
        let due = self.due.range(first..).take_while(|(of, at, _)| of == service && *at <= until);
        due.take(most as usize).filter_map(|(_, _, id)| self.find(*id)).collect()
    }

    pub(in crate::stores) fn update(&mut self, updates: Vec<PushUpdate>) -> Vec<u64> {
        let mut updated = Vec::new();
        for PushUpdate { id, version, content } in updates {
            let is_read = self.records.get(&id).is_some_and(|record| record.version == version);
            let is_taken =
                |content: &NewPushRecord| self.by_endpoint.get(&content.endpoint).is_some_and(|of| *of != id);
            if !is_read || content.as_ref().is_some_and(is_taken) {
                continue;
            }
            match content {
                Some(content) => self.insert(PushRecord { id, version: version + 1, content }),
                None => self.remove(id),
            }
            updated.push(id);
        }
        updated.sort_unstable();
        updated
    }

    pub(in crate::stores) fn len(&self) -> u64 {
        self.records.len() as u64
    }

    fn insert(&mut self, record: PushRecord) {
        self.remove(record.id);
        self.last = self.last.max(record.id);
        let NewPushRecord { endpoint, service, due, .. } = &record.content;
        self.by_endpoint.insert(endpoint.clone(), record.id);
        self.due.extend(due.map(|due| (service.clone(), due, record.id)));
        self.records.insert(record.id, Arc::new(record));
    }

    fn remove(&mut self, id: u64) {
        let Some(record) = self.records.remove(&id) else { return };
        let NewPushRecord { endpoint, service, due, .. } = &record.content;
        self.by_endpoint.remove(endpoint);
        if let Some(due) = due {
            self.due.remove(&(service.clone(), *due, id));
        }
    }
}
