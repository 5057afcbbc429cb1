use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use figment::Figment;
use futures::FutureExt;
use futures::future::{self, BoxFuture};
use rocket_db_pools::Database;
use sqlx::PgConnection;
use tokio::sync::watch;
use tokio::task::block_in_place;
use tokio::time;

use super::connections::Connections;
use super::error::{DatabaseError, described, is_outage};
use super::listener::{Announcer, Listener};
use super::places::PlacesCache;
use super::pool::{PostgresPool, Primary};
use super::readiness::Readiness;
use super::settings::{Settings, database};
use super::single_flight::SingleFlight;
use super::{PostgresStore, SchemaError, schema, status, transfer};
use crate::data::folder::{Folder, FolderWriter};
use crate::stores::{
    ImportSummary, ManagedState, MigrationSummary, OpenError, OpenStore, OpenedStore, Replace, Status,
    StoreSettings, Upkeep,
};
use crate::telemetry::Metrics;

/// Opens the store on the configured database.
#[derive(Clone, Copy, Debug)]
pub struct OpenPostgres;

/// Interval between attempts to reach the database at startup.
const RETRY: Duration = Duration::from_millis(250);

#[async_trait]
impl OpenStore for OpenPostgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    fn check(&self, settings: &StoreSettings) -> Result<(), OpenError> {
        database(&settings.figment).map(drop)
    }

    fn upkeep(&self) -> Option<&dyn Upkeep> {
        Some(self)
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let pool = pool(settings)?;
        let pg_settings = store_settings(&settings.figment)?;
        let (ready, is_ready) = watch::channel(false);
        let failure = match prepare(&pool, pg_settings, settings.timeout).await {
            Ok(_) => {
                ready.send_replace(true);
                None
            }
            Err(PrepareError::Unavailable(error)) if pg_settings.wait > Duration::ZERO => {
                tracing::warn!(error = &*error, "waiting for the database");
                Some(await_database(pool.clone(), pg_settings, settings.timeout, ready))
            }
            Err(error) => return Err(error.into_error(&pool)),
        };
        tokio::spawn(fill(pool.clone(), is_ready.clone()));
        let managed = managed(pool.clone());
        let store = assemble(pool, is_ready, settings);
        Ok(OpenedStore { store: Arc::new(store), managed, failure })
    }
}

#[async_trait]
impl Upkeep for OpenPostgres {
    async fn migrate(&self, settings: &StoreSettings) -> Result<MigrationSummary, OpenError> {
        let pool = pool(settings)?;
        prepare(&pool, Settings { migrate: true, ..Settings::default() }, settings.timeout)
            .await
            .map_err(|error| error.into_error(&pool))
    }

    async fn import(
        &self,
        settings: &StoreSettings,
        folder: &Folder,
        replace: Replace,
    ) -> Result<ImportSummary, OpenError> {
        let connection = connect(settings).await?;
        block_in_place(|| transfer::import(connection, folder, settings.clock.now(), replace))
    }

    async fn export(&self, settings: &StoreSettings, folder: FolderWriter) -> Result<(), OpenError> {
        transfer::export(&mut connect(settings).await?, &folder).await
    }

    async fn status(&self, settings: &StoreSettings) -> Result<Status, OpenError> {
        let pool = pool(settings)?;
        let outcome = status::read(&pool, settings).await;
        outcome.map_err(|error| format!("the database {}: {error}", pool.address()).into())
    }
}

/// Returns a pool, which connects only when a connection is first requested.
fn pool(settings: &StoreSettings) -> Result<PostgresPool, OpenError> {
    Ok(PostgresPool::new(&database(&settings.figment)?, settings.timeout)?)
}

/// Prepares and checks the database, and returns a connection outside the pool.
async fn connect(settings: &StoreSettings) -> Result<PgConnection, OpenError> {
    let pool = pool(settings)?;
    let pg_settings = store_settings(&settings.figment)?;
    let prepared = prepare(&pool, pg_settings, settings.timeout).await;
    prepared.map_err(|error| error.into_error(&pool))?;
    Ok(pool.connect(Primary::NAME).await.map_err(DatabaseError)?)
}

fn assemble(pool: PostgresPool, ready: watch::Receiver<bool>, settings: &StoreSettings) -> PostgresStore {
    let announcer = Announcer::default();
    let clock = Arc::clone(&settings.clock);
    let places = Arc::new(PlacesCache::new());
    let listener = Listener::listen(pool.clone(), announcer.clone());
    let address = pool.address();
    let metrics = settings.metrics.clone();
    let connections = Connections::new(pool, settings.timeout, ready, announcer, metrics);
    let connections = Arc::new(connections);
    register_metrics(&connections, &listener, &settings.metrics);
    PostgresStore {
        address,
        connections,
        places,
        listener,
        revisions: SingleFlight::new(),
        readiness: Readiness::default(),
        unreadable: Mutex::default(),
        clock,
    }
}

fn register_metrics(connections: &Arc<Connections>, listener: &Listener, metrics: &Metrics) {
    let (connections, is_current) = (Arc::downgrade(connections), listener.current_check());
    metrics.add_source(move |metrics| {
        let Some(connections) = connections.upgrade() else { return };
        let usage = connections.usage();
        metrics.set_connections(usage.in_use, usage.idle);
        metrics.set_calls_waiting(usage.waiting);
        metrics.set_listener_up(is_current());
    });
}

fn store_settings(figment: &Figment) -> Result<Settings, OpenError> {
    const KEY: &str = "siaga.postgres";
    if figment.contains(KEY) { Ok(figment.extract_inner(KEY)?) } else { Ok(Settings::default()) }
}

enum PrepareError {
    /// The database may recover by itself.
    Unavailable(OpenError),
    /// An operator must fix the problem.
    Unusable(OpenError),
}

impl PrepareError {
    fn into_error(self, database: &PostgresPool) -> OpenError {
        let (Self::Unavailable(error) | Self::Unusable(error)) = self;
        format!("the database {}: {error}", database.address()).into()
    }
}

/// Checks the schema, and migrates an old one if configured. Returns the schema's versions before and after.
async fn prepare(
    pool: &PostgresPool,
    settings: Settings,
    timeout: Duration,
) -> Result<MigrationSummary, PrepareError> {
    let classify = |error: OpenError| match error.downcast_ref() {
        Some(error) if !is_outage(error) => PrepareError::Unusable(described(error).into()),
        Some(error) => PrepareError::Unavailable(described(error).into()),
        None => PrepareError::Unavailable(error),
    };
    let connect_result = time::timeout(timeout, pool.connect(Primary::NAME)).await;
    let connected = connect_result.map_err(|_| PrepareError::Unavailable("no connection in time".into()))?;
    let mut connection = connected.map_err(|error| classify(error.into()))?;
    let check_result = time::timeout(timeout, schema::check(&mut connection)).await;
    let prepared = match check_result.map_err(|_| PrepareError::Unavailable("no response in time".into()))? {
        // Migrations have no time limit, and may wait for the migrations of another server.
        Err(error)
            if settings.migrate
                && let Some(SchemaError::Old { .. }) = error.downcast_ref() =>
        {
            schema::migrate(&mut connection).await
        }
        checked => checked.map(|()| Vec::new()),
    };
    let to = schema::needed();
    let prepared = prepared.map(|applied| MigrationSummary { from: to - applied.len(), to, applied });
    prepared.map_err(
        |error| if error.is::<sqlx::Error>() { classify(error) } else { PrepareError::Unusable(error) },
    )
}

/// Retries until the database is reached. The returned future resolves only with an error that ends the attempts.
fn await_database(
    pool: PostgresPool,
    settings: Settings,
    timeout: Duration,
    ready: watch::Sender<bool>,
) -> BoxFuture<'static, OpenError> {
    let task = async move {
        let since = Instant::now();
        loop {
            time::sleep(RETRY).await;
            match prepare(&pool, settings, timeout).await {
                Ok(_) => {
                    tracing::info!("the database is there");
                    ready.send_replace(true);
                    return Ok(());
                }
                Err(PrepareError::Unavailable(_)) if since.elapsed() < settings.wait => {}
                Err(error) => return Err(error.into_error(&pool)),
            }
        }
    };
    // In its own task, so that it continues even if nothing polls the returned future.
    let task = tokio::spawn(task);
    let failure = async {
        match task.await {
            Ok(Ok(())) => future::pending().await,
            Ok(Err(error)) => error,
            Err(error) => error.into(),
        }
    };
    failure.boxed()
}

async fn fill(pool: PostgresPool, mut ready: watch::Receiver<bool>) {
    if ready.wait_for(|is_ready| *is_ready).await.is_ok() {
        pool.fill().await;
    }
}

/// Returns the pool for routes of your own. It closes with the store: requests in progress need it after shutdown has begun.
fn managed(pool: PostgresPool) -> ManagedState {
    let mut managed = ManagedState::default();
    managed.add(Primary::from(pool));
    managed
}
