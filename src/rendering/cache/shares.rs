use std::hash::Hash;

use super::SHARE;
use super::lru::{LruByBytes, OVERHEAD, Value};

/// The values of a cache of up to `limit` bytes. Those whose keys clients can make up in any number have a share of it, as far as
/// the others leave room: they never displace the others.
#[derive(Debug)]
pub(super) struct Shares<K: Hash + Eq, V> {
    few: LruByBytes<K, V>,
    any: LruByBytes<K, V>,
    /// Returns whether clients can make up any number of keys like this.
    is_any: fn(&K) -> bool,
    limit: usize,
}

impl<K: Clone + Hash + Eq, V: Value> Shares<K, V> {
    pub(super) fn new(limit: usize, is_any: fn(&K) -> bool) -> Self {
        Self { few: LruByBytes::new(limit), any: LruByBytes::new(limit / SHARE), is_any, limit }
    }

    /// Returns how many bytes one value can take at most.
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(OVERHEAD)
    }

    /// Returns whether the limit is 0, so that no value is ever kept.
    pub(super) fn is_off(&self) -> bool {
        self.limit == 0
    }

    /// Returns the value of a key and marks it as used. The caller must not change how many bytes it takes.
    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        self.share(key).get(key)
    }

    /// Returns the value of a key without marking it as used.
    pub(super) fn peek(&self, key: &K) -> Option<&V> {
        if (self.is_any)(key) { self.any.peek(key) } else { self.few.peek(key) }
    }

    /// Changes the value of a key, which starts as the default, and drops other values until all fit.
    pub(super) fn change<R>(&mut self, key: &K, change: impl FnOnce(&mut V) -> R) -> R {
        let result = self.share(key).change(key, change);
        let left = self.limit.saturating_sub(self.few.size());
        self.any.limit_to(left.min(self.limit / SHARE));
        result
    }

    /// Makes the value of a key the first to be dropped.
    pub(super) fn demote(&mut self, key: &K) {
        self.share(key).demote(key);
    }

    /// Returns how many bytes the values take.
    pub(super) fn size(&self) -> usize {
        self.few.size() + self.any.size()
    }

    fn share(&mut self, key: &K) -> &mut LruByBytes<K, V> {
        if (self.is_any)(key) { &mut self.any } else { &mut self.few }
    }
}
