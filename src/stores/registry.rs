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
use super::{ManagedState, Store, Upkeep};
use crate::data::folder::FolderRules;
use crate::model::Clock;
use crate::telemetry::Metrics;

/// Opens stores of one kind. The configuration key `store` selects the kind by name.
#[async_trait]
pub trait OpenStore: Debug + Send + Sync + 'static {
    /// The name in the configuration.
    fn name(&self) -> &str;

    /// Whether the data outlives the process.
    fn keeps_data(&self) -> bool;

    /// Whether only one server at a time can use the store. **Default: `false`**
    fn is_exclusive(&self) -> bool {
        false
    }

    /// Checks the store's own settings, without opening the store.
    ///
    /// # Errors
    ///
    /// The error names the first wrong setting by its full path, and the problem.
    fn check(&self, _: &StoreSettings) -> Result<(), OpenError> {
        Ok(())
    }

    /// Returns the maintenance commands of the store; `None` if it has none.
    fn upkeep(&self) -> Option<&dyn Upkeep> {
        None
    }

    /// Opens the store with the service's settings.
    ///
    /// # Errors
    ///
    /// Any error makes startup fail.
    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError>;

    /// Opens the store for a command. A server may use the store at the same time. **Default: [`open`](Self::open)**, for stores
    /// that several processes can use
    ///
    /// # Errors
    ///
    /// Any error makes the command fail.
    async fn open_for_command(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        self.open(settings).await
    }
}

/// An error that prevents a store from opening, or from continuing. The operator sees it in one line.
pub type OpenError = Box<dyn Error + Send + Sync>;

/// The settings to open a store with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreSettings {
    /// The whole configuration, which includes the store's own keys.
    pub figment: Figment,
    /// The configured data set: `demo`, `empty` or a folder.
    pub dataset: String,
    /// The rules for cards and reports in data sets.
    pub rules: FolderRules,
    /// The clock of the store.
    pub clock: Arc<dyn Clock>,
    /// How long a call may take before it fails with [`StoreError::Unavailable`](super::StoreError::Unavailable).
    pub timeout: Duration,
    /// Where the store records its own metrics, for example its connections. The server itself measures all calls to stores.
    pub metrics: Metrics,
}

impl StoreSettings {
    /// Returns settings for a store outside the server, for example in tests: the data set `empty`, and a timeout of ten seconds.
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

    /// Reads the settings of your own store from a table of the configuration: `section("ceiling")` reads `[default.ceiling]`, or
    /// `ROCKET_CEILING={…}` in the environment. Returns the default of `T` if there is no such table.
    ///
    /// # Errors
    ///
    /// If the table cannot be read as `T`. The error names the table and the problem.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, OpenError> {
        if !self.figment.contains(name) {
            return Ok(T::default());
        }
        self.figment.extract_inner(name).map_err(|error| format!("{name}: {error}").into())
    }
}

/// An open store, and the parts of it that the server manages.
#[non_exhaustive]
pub struct OpenedStore {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Values that your own routes can read, for example a connection pool.
    pub managed: ManagedState,
    /// Resolves when the store cannot continue. The server then stops.
    pub failure: Option<BoxFuture<'static, OpenError>>,
}

impl OpenedStore {
    /// Wraps a store without managed state. [`failure`](Self::failure) is `None`, so the store never stops the server.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, managed: ManagedState::default(), failure: None }
    }
}

impl fmt::Debug for OpenedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedStore").field("store", &self.store).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct StoreRegistry {
    openers: Vec<Arc<dyn OpenStore>>,
}

/// The error if the configuration names a store that is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("siaga.store must be one of [{}], not {name:?}", .known.join(", "))]
pub struct UnknownStore {
    name: String,
    known: Vec<String>,
}

impl Default for StoreRegistry {
    fn default() -> Self {
        Self { openers: vec![Arc::new(OpenMemory), Arc::new(OpenFile), Arc::new(OpenPostgres)] }
    }
}

impl StoreRegistry {
    /// Adds a kind of store. Replaces a kind with the same name.
    pub(crate) fn register(&mut self, opener: Arc<dyn OpenStore>) {
        self.openers.retain(|known| known.name() != opener.name());
        self.openers.push(opener);
    }

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
