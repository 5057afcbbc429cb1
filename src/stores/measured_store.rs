use std::fmt;
use std::sync::Arc;

use super::{Decorator, Store};
use crate::telemetry::{Metrics, StoreOperation};

/// A store that measures the calls to another store, by method.
///
/// Does not measure [`revision`](Store::revision) and [`keys_revision`](super::KeyStore::keys_revision): the server calls them
/// for every request or several times a second, and nearly every call returns a value in memory.
#[derive(Debug)]
pub(crate) struct MeasuredStore {
    store: Arc<dyn Store>,
    metrics: Metrics,
}

impl MeasuredStore {
    pub(crate) fn new(store: Arc<dyn Store>, metrics: Metrics) -> Self {
        Self { store, metrics }
    }
}

impl fmt::Display for MeasuredStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Decorator for MeasuredStore {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn measure(&self, method: &'static str) -> Option<StoreOperation<'_>> {
        (!matches!(method, "revision" | "keys_revision")).then(|| self.metrics.store_operation(method))
    }
}
