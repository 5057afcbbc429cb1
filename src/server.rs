//! Where everything meets: configuration, store, formats, fairings and routes become a server.

mod launch;
mod reload;
mod signals;
mod tls;

use std::fmt;
use std::io;
use std::sync::Arc;

use figment::Figment;
use governor::clock::MonotonicClock;
use rocket::fairing::AdHoc;
use rocket::futures::future::BoxFuture;
use rocket::shield::{Hsts, Shield};
use rocket::tokio::{self, select};
use rocket::{Build, Rocket};

pub use self::reload::{Reload, Reloading};
use crate::auth::{Authenticator, InvalidSettings, NewKey, Scope, Secret};
use crate::cache::Cache;
use crate::config::{Config, ConfigError};
use crate::error::catchers;
use crate::fairings::{
    Cors, Draining, Exchange, RealMethod, RequestId, SecurityHeaders, StoredKeys, TrailingSlash,
};
use crate::formats::{EncodeContext, Format, FormatRegistry, InvalidFormats, builtin, template};
use crate::guards::Admission;
use crate::images::{CardImages, Worker};
use crate::model::{Clock, SystemClock};
use crate::quotas::Quotas;
use crate::random::RandomUnavailable;
use crate::routes::{self, Answers, Readiness, diverted, known_in_panics, other_methods};
use crate::stores::{
    OpenError, OpenStore, OpenedStore, Store, StoreRegistry, StoreSettings, UnknownStore, Upkeep,
};
use crate::telemetry::Metrics;

/// Makes a server: the service's own parts, and those added here.
///
/// ```no_run
/// # #[rocket::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let service = siaga::Builder::default().build().await?;
/// service.launch().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Builder {
    /// Where the configuration is read from, and what was read there.
    source: Arc<dyn Fn() -> Figment + Send + Sync>,
    figment: Figment,
    clock: Arc<dyn Clock>,
    formats: Vec<Arc<dyn Format>>,
    stores: StoreRegistry,
    reloaded: Vec<Arc<dyn Reload>>,
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
    /// Configured from `Rocket.toml` and the environment, by the clock of the machine.
    fn default() -> Self {
        Self {
            source: Arc::new(Config::figment),
            figment: Config::figment(),
            clock: Arc::new(SystemClock),
            formats: Vec::new(),
            stores: StoreRegistry::default(),
            reloaded: Vec::new(),
        }
    }
}

/// A server ready to launch.
pub struct Service {
    /// The server.
    pub rocket: Rocket<Build>,
    /// Its configuration.
    pub config: Config,
    /// Its store.
    pub store: Arc<dyn Store>,
    /// Its formats.
    pub formats: FormatRegistry,
    /// A key made for this run; only where the configuration accepts no credential at all and the
    /// store keeps nothing beyond the run.
    pub key: Option<Secret>,
    /// Resolves when the store cannot go on.
    pub failure: Option<BoxFuture<'static, OpenError>>,
    /// Puts another configuration into effect while it runs.
    pub reloading: Reloading,
    /// Says that it is about to end.
    pub draining: Draining,
    /// The keys of its store, and when they were used.
    pub stored_keys: StoredKeys,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("store", &self.store)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Why a server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// It could not start or go on.
    // The error's own text would print the whole configuration.
    #[error("{}", .0.kind())]
    Rocket(#[from] Box<rocket::Error>),
    /// The store could not go on.
    #[error("{0}")]
    Store(OpenError),
    /// The port that sends on to HTTPS cannot be listened on.
    #[error("siaga.https.redirect_from: port {port}: {error}")]
    Redirect {
        /// The port.
        port: u16,
        /// Why not.
        error: io::Error,
    },
    /// It could not be told to end.
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
    /// It was told a second time to end, and did at once.
    #[error("ended at once by a second signal; requests under way were not answered")]
    Stopped,
}

/// Why a server could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The configuration is wrong.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// What the configuration says of credentials is wrong.
    #[error("{0}")]
    Auth(#[from] InvalidSettings),
    /// The configuration names a store there is not.
    #[error("{0}")]
    UnknownStore(#[from] UnknownStore),
    /// The configuration names formats there are not.
    #[error("{0}")]
    Formats(#[from] InvalidFormats),
    /// The store could not be opened.
    #[error("{0}")]
    Store(OpenError),
    /// The configured store keeps nothing to look after.
    #[error("siaga.store is {0:?}, which keeps nothing beyond a run: choose another, such as postgres")]
    NoUpkeep(String),
    /// No key could be made.
    #[error("{0}")]
    Random(#[from] RandomUnavailable),
}

impl Builder {
    /// Configures the server from `figment` instead, for good.
    #[must_use]
    pub fn figment(self, figment: Figment) -> Self {
        self.figment_from(move || figment.clone())
    }

    /// Configures the server from what `source` reads instead: now, and whenever it is to read its configuration anew.
    #[must_use]
    pub fn figment_from(mut self, source: impl Fn() -> Figment + Send + Sync + 'static) -> Self {
        self.figment = source();
        self.source = Arc::new(source);
        self
    }

    /// Adds something that can go on with another configuration while the service runs.
    #[must_use]
    pub fn reload(mut self, part: Arc<dyn Reload>) -> Self {
        self.reloaded.push(part);
        self
    }

    /// Takes the time from `clock` instead.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Adds a format, which the configuration can then enable; it replaces one of the same name.
    #[must_use]
    pub fn format(mut self, format: Arc<dyn Format>) -> Self {
        self.formats.push(format);
        self
    }

    /// Adds a kind of store, which the configuration can then choose; it replaces one of the same name.
    #[must_use]
    pub fn store(mut self, opener: Arc<dyn OpenStore>) -> Self {
        self.stores.register(opener);
        self
    }

    /// Checks the configuration without opening the store.
    ///
    /// # Errors
    ///
    /// [`BuildError`], whose text is one line for the operator.
    pub fn check(&self) -> Result<Config, BuildError> {
        let config = self.checked_for_upkeep()?;
        let keeps_data = self.stores.get(&config.store)?.keeps_data();
        CardImages::check(&config, keeps_data)?;
        Authenticator::new(config.auth.clone(), Arc::clone(&self.clock))?;
        Ok(config)
    }

    /// Checks all but what only a server needs.
    fn checked_for_upkeep(&self) -> Result<Config, BuildError> {
        let config = Config::extract(&self.figment)?;
        let rocket: rocket::Config = self.figment.extract().map_err(ConfigError::from)?;
        tls::check(&rocket)?;
        let opener = self.stores.get(&config.store)?;
        opener.check(&self.store_settings(&config)).map_err(BuildError::Store)?;
        self.registry(&config)?;
        Ok(config)
    }

    /// What an operator can do with the configured store, and the settings to do it with.
    ///
    /// # Errors
    ///
    /// [`BuildError`], whose text is one line for the operator; [`BuildError::NoUpkeep`] when there is nothing to do.
    pub fn upkeep(&self) -> Result<(&dyn Upkeep, StoreSettings), BuildError> {
        let config = self.checked_for_upkeep()?;
        let upkeep = self.stores.get(&config.store)?.upkeep();
        let settings = self.store_settings(&config);
        upkeep.map(|upkeep| (upkeep, settings)).ok_or(BuildError::NoUpkeep(config.store))
    }

    /// Opens the configured store beside the servers on it, if it keeps what is written.
    ///
    /// # Errors
    ///
    /// [`BuildError`], whose text is one line for the operator; [`BuildError::NoUpkeep`] when it keeps nothing.
    pub async fn open_kept_store(&self) -> Result<Arc<dyn Store>, BuildError> {
        let config = self.checked_for_upkeep()?;
        let opener = self.stores.get(&config.store)?;
        if !opener.keeps_data() {
            return Err(BuildError::NoUpkeep(config.store));
        }
        let opened = opener.open(&self.store_settings(&config)).await;
        Ok(opened.map_err(BuildError::Store)?.store)
    }

    fn store_settings(&self, config: &Config) -> StoreSettings {
        StoreSettings {
            figment: self.figment.clone(),
            dataset: config.dataset.clone(),
            clock: Arc::clone(&self.clock),
            timeout: config.limits.timeout,
        }
    }

    /// Opens the store and puts the server together.
    ///
    /// # Errors
    ///
    /// [`BuildError`], whose text is one line for the operator.
    pub async fn build(mut self) -> Result<Service, BuildError> {
        let mut config = self.check()?;
        let opener = self.stores.get(&config.store)?;
        let temporary = config.auth.accepts_nobody() && !opener.keeps_data();
        let key = temporary.then(|| temporary_key(&mut config)).transpose()?;
        let temporary = config.auth.api_keys.first().filter(|_| temporary).cloned();
        let formats = self.registry(&config)?;
        let settings = self.store_settings(&config);
        let OpenedStore { store, fairing, failure } =
            opener.open(&settings).await.map_err(BuildError::Store)?;
        let metrics = Metrics::default();
        let answers = Answers {
            store: Arc::clone(&store),
            // What does not fit into memory does not fit into a smaller limit either.
            cache: Cache::new(config.cache.size.as_u64().try_into().unwrap_or(usize::MAX), metrics.clone()),
            clock: Arc::clone(&self.clock),
            time_zone: config.time_zone,
            base_url: Arc::from(config.base_url.as_str()),
            timeout: config.limits.timeout,
        };
        let images = CardImages::open(&config, Arc::clone(&store), Arc::clone(&self.clock), metrics.clone())?;
        let images = Arc::new(images);
        let authenticator = Authenticator::new(config.auth.clone(), Arc::clone(&self.clock))?;
        self.reloaded.push(Arc::new(authenticator.clone()));
        let quotas = Arc::new(Quotas::new(config.quota.clone(), MonotonicClock));
        self.reloaded.push(Arc::clone(&quotas) as _);
        let stored_keys = StoredKeys::new(Arc::clone(&store), Arc::clone(authenticator.ring()));
        // So that the first request finds them.
        stored_keys.refresh().await;
        let routes = known_in_panics(routes::all());
        let others = other_methods(routes.iter());
        let operation = known_in_panics(routes::operation(config.metrics.enabled));
        let others_of_operation = other_methods(operation.iter());
        let draining = Draining::default();
        let rocket = rocket::custom(self.figment.clone())
            // In place of Rocket's own. `SecurityHeaders` decides on HSTS; without any here Rocket makes one up for TLS.
            .attach(Shield::new().enable(Hsts::default()))
            .attach(RealMethod)
            .attach(Exchange::new(metrics.clone()))
            .attach(Admission)
            .attach(TrailingSlash)
            .attach(Cors)
            .attach(SecurityHeaders)
            .attach(Arc::clone(&quotas).sweeper())
            .attach(RequestId::fairing())
            .attach(draining.clone())
            .attach(Worker::new(Arc::clone(&images)).fairing())
            .attach(stored_keys.clone())
            .attach(follow_public_keys(authenticator.clone()))
            .manage::<Arc<dyn Store>>(Arc::clone(&store))
            .manage(formats.clone())
            .manage(answers)
            .manage(images)
            .manage(authenticator)
            .manage(quotas)
            .manage(metrics)
            .manage(Readiness::default())
            .manage(draining.clone())
            .manage(config.clone())
            .mount(config.base_url.path(), routes)
            .mount(config.base_url.path(), others)
            .mount("/", operation)
            .mount("/", others_of_operation)
            .mount("/", diverted())
            .register("/", catchers());
        let rocket = match fairing {
            Some(fairing) => rocket.attach(fairing),
            None => rocket,
        };
        let reloading = Reloading::new(self, temporary, config.base_url.clone());
        Ok(Service { rocket, config, store, formats, key, failure, reloading, draining, stored_keys })
    }

    fn registry(&self, config: &Config) -> Result<FormatRegistry, InvalidFormats> {
        let settings = &config.formats;
        let mut known = builtin(settings.topojson, settings.cap.clone());
        let context = EncodeContext {
            now: self.clock.now(),
            time_zone: config.time_zone,
            base_url: Arc::from(config.base_url.as_str()),
        };
        known.extend(template::read(&settings.template, &context)?);
        known.extend(self.formats.iter().cloned());
        let registry = FormatRegistry::new(&known, &settings.enabled, &settings.default)?;
        settings
            .resources
            .narrowed()
            .try_fold(registry, |registry, (kind, names)| registry.offering(kind, names))
    }
}

/// Lets tokens be verified by the public keys there are now, from when the server listens until it is told to stop.
fn follow_public_keys(authenticator: Authenticator) -> AdHoc {
    AdHoc::on_liftoff("Public keys", |rocket| {
        let stop = rocket.shutdown();
        Box::pin(async move {
            tokio::spawn(async move {
                select! {
                    () = authenticator.watch() => {}
                    () = stop => {}
                }
            });
        })
    })
}

/// Makes a key that allows everything.
fn temporary_key(config: &mut Config) -> Result<Secret, RandomUnavailable> {
    let NewKey { key, entry } = NewKey::make("temporary", vec![Scope::Admin])?;
    config.auth.api_keys.push(entry);
    Ok(key)
}
