use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use figment::Figment;
use futures::future::join_all;
use rocket_db_pools::{Config, Database, Pool};
use sqlx::pool::{PoolConnection, PoolOptions};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, Postgres};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time;

use super::error::described;
use super::fair_semaphore::FairSemaphore;
use super::hosts::{Hosts, endpoint, ensure_writable};

/// The database of the store, `databases.siaga`. Routes of your own get a connection with the guard
/// [`Connection<Primary>`](rocket_db_pools::Connection). Available only if this store is selected.
#[derive(Clone, Debug, Database)]
#[database("siaga")]
pub struct Primary(PostgresPool);

/// Connections to the database.
///
/// Connects when a connection is first requested, so that a service can start without its database. Waiting for a connection,
/// running a statement and waiting for a lock have time limits.
///
/// If the address has several hosts, each connection goes to a host that accepted writes when the connection was opened.
#[derive(Clone, Debug)]
pub struct PostgresPool {
    pool: sqlx::PgPool,
    hosts: Arc<Hosts>,
    timeout: Duration,
    losses: Arc<Losses>,
    /// One permit for each allowed connection.
    permits: Arc<FairSemaphore>,
}

/// The right to one connection of the pool.
#[derive(Debug)]
pub(super) struct PoolPermit {
    _permit: OwnedSemaphorePermit,
    since: Instant,
    losses: Arc<Losses>,
}

#[derive(Debug, Default)]
struct Losses {
    /// Connections opened before this time are no longer used.
    lost: Mutex<Option<Instant>>,
}

impl Losses {
    fn is_lost(&self, age: Duration) -> bool {
        let lost = *self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.is_some_and(|lost| lost.elapsed() <= age)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PoolUsage {
    pub(super) in_use: usize,
    pub(super) idle: usize,
    pub(super) waiting: usize,
}

/// Idle time after which a connection is pinged before use, and the limit for the ping.
const PING_AFTER: Duration = Duration::from_secs(1);
const PING_TIMEOUT: Duration = Duration::from_millis(250);
/// How long a statement waits for a lock. Then it fails, and its operation retries without holding the connection.
const LOCK_TIMEOUT: Duration = Duration::from_millis(25);
/// Within this time the database notices that the client of a running statement has gone, and ends the statement.
const DISCONNECT_NOTICE: Duration = Duration::from_secs(1);

impl PostgresPool {
    /// Creates a pool that is not connected yet. No statement may take longer than `timeout`.
    pub(super) fn new(config: &Config, timeout: Duration) -> Result<Self, sqlx::Error> {
        let hosts = Hosts::parse(&config.url, Primary::NAME, timeout)?;
        let several = hosts.has_several();
        let first = bounded(hosts.current_options(), timeout);
        let losses = Arc::new(Losses::default());
        let pool_losses = Arc::clone(&losses);
        let max = u32::try_from(config.max_connections).unwrap_or(u32::MAX).max(1);
        let pool = PgPoolOptions::new()
            .max_connections(max)
            .min_connections(config.min_connections.unwrap_or(0))
            .acquire_timeout(Duration::from_secs(config.connect_timeout).min(timeout))
            .idle_timeout(config.idle_timeout.map(Duration::from_secs))
            .test_before_acquire(false)
            .after_connect(move |connection, _| {
                // A crashed primary may return as a standby before the pool has switched to another host.
                Box::pin(async move { if several { ensure_writable(connection).await } else { Ok(()) } })
            })
            .before_acquire(move |connection, meta| {
                let is_lost = pool_losses.is_lost(meta.age);
                Box::pin(async move {
                    if is_lost {
                        return Ok(false);
                    }
                    if meta.idle_for > PING_AFTER {
                        return Ok(time::timeout(PING_TIMEOUT, connection.ping())
                            .await
                            .is_ok_and(|pong| pong.is_ok()));
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(first);
        let permits = Arc::new(FairSemaphore::new("calls", max as usize));
        Ok(Self { pool, hosts: Arc::new(hosts), timeout, losses, permits })
    }

    pub(super) fn max_connections(&self) -> usize {
        self.pool.options().get_max_connections() as usize
    }

    pub(super) fn acquire_timeout(&self) -> Duration {
        self.pool.options().get_acquire_timeout()
    }

    /// Stops using the existing connections, because the pool cannot detect whether they are dead.
    pub(super) fn invalidate(&self) {
        *self.losses.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Opens the configured minimum of connections. sqlx itself only replaces connections that it closes.
    pub(super) async fn fill(&self) {
        let options = self.pool.options();
        let min = options.get_min_connections().min(options.get_max_connections());
        // Acquires all connections at once, so that they are different ones. Those that fail now are opened when needed.
        drop(join_all((0..min).map(|_| self.acquire())).await);
    }

    /// Opens a connection outside the pool, without a statement timeout. With several hosts, connects to the primary and switches
    /// the pool to it. If the primary has changed, invalidates the connections to the old primary and logs the change.
    pub(super) async fn connect(&self, name: &str) -> Result<sqlx::PgConnection, sqlx::Error> {
        let (host, connection) = self.hosts.connect(name).await?;
        if self.hosts.has_several() {
            self.use_host(host);
        }
        Ok(connection)
    }

    /// Makes the pool open new connections to this host only. If another host was used before, invalidates its connections.
    fn use_host(&self, host: usize) {
        let previous = self.hosts.set_current(host);
        if previous == Some(host) {
            return;
        }
        self.pool.set_connect_options(bounded(self.hosts.current_options(), self.timeout));
        if previous.is_some() {
            self.invalidate();
            tracing::warn!(
                host = endpoint(self.hosts.current_options()),
                "the database is written to at another host now"
            );
        }
    }

    /// Returns a pool of one connection, for a listener. With several hosts, it connects to the primary.
    pub(super) async fn single(&self, name: &str, timeout: Duration) -> Result<sqlx::PgPool, sqlx::Error> {
        if self.has_several_hosts() {
            drop(self.connect(name).await?);
        }
        let options = self.hosts.current_options().clone().application_name(name);
        Ok(PoolOptions::new().max_connections(1).acquire_timeout(timeout).connect_lazy_with(options))
    }

    /// Whether the address has several hosts. Only then does the pool leave a host that accepts no writes.
    pub(super) fn has_several_hosts(&self) -> bool {
        self.hosts.has_several()
    }

    pub(super) async fn acquire(&self) -> Result<(PoolConnection<Postgres>, PoolPermit), sqlx::Error> {
        let acquire = async {
            let permit = PoolPermit {
                _permit: self.permits.acquire().await?,
                since: Instant::now(),
                losses: Arc::clone(&self.losses),
            };
            Ok((self.pool.acquire().await?, permit))
        };
        let acquired = time::timeout(self.acquire_timeout(), acquire).await;
        acquired.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    pub(super) fn usage(&self) -> PoolUsage {
        let (open, idle) = (self.pool.size() as usize, self.pool.num_idle());
        PoolUsage { in_use: open.saturating_sub(idle), idle, waiting: self.permits.waiting() }
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }

    pub(super) fn address(&self) -> String {
        self.hosts.address()
    }
}

/// Adds time limits for statements, waits for locks, and idle transactions.
fn bounded(options: &PgConnectOptions, timeout: Duration) -> PgConnectOptions {
    options.clone().options([
        ("statement_timeout", millis(timeout)),
        ("lock_timeout", millis(LOCK_TIMEOUT)),
        ("idle_in_transaction_session_timeout", millis(timeout)),
    ])
}

fn millis(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

impl PoolPermit {
    /// Releases the permits of a connection that was closed during a statement, after the database has had time to notice that.
    pub(super) fn release_when_noticed(self, write_permit: Option<OwnedSemaphorePermit>) {
        // A lost database notices nothing, and operations need new connections as soon as it is back: release at once.
        if !self.losses.is_lost(self.since.elapsed())
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(async move {
                time::sleep(DISCONNECT_NOTICE).await;
                drop((self, write_permit));
            });
        }
    }
}

#[async_trait]
impl Pool for PostgresPool {
    type Connection = PoolConnection<Postgres>;
    type Error = PoolError;

    async fn init(figment: &Figment) -> Result<Self, PoolError> {
        const TIMEOUT: Duration = Duration::from_secs(10);
        let config: Config = figment.extract()?;
        Ok(Self::new(&config, TIMEOUT)?)
    }

    async fn get(&self) -> Result<Self::Connection, PoolError> {
        Ok(self.pool.acquire().await?)
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

/// Why a pool could not be created, or provides no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The configuration is wrong.
    #[error("{0}")]
    Config(#[from] Box<figment::Error>),
    /// The database refused, or did not respond.
    #[error("{}", described(.0))]
    Database(#[from] sqlx::Error),
}

impl From<figment::Error> for PoolError {
    fn from(error: figment::Error) -> Self {
        Box::new(error).into()
    }
}
