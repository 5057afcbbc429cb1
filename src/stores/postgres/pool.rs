use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use figment::Figment;
use rocket::async_trait;
use rocket::futures::future::join_all;
use rocket::tokio::time;
use rocket_db_pools::{Config, Database, Pool};
use sqlx::pool::{PoolConnection, PoolOptions};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Postgres};

/// The database the store writes to, `databases.siaga`: for routes of one's own as
/// [`Connection<Primary>`](rocket_db_pools::Connection). Attached when the store is chosen.
#[derive(Clone, Debug, Database)]
#[database("siaga")]
pub struct Primary(PostgresPool);

/// The replica the store reads from, `databases.siaga_read`. Attached when there is one.
#[derive(Clone, Debug, Database)]
#[database("siaga_read")]
pub struct Replica(PostgresPool);

/// Connections to one database.
///
/// Connects when a connection is first asked for, so that a service can start without its database. Waiting for a
/// connection, a statement and a lock are bounded in time.
#[derive(Clone, Debug)]
pub struct PostgresPool {
    pool: sqlx::PgPool,
    options: PgConnectOptions,
    links: Arc<Links>,
}

/// What is known of a pool's connections.
#[derive(Debug, Default)]
struct Links {
    /// When the database was lost last: connections made before are not used any more.
    lost: Mutex<Option<Instant>>,
    /// How many were made.
    made: AtomicU64,
}

impl Links {
    fn is_lost(&self, age: Duration) -> bool {
        let lost = *self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.is_some_and(|lost| lost.elapsed() <= age)
    }
}

/// How many connections there are to one database.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolUse {
    /// Which database: `primary`, `replica`.
    pub(super) database: &'static str,
    pub(super) in_use: usize,
    pub(super) idle: usize,
}

/// How long a connection may have been idle to be used without a question whether it is still there.
const TRUSTED: Duration = Duration::from_secs(1);
/// How long that question may take.
const PING: Duration = Duration::from_millis(250);
/// How long a statement may wait for a lock, and at most which part of what a call may take: it can be tried again.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

impl PostgresPool {
    /// Connections as configured, named after `name` in the database's list of its sessions; no statement may take
    /// longer than `timeout`.
    pub(super) fn new(config: &Config, name: &str, timeout: Duration) -> Result<Self, sqlx::Error> {
        let millis = |duration: Duration| format!("{}ms", duration.as_millis());
        let options = config
            .url
            .parse::<PgConnectOptions>()?
            .application_name(name)
            .disable_statement_logging()
            // Compiling a query would take longer than running any of ours.
            .options([("jit", "off"), ("timezone", "UTC")]);
        let bounded = options.clone().options([
            ("statement_timeout", millis(timeout)),
            ("lock_timeout", millis(LOCK_TIMEOUT.min(timeout / 4))),
            ("idle_in_transaction_session_timeout", millis(timeout)),
        ]);
        let links = Arc::new(Links::default());
        let (made, known) = (Arc::clone(&links), Arc::clone(&links));
        let pool = PgPoolOptions::new()
            .max_connections(u32::try_from(config.max_connections).unwrap_or(u32::MAX).max(1))
            .min_connections(config.min_connections.unwrap_or(0))
            .acquire_timeout(Duration::from_secs(config.connect_timeout).min(timeout))
            .idle_timeout(config.idle_timeout.map(Duration::from_secs))
            .test_before_acquire(false)
            .after_connect(move |_, _| {
                made.made.fetch_add(1, Ordering::SeqCst);
                Box::pin(async { Ok(()) })
            })
            .before_acquire(move |connection, about| {
                let is_lost = known.is_lost(about.age);
                Box::pin(async move {
                    if is_lost {
                        return Ok(false);
                    }
                    if about.idle_for > TRUSTED {
                        return Ok(time::timeout(PING, connection.ping())
                            .await
                            .is_ok_and(|pong| pong.is_ok()));
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(bounded);
        Ok(Self { pool, options, links })
    }

    /// Has the connections there are not be used any more: they may lead nowhere, without anybody saying so.
    pub(super) fn distrust(&self) {
        *self.links.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// How many connections were made until now.
    pub(super) fn made(&self) -> u64 {
        self.links.made.load(Ordering::SeqCst)
    }

    /// Makes the connections that are kept though nobody needs them: by itself the pool only replaces those it closes.
    pub(super) async fn fill(&self) {
        let options = self.pool.options();
        let kept = options.get_min_connections().min(options.get_max_connections());
        // Held together, so that each is another one. Those that cannot be made now are made when they are needed.
        drop(join_all((0..kept).map(|_| self.acquire())).await);
    }

    /// A connection of one's own for as long as it takes: no statement is bounded in time.
    pub(super) async fn connect(&self) -> Result<sqlx::PgConnection, sqlx::Error> {
        self.options.connect().await
    }

    /// A pool of one connection of the given name, for a listener.
    pub(super) fn single(&self, name: &str, timeout: Duration) -> sqlx::PgPool {
        let options = self.options.clone().application_name(name);
        PoolOptions::new().max_connections(1).acquire_timeout(timeout).connect_lazy_with(options)
    }

    pub(super) async fn acquire(&self) -> Result<PoolConnection<Postgres>, sqlx::Error> {
        self.pool.acquire().await
    }

    pub(super) fn used(&self, database: &'static str) -> PoolUse {
        let (all, idle) = (self.pool.size() as usize, self.pool.num_idle());
        PoolUse { database, in_use: all.saturating_sub(idle), idle }
    }

    pub(super) async fn end(&self) {
        self.pool.close().await;
    }

    /// The address of the database without user and password.
    pub(super) fn address(&self) -> String {
        let database = self.options.get_database().unwrap_or_else(|| self.options.get_username());
        match self.options.get_socket() {
            Some(socket) => format!("{}/{database}", socket.display()),
            None => format!("{}:{}/{database}", self.options.get_host(), self.options.get_port()),
        }
    }
}

#[async_trait]
impl Pool for PostgresPool {
    type Connection = PoolConnection<Postgres>;
    type Error = PoolError;

    async fn init(figment: &Figment) -> Result<Self, PoolError> {
        /// How long a statement may take where the service's own limit is not known.
        const TIMEOUT: Duration = Duration::from_secs(10);
        let config: Config = figment.extract()?;
        Ok(Self::new(&config, "siaga", TIMEOUT)?)
    }

    async fn get(&self) -> Result<Self::Connection, PoolError> {
        Ok(self.acquire().await?)
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

/// Why a pool could not be made, or gives no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The configuration is wrong.
    #[error("{0}")]
    Config(#[from] Box<figment::Error>),
    /// The database says no, or nothing.
    #[error("{0}")]
    Database(#[from] sqlx::Error),
}

impl From<figment::Error> for PoolError {
    fn from(error: figment::Error) -> Self {
        Box::new(error).into()
    }
}
