use std::fmt;
use std::io;
use std::time::Duration;

use rocket::futures::TryStreamExt;
use rocket::tokio::time;
use serde::de::DeserializeOwned;
use serde_json::Value;
use siaga::folder::WriteError;
use siaga::model::Tags;
use siaga::stores::postgres::described;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};

use super::copied::{Copied, What};
use super::values::{Shape, tags};

/// The address of a database. Its text never shows the password.
pub(crate) struct Address(PgConnectOptions);

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.0.get_database().unwrap_or_else(|| self.0.get_username());
        match self.0.get_socket() {
            Some(socket) => write!(f, "{}/{database}", socket.display()),
            None => write!(f, "{}:{}/{database}", self.0.get_host(), self.0.get_port()),
        }
    }
}

impl Address {
    /// Parses `postgres://user:password@host/name`. Missing parts, such as the password, come from the environment (`PGPASSWORD`,
    /// `PGPASSFILE`), as in libpq.
    pub(crate) fn read(url: &str) -> Result<Self, CopyError> {
        let is_postgres = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
        let options = url.parse().ok().filter(|_| is_postgres);
        options.map(Self).ok_or(CopyError::Address)
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// The address is invalid. The message does not repeat the address, because it may contain a password.
    #[error("--from must be the address of a database, postgres://user:password@host/name")]
    Address,
    #[error("cannot connect to {address}: {}", described(.error))]
    Connection {
        /// The address without user and password.
        address: String,
        error: sqlx::Error,
    },
    #[error("{0} is no CogniCity database: it has none of the tables {tables}", tables = TABLES.join(", "))]
    NoTables(String),
    #[error("{table}: {}", described(.error))]
    Table { table: &'static str, error: sqlx::Error },
    #[error("{0}")]
    Write(#[from] WriteError),
}

/// Every CogniCity database has at least one of these tables.
const TABLES: [&str; 2] = ["cognicity.local_areas", "cognicity.all_reports"];

pub(super) enum Refused {
    /// The row is wrong. The copy continues without it.
    Row(String),
    /// The folder cannot be written. The copy stops.
    Write(WriteError),
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self::Row(reason)
    }
}

impl From<&str> for Refused {
    fn from(reason: &str) -> Self {
        Self::Row(reason.to_owned())
    }
}

impl From<WriteError> for Refused {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

/// A query for the rows of a table. It returns each row as JSON, its geometry as WKB or null, and its name in messages. Rows are
/// JSON, because installations have different columns: missing columns are read as null.
pub(super) struct Table {
    /// The name, with its schema.
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

pub(super) struct TableRow<'c> {
    pub(super) shape: Shape,
    pub(super) copied: &'c mut Copied,
    table: &'static str,
    called: String,
}

impl TableRow<'_> {
    pub(super) fn note(&mut self, what: What, reason: impl Into<String>) {
        self.copied.note(self.table, what, reason.into(), &self.called);
    }

    /// Returns the regions of the row from its column `tags`. Counts wrong tags, and makes them null.
    pub(super) fn tags(&mut self, column: Option<&Value>) -> Tags {
        self.value("tags", tags(column).map(Some)).unwrap_or_default()
    }

    /// Returns the value of a column. Counts a wrong value, and returns `None` for it.
    pub(super) fn value<T>(
        &mut self,
        column: &'static str,
        value: Result<Option<T>, impl Into<String>>,
    ) -> Option<T> {
        value.unwrap_or_else(|reason| {
            self.note(What::Value(column), reason);
            None
        })
    }
}

/// A snapshot of the database, and the counts of the copy.
pub(super) struct Source {
    connection: PgConnection,
    pub(super) copied: Copied,
}

impl Source {
    /// Connects and begins the transaction of the snapshot.
    pub(super) async fn open(address: &Address, timeout: Duration) -> Result<Self, CopyError> {
        let failed = |error| CopyError::Connection { address: address.to_string(), error };
        let options = address.0.clone().application_name("siaga-take-over").disable_statement_logging();
        let connected = time::timeout(timeout, options.connect()).await.unwrap_or_else(|_| {
            let silent = format!("no response within {}", humantime::format_duration(timeout));
            Err(io::Error::new(io::ErrorKind::TimedOut, silent).into())
        });
        let mut connection = connected.map_err(failed)?;
        for statement in [
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            // UTC, because times are read as text. No time limit, because it would end the copy of a long table.
            "SET LOCAL TIME ZONE 'UTC'",
            "SET LOCAL statement_timeout = 0",
        ] {
            sqlx::query(statement).execute(&mut connection).await.map_err(failed)?;
        }
        let mut source = Self { connection, copied: Copied::default() };
        for table in TABLES {
            if source.has(table).await? {
                return Ok(source);
            }
        }
        Err(CopyError::NoTables(address.to_string()))
    }

    pub(super) async fn has(&mut self, table: &'static str) -> Result<bool, CopyError> {
        // Avoids `to_regclass`, which fails if the user may not use the schema. Reading the table reports such a failure later.
        let there = sqlx::query_scalar(
            "SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                            WHERE nspname || '.' || relname = $1)",
        );
        let there = there.bind(table).fetch_one(&mut self.connection).await;
        there.map_err(|error| CopyError::Table { table, error })
    }

    /// Streams the rows of a table to `take`, and counts rows that `take` rejects. Records a missing table, and reads nothing.
    pub(super) async fn each<T: DeserializeOwned>(
        &mut self,
        Table { name: table, sql }: Table,
        mut take: impl FnMut(T, &mut TableRow<'_>) -> Result<(), Refused>,
    ) -> Result<(), CopyError> {
        if !self.has(table).await? {
            self.copied.missing(table);
            return Ok(());
        }
        let Self { connection, copied } = self;
        let mut rows = sqlx::query_as(sql).fetch(connection);
        let failed = |error| CopyError::Table { table, error };
        while let Some((json, shape, called)) = rows.try_next().await.map_err(failed)? {
            let (json, called): (String, String) = (json, called);
            let mut row = TableRow { shape: Shape(shape), copied: &mut *copied, table, called };
            let read = serde_json::from_str(&json).map_err(|error| Refused::Row(error.to_string()));
            match read.and_then(|value| take(value, &mut row)) {
                Ok(()) => {}
                Err(Refused::Row(reason)) => row.note(What::Row, reason),
                Err(Refused::Write(error)) => return Err(error.into()),
            }
        }
        Ok(())
    }

    pub(super) async fn close(self) -> Copied {
        // Ignores an error, because all data has been read.
        let _ = self.connection.close().await;
        self.copied
    }
}
