use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use figment::Figment;
use rocket::fairing::Fairing;
use serde_json::Value;

use super::{BuildError, LaunchError, Reload, Templates, tls};
use crate::auth::Authenticator;
use crate::config::{Config, ConfigError};
use crate::data::folder::FolderRules;
use crate::formats::{Format, FormatRegistry, InvalidFormats, alerts, builtin, cap, template};
use crate::model::{Clock, LayerKind, SystemClock};
use crate::openapi::{Described, Interface, document};
use crate::pages::AlertsPage;
use crate::pages::layout::Layout;
use crate::photos::CardImages;
use crate::rendering::basemap::Basemap;
use crate::stores::{OpenStore, Store, StoreRegistry, StoreSettings, Upkeep};
use crate::telemetry::Metrics;
use crate::webhooks;

/// Builds a server from the service's parts and those added here.
///
/// ```no_run
/// use rocket::{get, routes};
/// use siaga::{LaunchError, Siaga};
///
/// #[get("/warnings")]
/// fn list_warnings() -> &'static str {
///     "none"
/// }
///
/// #[rocket::main]
/// async fn main() -> Result<(), LaunchError> {
///     Siaga::builder().mount("/", routes![list_warnings]).launch().await
/// }
/// ```
#[derive(Clone)]
pub struct Builder {
    /// Reads the configuration. `figment` is the configuration that was read last.
    pub(super) source: Arc<dyn Fn() -> Figment + Send + Sync>,
    pub(super) figment: Figment,
    pub(crate) clock: Arc<dyn Clock>,
    pub(super) stores: StoreRegistry,
    pub(super) reloadable: Vec<Arc<dyn Reload>>,
    pub(super) routes: Vec<(String, Described)>,
    pub(super) fairings: Vec<Arc<dyn Fairing>>,
    pub(super) formats: Vec<Arc<dyn Format>>,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("formats", &self.formats)
            .field("stores", &self.stores)
            .finish_non_exhaustive()
    }
}

impl Default for Builder {
    /// Reads the configuration from `Rocket.toml` and the environment, and the time from the system clock.
    fn default() -> Self {
        Self {
            source: Arc::new(Config::figment),
            figment: Config::figment(),
            clock: Arc::new(SystemClock),
            stores: StoreRegistry::default(),
            reloadable: Vec::new(),
            routes: Vec::new(),
            fairings: Vec::new(),
            formats: Vec::new(),
        }
    }
}

impl Builder {
    /// Uses `figment` instead of `Rocket.toml` and the environment. A reload keeps its values.
    #[must_use]
    pub fn figment(self, figment: Figment) -> Self {
        self.figment_from(move || figment.clone())
    }

    #[must_use]
    pub(crate) fn figment_from(mut self, source: impl Fn() -> Figment + Send + Sync + 'static) -> Self {
        self.figment = source();
        self.source = Arc::new(source);
        self
    }

    #[must_use]
    pub(crate) fn reread(mut self) -> Self {
        self.figment = (self.source)();
        self
    }

    /// Adds a part whose settings can change while the service runs.
    #[must_use]
    pub fn reload(mut self, part: Arc<dyn Reload>) -> Self {
        self.reloadable.push(part);
        self
    }

    /// Uses `clock` instead of the system clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Adds a format, which the configuration can enable. Replaces a format with the same name.
    #[must_use]
    pub fn format(mut self, format: Arc<dyn Format>) -> Self {
        self.formats.push(format);
        self
    }

    /// Adds a kind of store, which the configuration can choose. Replaces a kind with the same name.
    #[must_use]
    pub fn store(mut self, opener: Arc<dyn OpenStore>) -> Self {
        self.stores.register(opener);
        self
    }

    /// Adds routes at a path below the base path: `/` or `/warnings`.
    ///
    /// The service counts, logs and rate-limits these routes like its own. They may use its [guards](crate::guards) and managed
    /// state, such as `Arc<dyn Store>`. Unsupported methods get 405. Startup fails if the service has a route with the same path
    /// and method. The OpenAPI document lists the routes, and their parameters and responses if they are
    /// [`described!`](crate::described).
    #[must_use]
    pub fn mount<R: Into<Described>>(mut self, path: &str, routes: impl IntoIterator<Item = R>) -> Self {
        self.routes.extend(routes.into_iter().map(|route| (path.to_owned(), route.into())));
        self
    }

    /// Adds a fairing after the service's own. Its shutdown callback may take up to `siaga.shutdown.grace`.
    #[must_use]
    pub fn attach(mut self, fairing: impl Fairing) -> Self {
        self.fairings.push(Arc::new(fairing));
        self
    }

    /// Builds the server and serves until it is stopped: [`build`](Self::build), then [`Siaga::launch`](super::Siaga::launch).
    ///
    /// # Errors
    ///
    /// [`LaunchError`], as one line for the operator.
    pub async fn launch(self) -> Result<(), LaunchError> {
        self.build().await?.launch().await
    }

    /// Checks the configuration without opening the store.
    ///
    /// # Errors
    ///
    /// [`BuildError`], as one line for the operator.
    pub fn check(&self) -> Result<Config, BuildError> {
        self.checked_with_formats().map(|(config, _)| config)
    }

    /// Like [`check`](Self::check); also returns the formats.
    pub(crate) fn checked_with_formats(&self) -> Result<(Config, FormatRegistry), BuildError> {
        let (config, formats, _) = self.load_config_and_formats()?;
        Basemap::load(&config)?;
        Ok((config, formats))
    }

    /// Like [`check`](Self::check); also returns the formats and their templates.
    pub(super) fn load_config_and_formats(&self) -> Result<(Config, FormatRegistry, Templates), BuildError> {
        let config = self.checked_without_templates()?;
        let templates = Templates::read(&config, Arc::clone(&self.clock)).map_err(InvalidFormats::from)?;
        let formats = self.registry(&config, templates.formats())?;
        webhooks::check(&config, self.clock.now())?;
        Ok((config, formats, templates))
    }

    /// Checks the configuration without reading the template files.
    pub(crate) fn checked_without_templates(&self) -> Result<Config, BuildError> {
        let config = self.checked_for_upkeep()?;
        CardImages::check(&config)?;
        Authenticator::new(config.auth.clone(), Arc::clone(&self.clock))?;
        Ok(config)
    }

    /// Returns the OpenAPI document of `GET /openapi.json`.
    ///
    /// # Errors
    ///
    /// [`BuildError`], as one line for the operator.
    pub fn openapi(&self) -> Result<Value, BuildError> {
        let config = self.checked_for_upkeep()?;
        let templates = Templates::read(&config, Arc::clone(&self.clock)).map_err(InvalidFormats::from)?;
        let formats = self.registry(&config, templates.formats())?;
        Ok(document(&Interface { config: &config, formats: &formats }, &self.interface()?))
    }

    pub(crate) fn current_figment(&self) -> &Figment {
        &self.figment
    }

    /// Whether startup generates a key, because no credential is configured and the store is temporary.
    pub(crate) fn needs_temporary_key(&self, config: &Config) -> Result<bool, BuildError> {
        Ok(config.auth.accepts_nobody() && !self.stores.get(&config.store)?.keeps_data())
    }

    pub(crate) fn rocket_config(&self) -> Result<rocket::Config, ConfigError> {
        Ok(self.figment.extract()?)
    }

    /// Checks everything except what only servers need, such as template files.
    fn checked_for_upkeep(&self) -> Result<Config, BuildError> {
        let config = Config::extract(&self.figment)?;
        tls::check(&self.rocket_config()?)?;
        self.check_mount_paths(&config)?;
        let opener = self.stores.get(&config.store)?;
        opener.check(&self.store_settings(&config)).map_err(BuildError::Store)?;
        let declared = template::from_settings(&config.formats.template).map_err(InvalidFormats::from)?;
        self.registry(&config, declared)?;
        Ok(config)
    }

    pub(crate) fn settings(&self) -> Result<StoreSettings, BuildError> {
        self.checked_for_upkeep().map(|config| self.store_settings(&config))
    }

    /// Returns the maintenance operations of the configured store, and the settings for them.
    ///
    /// # Errors
    ///
    /// [`BuildError`], as one line for the operator; [`BuildError::NoUpkeep`] if the store has no such operations.
    pub fn upkeep(&self) -> Result<(&dyn Upkeep, StoreSettings), BuildError> {
        let config = self.checked_for_upkeep()?;
        let upkeep = self.stores.get(&config.store)?.upkeep();
        let settings = self.store_settings(&config);
        upkeep.map(|upkeep| (upkeep, settings)).ok_or(BuildError::NoUpkeep(config.store))
    }

    /// Opens the configured store for a command, while servers may use it. Fails with [`BuildError::NoUpkeep`] if the store is
    /// temporary.
    pub(crate) async fn open_shared(&self) -> Result<Arc<dyn Store>, BuildError> {
        let config = self.checked_for_upkeep()?;
        if !self.stores.get(&config.store)?.keeps_data() {
            return Err(BuildError::NoUpkeep(config.store));
        }
        self.open_any().await
    }

    /// Like [`open_shared`](Self::open_shared), but also opens a temporary store.
    pub(crate) async fn open_any(&self) -> Result<Arc<dyn Store>, BuildError> {
        let config = self.checked_for_upkeep()?;
        let opener = self.stores.get(&config.store)?;
        let opened = opener.open_for_command(&self.store_settings(&config)).await;
        Ok(opened.map_err(BuildError::Store)?.store)
    }

    /// Returns a format by name, even if it is not enabled. Reads only the template of this format.
    pub(crate) fn format_to_try(
        &self,
        config: &Config,
        name: &str,
        kind: LayerKind,
    ) -> Result<Arc<dyn Format>, InvalidFormats> {
        let mut config = config.clone();
        let all_templates = template::from_settings(&config.formats.template)?;
        config.formats.template.retain(|declared, _| declared == name);
        let templates = Templates::read(&config, Arc::clone(&self.clock))?.formats();
        // If two formats have the same name, the later one wins, as in the registry.
        let mut formats = self.all_formats(&config, templates);
        let format =
            formats.iter().rfind(|format| format.name() == name).filter(|format| format.supports(kind));
        format.cloned().ok_or_else(|| {
            formats.extend(all_templates);
            let supporting = formats.iter().filter(|format| format.supports(kind));
            let allowed: BTreeSet<_> = supporting.map(|format| format.name().to_owned()).collect();
            InvalidFormats::Unsupported {
                kind,
                name: name.to_owned(),
                allowed: allowed.into_iter().collect(),
            }
        })
    }

    /// Opens the configured store for a command, while a server may use it.
    ///
    /// # Errors
    ///
    /// If the configuration is invalid or the store cannot open. [`BuildError::NoKeys`] if the store persists no API keys.
    pub async fn open_persistent_store(&self) -> Result<Arc<dyn Store>, BuildError> {
        let store = self.open_shared().await?;
        // Keys in the memory of this process would be lost when it ends.
        if store.service_state().is_some() {
            store.close().await;
            return Err(BuildError::NoKeys(self.checked_for_upkeep()?.store));
        }
        Ok(store)
    }

    pub(super) fn store_settings(&self, config: &Config) -> StoreSettings {
        StoreSettings {
            figment: self.figment.clone(),
            dataset: config.dataset.clone(),
            rules: FolderRules::new(&config.disasters, &config.cards),
            clock: Arc::clone(&self.clock),
            timeout: config.limits.timeout,
            metrics: Metrics::default(),
        }
    }

    /// Returns the built-in formats, then those of templates and of the embedding program.
    fn all_formats(&self, config: &Config, templates: Vec<Arc<dyn Format>>) -> Vec<Arc<dyn Format>> {
        let settings = &config.formats;
        // All documents of the demo are marked as an exercise.
        let cap = cap::Options { status: config.issuer().status, ..settings.cap.clone() };
        let country = config.country.data();
        let notices = alerts::Notices::within(config.alerts.clone(), cap.clone(), country);
        let mut formats = builtin(settings.topojson, cap, notices.clone());
        formats.push(Arc::new(AlertsPage::for_country(notices, Layout::new(config), country)));
        formats.extend(templates);
        formats.extend(self.formats.iter().cloned());
        formats
    }

    fn registry(
        &self,
        config: &Config,
        templates: Vec<Arc<dyn Format>>,
    ) -> Result<FormatRegistry, InvalidFormats> {
        let settings = &config.formats;
        let registry =
            FormatRegistry::new(&self.all_formats(config, templates), &settings.enabled, &settings.default)?;
        settings.resources.iter().try_fold(registry, |registry, (kind, names)| registry.restrict(kind, names))
    }
}
