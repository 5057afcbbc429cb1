//! Decorators of stores for tests.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;
use siaga::stores::{Decorator, OpenError, OpenStore, OpenedStore, Store, StoreSettings};

/// A store with a test's decorator `By`.
#[derive(Debug)]
pub(crate) struct Wrapped<By> {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) by: By,
    /// Keeps the data alive as long as the store.
    _opener: Arc<dyn OpenStore>,
}

impl<By> fmt::Display for Wrapped<By> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, in a test", self.inner)
    }
}

/// Opens the store of another opener, in place of the fixture.
#[derive(Debug)]
pub(crate) struct OpenWrapped<By> {
    opener: Arc<dyn OpenStore>,
    by: By,
}

impl<By> OpenWrapped<By> {
    pub(crate) fn new(opener: impl OpenStore, by: By) -> Arc<Self> {
        Self::wrapping(Arc::new(opener), by)
    }

    pub(crate) fn wrapping(opener: Arc<dyn OpenStore>, by: By) -> Arc<Self> {
        Arc::new(Self { opener, by })
    }
}

#[async_trait]
impl<By: Clone + Debug + Send + Sync + 'static> OpenStore for OpenWrapped<By>
where
    Wrapped<By>: Decorator,
{
    fn name(&self) -> &'static str {
        "fixture"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let mut opened = self.opener.open(settings).await?;
        let (by, opener) = (self.by.clone(), Arc::clone(&self.opener));
        opened.store = Arc::new(Wrapped { inner: opened.store, by, _opener: opener });
        Ok(opened)
    }
}
