use std::error::Error;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use figment::Figment;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::file::OpenFile;
use super::memory::OpenMemory;
use super::postgres::OpenPostgres;
use super::{Managed, Store, Upkeep};
use crate::data::folder::FolderRules;
use crate::model::Clock;
use crate::telemetry::Metrics;

/// Opens stores of one kind. The configuration key `store` selects it by its name.
#[async_trait]
pub trait OpenStore: Debug + Send + Sync + 'static {
    /// Returns the name that selects it in the configuration.
    fn name(&self) -> &str;

    /// Returns whether the data outlives the process.
    fn keeps_data(&self) -> bool;

    /// Returns whether it can serve only one server at a time. **Default: `false`**
    fn is_exclusive(&self) -> bool {
        false
    }

    /// Checks the store's own settings, without opening it.
    ///
    /// # Errors
    ///
    /// Names the first wrong setting, with its full path, and what is wrong.
    fn check(&self, _: &StoreSettings) -> Result<(), OpenError> {
        Ok(())
    }

    /// Returns what an operator can do with the store; `None` if it needs no maintenance.
    fn upkeep(&self) -> Option<&dyn Upkeep> {
        None
    }

    /// Opens the store with the service's settings.
    ///
    /// # Errors
    ///
    /// Any error, which makes startup fail.
    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError>;

    /// Opens the store for a command, while a server may be using it. **Default: as for a server**, which suits a store that
    /// several servers can use
    ///
    /// # Errors
    ///
    /// Any error, which makes the command fail.
    async fn open_beside(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        self.open(settings).await
    }
}

/// Why a store cannot open, or cannot go on. The operator sees its text in one line.
pub type OpenError = Box<dyn Error + Send + Sync>;

/// The settings to open a store with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreSettings {
    /// The whole configuration, in which a store finds its own keys.
    pub figment: Figment,
    /// The configured data set: `demo`, `empty` or a folder.
    pub dataset: String,
    /// The rules for cards and reports in data sets.
    pub rules: FolderRules,
    /// The clock of the store.
    pub clock: Arc<dyn Clock>,
    /// How long a call may take before it fails with [`StoreError::Unavailable`](super::StoreError::Unavailable).
    pub timeout: Duration,
    /// Where the store records what only it knows, such as its connections. The server measures the calls of every
    /// store.
    pub metrics: Metrics,
}

impl StoreSettings {
    /// Returns settings for a store outside a service, as in tests: the data set `empty`, and ten seconds for a call.
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

    /// Reads the settings of a store of your own from its table in the configuration, beside the service's table:
    /// `section("ceiling")` reads `[default.ceiling]`, or in the environment `ROCKET_CEILING={…}`. Returns the
    /// `Default` if there is no such table.
    ///
    /// # Errors
    ///
    /// If the table cannot be read as `T`. The text names the table and the problem.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, OpenError> {
        if !self.figment.contains(name) {
            return Ok(T::default());
        }
        self.figment.extract_inner(name).map_err(|error| format!("{name}: {error}").into())
    }
}

/// An open store, and what the server does for it.
#[non_exhaustive]
pub struct OpenedStore {
    /// The store.
    pub store: Arc<dyn Store>,
    /// What the server manages besides the store, for routes of your own: connection pools, for example.
    pub managed: Managed,
    /// Resolves if the store finds that it cannot go on; the service then ends.
    pub failure: Option<BoxFuture<'static, OpenError>>,
}

impl OpenedStore {
    /// Returns a store that needs nothing from the server and never ends by itself.
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

/// The stores that can be selected by name.
#[derive(Clone, Debug)]
pub(crate) struct StoreRegistry {
    openers: Vec<Arc<dyn OpenStore>>,
}

/// The configured store is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("siaga.store must be one of [{}], not {name:?}", .known.join(", "))]
pub struct UnknownStore {
    name: String,
    known: Vec<String>,
}

impl Default for StoreRegistry {
    /// Returns the stores that come with the service.
    fn default() -> Self {
        Self { openers: vec![Arc::new(OpenMemory), Arc::new(OpenFile), Arc::new(OpenPostgres)] }
    }
}

impl StoreRegistry {
    /// Adds a kind of store. It replaces one with the same name.
    pub(crate) fn register(&mut self, opener: Arc<dyn OpenStore>) {
        self.openers.retain(|known| known.name() != opener.name());
        self.openers.push(opener);
    }

    /// Returns the opener registered under `name`.
    ///
    /// # Errors
    ///
    /// If there is none. The error lists the registered names.
    pub(crate) fn get(&self, name: &str) -> Result<&Arc<dyn OpenStore>, UnknownStore> {
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
