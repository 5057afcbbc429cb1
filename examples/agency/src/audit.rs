//! A store that logs who changes the flood state of an area.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use siaga::model::{FloodChange, FloodState};
use siaga::stores::{
    Decorator, OpenError, OpenStore, OpenedStore, SetFloodState, Store, StoreError, StoreSettings, Upkeep,
};

/// Wraps a store, and logs each successful change of a flood state as an event with the level `info` and the target
/// `agency::audit`.
#[derive(Debug)]
pub struct Audited(Arc<dyn Store>);

impl Audited {
    /// Wraps `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl fmt::Display for Audited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, audited", self.0)
    }
}

#[async_trait]
impl Decorator for Audited {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn set_flood_state(&self, order: SetFloodState) -> Result<FloodChange, StoreError> {
        let change = self.0.set_flood_state(order).await?;
        tracing::info!(
            area = %change.area,
            state = change.state.map(FloodState::code),
            at = %change.at,
            subject = change.by.subject,
            username = change.by.username,
            "flood state changed"
        );
        Ok(change)
    }
}

/// Opens the stores of another opener with auditing: `audited-memory` opens `memory`, audited.
#[derive(Debug)]
pub struct OpenAudited<O> {
    name: String,
    inner: O,
}

impl<O: OpenStore> OpenAudited<O> {
    /// Wraps `inner`.
    #[must_use]
    pub fn new(inner: O) -> Self {
        Self { name: format!("audited-{}", inner.name()), inner }
    }
}

#[async_trait]
impl<O: OpenStore> OpenStore for OpenAudited<O> {
    fn name(&self) -> &str {
        &self.name
    }

    fn keeps_data(&self) -> bool {
        self.inner.keeps_data()
    }

    fn check(&self, settings: &StoreSettings) -> Result<(), OpenError> {
        self.inner.check(settings)
    }

    fn upkeep(&self) -> Option<&dyn Upkeep> {
        self.inner.upkeep()
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let mut opened = self.inner.open(settings).await?;
        opened.store = Arc::new(Audited::new(opened.store));
        Ok(opened)
    }
}
