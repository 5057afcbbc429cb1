use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use figment::Figment;
use governor::clock::MonotonicClock;
use rocket::fairing::AdHoc;
use rocket::http::uri::{Error, Origin};
use rocket::shield::{Hsts, Shield};
use rocket::{Build, Rocket, Route};

use super::middleware::Middleware;
use super::{BuildError, Builder, Reloader, Siaga};
use crate::archive::Archive;
use crate::auth::{Authenticator, NewKey, RandomUnavailable, Scope, Secret, random};
use crate::changes::{Follower, WithdrawnRevision};
use crate::config::{Config, ConfigError};
use crate::formats::EncodeContext;
use crate::formats::tables::TableSchema;
use crate::http::admission::{rejection_routes, unreadable_request_catchers, unsupported_method_routes};
use crate::http::error::{ProblemPage, catchers};
use crate::http::fairings::{BareAddresses, Draining, KnownParameters, ResponseHeaders, with_request_ids};
use crate::http::quotas::{Quotas, StreamLimiter};
use crate::model::{Clock, LayerKind};
use crate::openapi::{Described, Interface, document};
use crate::pages::layout::Layout;
use crate::pages::{self, Desk, problem_page, redirect_to_front};
use crate::photos::{CardImages, Worker};
use crate::push::{self, PushService};
use crate::rendering::basemap::Basemap;
use crate::rendering::cache::{Cache, RenderTimeouts, UNBOUNDED_SHARE};
use crate::rendering::{LayerCache, Permits, Renderer, ResponseKey};
use crate::routes::{self, OpenApiDocument, Readiness, SubscribeLimits};
use crate::runtime::run_in_background;
use crate::sources::{ActivityRecorder, Sources};
use crate::stores::{JudgedGauges, MeasuredStore, OpenedStore, RefusalOfLimits, Store};
use crate::tasks::{DataWatch, ReportRetention, SourceWatch, StoredKeys, prepare_outlines};
use crate::telemetry::{Metrics, RepeatSuppressor};
use crate::webhooks::{Dispatcher, http_client, pooled_client};

impl Builder {
    /// Opens the store and assembles the server.
    ///
    /// # Errors
    ///
    /// [`BuildError`], as one line for the operator.
    pub async fn build(mut self) -> Result<Siaga, BuildError> {
        let (mut config, formats, templates) = self.load_config_and_formats()?;
        let interface = self.interface()?;
        let opener = self.stores.get(&config.store)?;
        let temporary = self.needs_temporary_key(&config)?;
        let key = temporary.then(|| temporary_key(&mut config)).transpose()?;
        let temporary = config.auth.api_keys.first().filter(|_| temporary).cloned();
        let settings = self.store_settings(&config);
        let OpenedStore { store, managed, failure } =
            opener.open(&settings).await.map_err(BuildError::Store)?;
        let metrics = settings.metrics;
        let store = decorated(store, &config, &self.clock, &metrics).await;
        let follower = Follower::new(Arc::clone(&store), Arc::clone(&self.clock), metrics.clone());
        let renderer = renderer(&config, &store, &self.clock, &metrics, follower.withdrawn_revision());
        let images = CardImages::open(&config, Arc::clone(&store), Arc::clone(&self.clock), metrics.clone());
        let images = Arc::new(images?);
        let authenticator = Authenticator::new(config.auth.clone(), Arc::clone(&self.clock))?;
        self.reloadable.extend([Arc::new(templates) as _, Arc::new(authenticator.clone()) as _]);
        let quotas = Arc::new(Quotas::new(config.quota.clone(), MonotonicClock));
        self.reloadable.push(Arc::clone(&quotas) as _);
        let stored_keys = StoredKeys::new(Arc::clone(&store), Arc::clone(authenticator.ring()));
        stored_keys.refresh().await;
        let sources = Sources::new(config.sources.clone(), Arc::clone(&self.clock));
        let source_watch = SourceWatch::new(Arc::clone(&store), sources.clone(), &metrics);
        source_watch.refresh().await;
        let spec = Interface { config: &config, formats: &formats };
        let description = OpenApiDocument::new(document(&spec, &interface));
        let (addresses, known) = (bare_addresses(&spec, &interface), known_parameters(&spec, &interface));
        let routes = with_request_ids(interface.into_iter().map(|described| described.route).collect());
        let fallback = unsupported_method_routes(routes.iter());
        let at_root = root_routes(&config, &routes);
        let push = push_service(&config, &store, &self.clock, &metrics)?;
        let is_only = opener.is_exclusive();
        let mut webhooks =
            Dispatcher::new(&config, &store, is_only, &self.clock, &sources, &metrics, http_client)?;
        webhooks.add_tasks(|lease| push.iter().flat_map(|push| push.tasks(lease)).collect());
        webhooks.init_checkpoints().await;
        let watch = config.metrics.enabled.then(|| {
            Arc::new(DataWatch::new(&store, webhooks.gauges(), &metrics, &self.clock, push.is_some())) as _
        });
        let context = EncodeContext::new(self.clock.now(), config.time_zone, config.base_url.as_str());
        let default = formats.for_kind(LayerKind::Floods).next().cloned();
        let outlines = prepare_outlines(Arc::clone(&store), default, context);
        let draining = Draining::default();
        let headers = ResponseHeaders::new(&config, known.clone(), draining.clone());
        let rocket = rocket::custom(with_sealing_key(&self.figment, &*store).await?)
            .attach(shield(&self.figment))
            .attach(Middleware { metrics: metrics.clone(), addresses, headers: headers.clone() })
            .attach(Arc::clone(&quotas).sweeper())
            .attach(Worker::new(Arc::clone(&images)).fairing())
            .attach(stored_keys.clone())
            .attach(follower.clone())
            .attach(outlines)
            .attach(ActivityRecorder::new(sources.clone()))
            .attach(source_watch.clone())
            .attach(ReportRetention::new(&config, &store, &self.clock, follower.withdrawn_revision()))
            .attach(follow_public_keys(authenticator.clone()))
            .manage::<Arc<dyn Store>>(Arc::clone(&store))
            .manage(formats.clone())
            .manage(Arc::new(renderer))
            .manage(images)
            .manage(authenticator)
            .manage(quotas)
            .manage(sources)
            .manage(StreamLimiter::new(config.streams, &metrics))
            .manage(metrics)
            .manage(draining.clone())
            .manage(headers)
            .manage(known)
            .manage(follower)
            .manage(description)
            .manage(config.clone())
            .manage(push)
            .mount("/", unsupported_method_routes(at_root.iter()))
            .mount("/", at_root)
            .mount("/", rejection_routes())
            .register("/", catchers())
            .register("/", unreadable_request_catchers());
        let at_each_path =
            |rocket: Rocket<Build>, path| rocket.mount(path, routes.clone()).mount(path, fallback.clone());
        let rocket = with_archive(rocket, &config, &store, &self.clock);
        let rocket = webhooks.attach_to(with_results(rocket, &config, &self.clock)?);
        let rocket = config.mount_paths().fold(rocket, at_each_path);
        let fairings = watch.into_iter().chain(self.fairings.drain(..));
        let rocket = fairings.fold(managed.attach(rocket), Rocket::attach);
        let reloading = Reloader::new(self, temporary, config.base_url.clone());
        Ok(Siaga {
            rocket,
            config,
            store,
            formats,
            key,
            failure,
            reloading,
            draining,
            stored_keys,
            source_watch,
        })
    }

    /// If the interface is mounted at `/`, checks that no other mount path has the same first segment as a resource.
    pub(super) fn check_mount_paths(&self, config: &Config) -> Result<(), BuildError> {
        let first = |path: &str| path.split('/').nth(1).unwrap_or_default().to_owned();
        if config.mount_paths().all(|path| path != "/") {
            return Ok(());
        }
        let resources: HashSet<String> =
            self.interface()?.iter().map(|described| first(described.route.uri.path())).collect();
        match config.mount_paths().find(|path| *path != "/" && resources.contains(&first(path))) {
            None => Ok(()),
            Some(path) => {
                let reason = format!("the interface is mounted at / as well, where {path} is one of its own");
                Err(BuildError::Mount { path: path.to_owned(), reason })
            }
        }
    }

    /// Returns all routes below the base path: the service's own routes and those added to the builder.
    pub(super) fn interface(&self) -> Result<Vec<Described>, BuildError> {
        let mut interface = routes::all();
        for (path, described) in &self.routes {
            let refused =
                |error: Error<'_>| BuildError::Mount { path: path.clone(), reason: error.to_string() };
            // Checked here, because `map_base` checks the path less strictly.
            let base = Origin::parse(path).map_err(refused)?;
            if base.query().is_some() {
                let reason = "it has a query".to_owned();
                return Err(BuildError::Mount { path: path.clone(), reason });
            }
            let base = base.path().as_str().trim_end_matches('/');
            let mut described = described.clone();
            described.route = described.route.map_base(|old| format!("{base}{old}")).map_err(refused)?;
            interface.push(described);
        }
        Ok(interface)
    }
}

/// Returns a shield without Rocket's default headers, which `ResponseHeaders` sets instead. With TLS, the shield enables HSTS,
/// because Rocket would otherwise enable HSTS itself with a warning.
fn shield(figment: &Figment) -> Shield {
    let has_tls = rocket::Config::try_from(figment).is_ok_and(|config| config.tls_enabled());
    if has_tls { Shield::new().enable(Hsts::default()) } else { Shield::new() }
}

/// Adds what no store has to do itself.
async fn decorated(
    store: Arc<dyn Store>,
    config: &Config,
    clock: &Arc<dyn Clock>,
    metrics: &Metrics,
) -> Arc<dyn Store> {
    let store = if store.enforces_limits().await {
        store
    } else {
        tracing::warn!(
            "{store} does not check the areas of credentials: those limited to areas cannot write"
        );
        Arc::new(RefusalOfLimits(store))
    };
    let store = Arc::new(JudgedGauges::new(store, config.gauges.clone(), Arc::clone(clock)));
    Arc::new(MeasuredStore::new(store, metrics.clone()))
}

fn renderer(
    config: &Config,
    store: &Arc<dyn Store>,
    clock: &Arc<dyn Clock>,
    metrics: &Metrics,
    withdrawn: &WithdrawnRevision,
) -> Renderer {
    // On 32-bit systems, a larger size is capped.
    let cache_size = config.cache.size.as_u64().try_into().unwrap_or(usize::MAX);
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let limits = config.limits;
    Renderer {
        store: Arc::clone(store),
        cache: Cache::with_unbounded_keys(
            cache_size,
            RenderTimeouts::for_requests(limits.timeout),
            metrics.clone(),
            ResponseKey::is_unbounded,
        ),
        withdrawn: withdrawn.clone(),
        permits: Permits::new(
            limits.rendering.as_u64(),
            config.cache.size.as_u64() / UNBOUNDED_SHARE as u64,
            cores,
            metrics.clone(),
        ),
        max_features: limits.features.get().into(),
        clock: Arc::clone(clock),
        time_zone: config.time_zone,
        base_url: Arc::from(config.base_url.as_str()),
        photos_url: config.photos_url().into(),
        issuer: Arc::new(config.issuer()),
        timeout: limits.timeout,
        stale: limits.stale,
        metrics: metrics.clone(),
        tables: Arc::new(TableSchema::new(config.country.data(), &config.photos_url())),
        layers: LayerCache::default(),
    }
}

fn bare_addresses(offered: &Interface<'_>, routes: &[Described]) -> BareAddresses {
    let with_formats: Vec<_> =
        routes.iter().map(|described| (&described.route, described.formats(offered))).collect();
    BareAddresses::new(offered.config.mount_paths(), &with_formats)
}

fn known_parameters(offered: &Interface<'_>, routes: &[Described]) -> KnownParameters {
    KnownParameters::new(routes.iter().filter_map(|described| described.public_read(offered)))
}

fn with_archive(
    rocket: Rocket<Build>,
    config: &Config,
    store: &Arc<dyn Store>,
    clock: &Arc<dyn Clock>,
) -> Rocket<Build> {
    let archive = config.archive.folder.clone().map(|folder| Archive::new(store, clock, config, folder));
    archive.iter().fold(rocket, |rocket, archive| rocket.attach(archive.task())).manage(archive.clone())
}

/// Returns the service of push messages, if enabled.
fn push_service(
    config: &Config,
    store: &Arc<dyn Store>,
    clock: &Arc<dyn Clock>,
    metrics: &Metrics,
) -> Result<Option<PushService>, BuildError> {
    let client = || pooled_client(config.push.private, push::CONNECTIONS);
    let client = config.push.enabled.then(client).transpose();
    let client = client.map_err(|error| ConfigError::new("siaga.push", error))?;
    Ok(client.map(|client| PushService::new(config, store, clock, metrics, client)))
}

fn follow_public_keys(authenticator: Authenticator) -> AdHoc {
    AdHoc::on_liftoff("Public keys", |rocket| {
        Box::pin(async move { run_in_background(rocket, async move { authenticator.watch().await }) })
    })
}

/// Sets Rocket's secret key, which encrypts the sessions of the desk. The key is derived from a secret in the store, so that all
/// servers share it and it survives restarts. If the store is unavailable, the key is random, and sessions end with the server.
async fn with_sealing_key(figment: &Figment, store: &dyn Store) -> Result<Figment, RandomUnavailable> {
    let new = Secret::from(random::hex::<32>()?);
    let secret = store.signing_key(&new).await.unwrap_or_else(|error| {
        tracing::warn!(
            "logins at the desk end when this server ends, because the store has not given its key: {error}"
        );
        new
    });
    let key = blake3::derive_key("siaga desk 2026 sealing of logins", secret.expose().as_bytes());
    Ok(figment.clone().merge((rocket::Config::SECRET_KEY, hex::encode(key))))
}

fn temporary_key(config: &mut Config) -> Result<Secret, RandomUnavailable> {
    let NewKey { key, entry } = NewKey::make("temporary", vec![Scope::Admin])?;
    config.auth.api_keys.push(entry);
    Ok(key)
}

/// Returns the routes outside the base path. Unless the interface has a route `/`, each mount path except `/` redirects to the
/// front page.
fn root_routes(config: &Config, routes: &[Route]) -> Vec<Route> {
    let mut at_root = routes::operator_routes(config.metrics.enabled);
    at_root.extend(pages::routes(config.desk.enabled));
    // Routes are relative to every mount path.
    let has_front = routes.iter().any(|route| route.uri.path() == "/");
    if !has_front {
        at_root.extend(config.mount_paths().filter(|path| *path != "/").map(redirect_to_front));
    }
    with_request_ids(at_root)
}

/// Adds managed state: the clock, the base map, and caches of the pages, health checks and log.
fn with_results(
    rocket: Rocket<Build>,
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> Result<Rocket<Build>, BuildError> {
    let rocket = pages::manage_state(rocket, config)
        .manage(Basemap::load(config)?)
        .manage(Layout::new(config))
        .manage(Arc::clone(clock))
        .manage(Readiness::default())
        .manage(SubscribeLimits::new(config))
        .manage(ProblemPage(problem_page))
        .manage(RepeatSuppressor::default())
        .manage(Desk::new(Arc::clone(clock)));
    Ok(rocket)
}
