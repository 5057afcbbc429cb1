use std::collections::BTreeMap;

use super::{ServiceState, lock};
use crate::model::Timestamp;

impl ServiceState {
    pub(in crate::stores) fn heard(&self, source: &str, at: Timestamp) {
        let mut last_heard = lock(&self.last_heard);
        let latest = last_heard.get(source).map_or(at, |known| at.max(*known));
        last_heard.insert(source.to_owned(), latest);
    }

    pub(in crate::stores) fn last_heard(&self) -> BTreeMap<String, Timestamp> {
        lock(&self.last_heard).clone().into_iter().collect()
    }
}
