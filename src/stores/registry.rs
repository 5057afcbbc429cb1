use std::error::Error;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use figment::Figment;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::memory::OpenMemory;
use super::postgres::OpenPostgres;
use super::{Managed, Store, Upkeep};
use crate::datasets::FolderRules;
use crate::model::Clock;
use crate::telemetry::Metrics;

/// Opens stores of one kind: what is registered under a name of the configuration key `store`.
#[async_trait]
pub trait OpenStore: Debug + Send + Sync + 'static {
    /// The name the configuration chooses it by.
    fn name(&self) -> &str;

    /// Whether what is written outlives the run.
    fn keeps_data(&self) -> bool;

    /// Checks the settings that are the store's own, without opening it.
    ///
    /// # Errors
    ///
    /// What is wrong with the first that is, with its full path.
    fn check(&self, _: &StoreSettings) -> Result<(), OpenError> {
        Ok(())
    }

    /// What an operator can do with the store; `None` for one that has nothing to look after.
    fn upkeep(&self) -> Option<&dyn Upkeep> {
        None
    }

    /// Opens the store with the service's settings.
    ///
    /// # Errors
    ///
    /// Whatever stops the start of the service.
    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError>;
}

/// What stops a store from opening, or from going on; its text is shown to the operator in one line.
pub type OpenError = Box<dyn Error + Send + Sync>;

/// What a store is opened with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreSettings {
    /// The whole configuration, for keys of the store's own.
    pub figment: Figment,
    /// The configured data set: `demo`, `empty` or a folder.
    pub dataset: String,
    /// What cards and reports of data sets may be.
    pub rules: FolderRules,
    /// Where the store takes the time from.
    pub clock: Arc<dyn Clock>,
    /// How long a call may take until it is answered [`StoreError::Unavailable`](super::StoreError::Unavailable).
    pub timeout: Duration,
    /// Where the store notes what only it knows, such as its connections. The server measures the calls of every store.
    pub metrics: Metrics,
}

impl StoreSettings {
    /// Settings for a store outside a service, as in tests: the data set `empty`, and ten seconds for a call.
    #[must_use]
    pub fn new(figment: Figment, clock: Arc<dyn Clock>) -> Self {
        Self {
            figment,
            dataset: "empty".to_owned(),
            rules: FolderRules::default(),
            clock,
            timeout: Duration::from_secs(10),
            metrics: Metrics::default(),
        }
    }

    /// The settings of a store of one's own, in the configuration beside the service's table: `section("ceiling")` is
    /// `[default.ceiling]`, or what is `Default` where there is none; in the environment `ROCKET_CEILING={…}`.
    ///
    /// # Errors
    ///
    /// When the table cannot be read as `T`; the text names it, and what is wrong.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, OpenError> {
        if !self.figment.contains(name) {
            return Ok(T::default());
        }
        self.figment.extract_inner(name).map_err(|error| format!("{name}: {error}").into())
    }
}

/// A store that is open, and what the server does for it.
#[non_exhaustive]
pub struct OpenedStore {
    /// The store.
    pub store: Arc<dyn Store>,
    /// What the server manages beside the store, for routes of your own: connection pools, for example.
    pub managed: Managed,
    /// Resolves when the store finds that it cannot go on, which ends the service.
    pub failure: Option<BoxFuture<'static, OpenError>>,
}

impl OpenedStore {
    /// A store that needs nothing of the server and goes on for good.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, managed: Managed::default(), failure: None }
    }
}

impl fmt::Debug for OpenedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedStore").field("store", &self.store).finish_non_exhaustive()
    }
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
        Self { openers: vec![Arc::new(OpenMemory), Arc::new(OpenPostgres)] }
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

#[cfg(test)]
mod tests {
    use figment::providers::Serialized;
    use serde::Deserialize;

    use super::*;
    use crate::model::SystemClock;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Ceiling {
        state: u8,
    }

    #[test]
    fn a_store_has_a_table_of_its_own_and_its_faults_are_named() {
        let read = |key: &str| {
            let figment = Figment::new().merge(Serialized::default(key, 2));
            StoreSettings::new(figment, Arc::new(SystemClock)).section::<Ceiling>("ceiling")
        };
        assert_eq!(read("other.state").unwrap(), Ceiling { state: 0 });
        assert_eq!(read("ceiling.state").unwrap(), Ceiling { state: 2 });
        let error = read("ceiling.stat").unwrap_err().to_string();
        assert!(error.starts_with("ceiling: ") && error.contains("stat"), "{error}");
    }
}
