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

use super::batch::Batches;
use super::connections::Connections;
use super::error::{DatabaseError, described, is_outage};
use super::flood_orders::FloodOrders;
use super::listener::{Announcer, Listener};
use super::partner_posts::PartnerPosts;
use super::places::PlacesCache;
use super::pool::{PostgresPool, Primary, Replica};
use super::readiness::Readiness;
use super::settings::{Databases, Settings};
use super::single_flight::SingleFlight;
use super::{PostgresStore, SchemaError, schema, status, transfer};
use crate::folder::{Folder, FolderWriter};
use crate::stores::{
    Imported, Managed, Migrated, OpenError, OpenStore, OpenedStore, Replace, Status, StoreSettings, Upkeep,
};
use crate::telemetry::Metrics;

/// Opens the store on the configured database.
#[derive(Clone, Copy, Debug)]
pub struct OpenPostgres;

/// How long to wait before trying again to reach a lost database.
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
        Databases::read(&settings.figment).map(drop)
    }

    fn upkeep(&self) -> Option<&dyn Upkeep> {
        Some(self)
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let databases = Databases::read(&settings.figment)?;
        let (primary, replica) = (databases.primary(settings.timeout)?, databases.replica(settings.timeout)?);
        let own = own_settings(&settings.figment)?;
        let (ready, is_ready) = watch::channel(false);
        let failure = match prepare(&primary, own, settings.timeout).await {
            Ok(_) => {
                ready.send_replace(true);
                None
            }
            Err(Unprepared::Away(error)) if own.wait > Duration::ZERO => {
                tracing::warn!(error = &*error, "waiting for the database");
                Some(await_database(primary.clone(), own, settings.timeout, ready))
            }
            Err(unprepared) => return Err(unprepared.into_error(&primary)),
        };
        tokio::spawn(fill(primary.clone(), replica.clone(), is_ready.clone()));
        let managed = managed(primary.clone(), replica.clone());
        let store = assemble(primary, replica, is_ready, settings);
        Ok(OpenedStore { store: Arc::new(store), managed, failure })
    }
}

#[async_trait]
impl Upkeep for OpenPostgres {
    async fn migrate(&self, settings: &StoreSettings) -> Result<Migrated, OpenError> {
        let primary = Databases::read(&settings.figment)?.primary(settings.timeout)?;
        prepare(&primary, Settings { migrate: true, ..Settings::default() }, settings.timeout)
            .await
            .map_err(|unprepared| unprepared.into_error(&primary))
    }

    async fn import(
        &self,
        settings: &StoreSettings,
        folder: &Folder,
        replace: Replace,
    ) -> Result<Imported, OpenError> {
        let connection = connect(settings).await?;
        block_in_place(|| transfer::import(connection, folder, settings.clock.now(), replace))
    }

    async fn export(&self, settings: &StoreSettings, folder: FolderWriter) -> Result<(), OpenError> {
        transfer::export(&mut connect(settings).await?, &folder).await
    }

    async fn status(&self, settings: &StoreSettings) -> Result<Status, OpenError> {
        let databases = Databases::read(&settings.figment)?;
        let primary = databases.primary(settings.timeout)?;
        let replica = databases.replica(settings.timeout)?;
        let asked = status::ask(&primary, replica.as_ref(), settings).await;
        asked.map_err(|error| format!("the database {}: {error}", primary.address()).into())
    }
}

/// Opens a connection to the primary, after making sure that its schema is there.
async fn connect(settings: &StoreSettings) -> Result<PgConnection, OpenError> {
    let primary = Databases::read(&settings.figment)?.primary(settings.timeout)?;
    let own = own_settings(&settings.figment)?;
    let prepared = prepare(&primary, own, settings.timeout).await;
    prepared.map_err(|unprepared| unprepared.into_error(&primary))?;
    Ok(primary.connect(Primary::NAME).await.map_err(DatabaseError)?)
}

fn assemble(
    primary: PostgresPool,
    replica: Option<PostgresPool>,
    ready: watch::Receiver<bool>,
    settings: &StoreSettings,
) -> PostgresStore {
    let announcer = Announcer::default();
    let clock = Arc::clone(&settings.clock);
    let places = Arc::new(PlacesCache::new());
    let listener = Listener::listen(primary.clone(), announcer.clone());
    let address = primary.address();
    let metrics = settings.metrics.clone();
    let connections = Connections::new(primary, replica, settings.timeout, ready, announcer, metrics);
    let connections = Arc::new(connections);
    measure(&connections, &listener, &settings.metrics);
    PostgresStore {
        address,
        flood_orders: Batches::start(FloodOrders { clock: Arc::clone(&clock) }, Arc::clone(&connections)),
        partner_posts: Batches::start(PartnerPosts { places: Arc::clone(&places) }, Arc::clone(&connections)),
        connections,
        places,
        listener,
        revisions: SingleFlight::new(),
        readiness: Readiness::default(),
        unread: Mutex::default(),
        clock,
    }
}

/// Reports to the metrics how many connections there are, how many calls wait for one, and whether the listener hears
/// from the database, for as long as the store exists.
fn measure(connections: &Arc<Connections>, listener: &Listener, metrics: &Metrics) {
    let (connections, is_heard) = (Arc::downgrade(connections), listener.hearing());
    metrics.add_source(move |metrics| {
        let Some(connections) = connections.upgrade() else { return };
        for pool in connections.pools() {
            metrics.connections(pool.database, pool.in_use, pool.idle);
            metrics.calls_waiting(pool.database, pool.waiting);
        }
        metrics.listener(is_heard());
    });
}

fn own_settings(figment: &Figment) -> Result<Settings, OpenError> {
    const KEY: &str = "siaga.postgres";
    if figment.contains(KEY) { Ok(figment.extract_inner(KEY)?) } else { Ok(Settings::default()) }
}

/// Why the database cannot be used.
enum Unprepared {
    /// It may come back.
    Away(OpenError),
    /// An operator has to do something about it.
    Unfit(OpenError),
}

impl Unprepared {
    fn into_error(self, database: &PostgresPool) -> OpenError {
        let (Self::Away(error) | Self::Unfit(error)) = self;
        format!("the database {}: {error}", database.address()).into()
    }
}

/// Makes sure that the schema is there, and returns its versions before and after that.
async fn prepare(
    primary: &PostgresPool,
    settings: Settings,
    timeout: Duration,
) -> Result<Migrated, Unprepared> {
    let away = |error: OpenError| match error.downcast_ref() {
        Some(error) if !is_outage(error) => Unprepared::Unfit(described(error).into()),
        Some(error) => Unprepared::Away(described(error).into()),
        None => Unprepared::Away(error),
    };
    let connecting = time::timeout(timeout, primary.connect(Primary::NAME)).await;
    let connected = connecting.map_err(|_| Unprepared::Away("gives no connection in time".into()))?;
    let mut connection = connected.map_err(|error| away(error.into()))?;
    let checking = time::timeout(timeout, schema::check(&mut connection)).await;
    let prepared = match checking.map_err(|_| Unprepared::Away("gives no answer in time".into()))? {
        // Migrations have no time limit: other servers wait for them, too.
        Err(error)
            if settings.migrate
                && let Some(SchemaError::Old { .. }) = error.downcast_ref() =>
        {
            schema::migrate(&mut connection).await
        }
        checked => checked.map(|()| Vec::new()),
    };
    let to = schema::needed();
    let prepared = prepared.map(|applied| Migrated { from: to - applied.len(), to, applied });
    prepared.map_err(|error| if error.is::<sqlx::Error>() { away(error) } else { Unprepared::Unfit(error) })
}

/// Tries until the database is there. The returned future resolves only with an error that ends the attempts.
fn await_database(
    primary: PostgresPool,
    settings: Settings,
    timeout: Duration,
    ready: watch::Sender<bool>,
) -> BoxFuture<'static, OpenError> {
    let waiting = async move {
        let since = Instant::now();
        loop {
            time::sleep(RETRY).await;
            match prepare(&primary, settings, timeout).await {
                Ok(_) => {
                    tracing::info!("the database is there");
                    ready.send_replace(true);
                    return Ok(());
                }
                Err(Unprepared::Away(_)) if since.elapsed() < settings.wait => {}
                Err(unprepared) => return Err(unprepared.into_error(&primary)),
            }
        }
    };
    // In a task of its own, so that it goes on even if nothing polls the returned future.
    let waiting = tokio::spawn(waiting);
    let failure = async {
        match waiting.await {
            Ok(Ok(())) => future::pending().await,
            Ok(Err(error)) => error,
            Err(error) => error.into(),
        }
    };
    failure.boxed()
}

/// Opens the configured minimum of connections, once the database is there.
async fn fill(primary: PostgresPool, replica: Option<PostgresPool>, mut ready: watch::Receiver<bool>) {
    // The sender is gone if the service ends first.
    if ready.wait_for(|is_ready| *is_ready).await.is_ok() {
        primary.fill().await;
        if let Some(replica) = replica {
            replica.fill().await;
        }
    }
}

/// Returns the pools, for routes of your own. They are closed with the store, not when the server begins to shut down:
/// requests in progress still need them then.
fn managed(primary: PostgresPool, replica: Option<PostgresPool>) -> Managed {
    let mut managed = Managed::default();
    managed.add(Primary::from(primary));
    if let Some(replica) = replica {
        managed.add(Replica::from(replica));
    }
    managed
}
