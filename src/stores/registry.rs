use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use figment::Figment;

use super::Store;
use super::memory::OpenMemory;
use crate::model::Clock;

/// Opens stores of one kind: what is registered under a name of the configuration key `store`.
#[async_trait]
pub trait OpenStore: Debug + Send + Sync + 'static {
    /// The name the configuration chooses it by.
    fn name(&self) -> &str;

    /// Whether what is written outlives the run.
    fn keeps_data(&self) -> bool;

    /// Opens the store with the service's settings.
    ///
    /// # Errors
    ///
    /// Whatever stops the start of the service; its text is shown to the operator in one line.
    async fn open(
        &self,
        settings: &StoreSettings,
    ) -> Result<Arc<dyn Store>, Box<dyn std::error::Error + Send + Sync>>;
}

/// What a store is opened with.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    /// The whole configuration, for keys of the store's own.
    pub figment: Figment,
    /// The configured data set: `demo`, `empty` or a folder.
    pub dataset: String,
    /// Where the store takes the time from.
    pub clock: Arc<dyn Clock>,
}

/// The stores that can be chosen by name.
#[derive(Clone, Debug)]
pub struct StoreRegistry {
    openers: Vec<Arc<dyn OpenStore>>,
}

/// The configuration names a store that is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("siaga.store must be one of [{}], not {name:?}", .known.join(", "))]
pub struct UnknownStore {
    name: String,
    known: Vec<String>,
}

impl Default for StoreRegistry {
    /// The stores that come with the service.
    fn default() -> Self {
        Self { openers: vec![Arc::new(OpenMemory)] }
    }
}

impl StoreRegistry {
    /// Adds a kind of store; one of the same name is replaced.
    pub fn register(&mut self, opener: Arc<dyn OpenStore>) {
        self.openers.retain(|known| known.name() != opener.name());
        self.openers.push(opener);
    }

    /// The opener registered under `name`.
    ///
    /// # Errors
    ///
    /// When there is none; the error lists the names there are.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn OpenStore>, UnknownStore> {
        self.openers.iter().find(|opener| opener.name() == name).ok_or_else(|| UnknownStore {
            name: name.to_owned(),
            known: self.openers.iter().map(|opener| opener.name().to_owned()).collect(),
        })
    }
}
