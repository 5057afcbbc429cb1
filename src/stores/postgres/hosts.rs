//! The hosts in the address of a database, and the one that accepts writes.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};
use tokio::time;
use url::Url;

use super::error::{described, is_outage};

/// The hosts of one database. At most one of them, the primary, accepts writes.
#[derive(Debug)]
pub(super) struct Hosts {
    all: Vec<PgConnectOptions>,
    /// Index in `all` of the last known primary.
    current: Mutex<Option<usize>>,
    host_timeout: Duration,
}

/// How long one of several hosts may take to connect and to show whether it accepts writes.
const HOST_TIMEOUT: Duration = Duration::from_secs(1);
/// How often the database checks whether the client of a running statement is still connected. If not, it ends the session.
const CLIENT_CHECK: Duration = Duration::from_millis(500);
/// The parameter of libpq that selects one of several hosts, and its values that are supported here.
const SESSION_ATTRS: &str = "target_session_attrs";
const SESSION_ATTRS_VALUES: [&str; 2] = ["read-write", "any"];

impl Hosts {
    /// Parses the address of a database. `name` becomes the `application_name`. Trying all hosts takes less than `timeout`.
    ///
    /// As in libpq, commas separate several hosts, each with its port: `postgres://user@a:5432,b:5433/name`.
    pub(super) fn parse(address: &str, name: &str, timeout: Duration) -> Result<Self, sqlx::Error> {
        let check = format!("{}ms", CLIENT_CHECK.as_millis());
        let configure = |options: PgConnectOptions| {
            options
                .application_name(name)
                .disable_statement_logging()
                // JIT compilation would take longer than any of our queries.
                .options([("jit", "off"), ("timezone", "UTC"), ("client_connection_check_interval", &check)])
        };
        let all: Vec<_> = options(address)?.into_iter().map(configure).collect();
        let host_timeout = HOST_TIMEOUT.min(timeout / u32::try_from(all.len() + 1).unwrap_or(u32::MAX));
        Ok(Self { all, current: Mutex::new(None), host_timeout })
    }

    pub(super) fn has_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Returns the options of the last known primary, or of the first host.
    pub(super) fn current_options(&self) -> &PgConnectOptions {
        &self.all[self.current_index()]
    }

    fn current_index(&self) -> usize {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(0)
    }

    /// Connects to the host that accepts writes, trying the last known primary first. A single host need not accept writes.
    /// Returns the index of the host, for [`set_current`](Self::set_current), and the connection.
    pub(super) async fn connect(&self, name: &str) -> Result<(usize, PgConnection), sqlx::Error> {
        if let [only] = &*self.all {
            return Ok((0, only.clone().application_name(name).connect().await?));
        }
        let mut errors = Vec::new();
        let start = self.current_index();
        for index in (start..self.all.len()).chain(0..start) {
            let host = &self.all[index];
            let connect = async {
                let mut connection = host.clone().application_name(name).connect().await?;
                ensure_writable(&mut connection).await?;
                Ok(connection)
            };
            match time::timeout(self.host_timeout, connect).await {
                Ok(Ok(connection)) => return Ok((index, connection)),
                Ok(Err(error)) => errors.push((host, error)),
                Err(_elapsed) => errors.push((host, io::Error::from(io::ErrorKind::TimedOut).into())),
            }
        }
        // Report an outage if any host may recover; otherwise return the first error.
        if errors.iter().all(|(_, error)| !is_outage(error)) {
            return Err(errors.swap_remove(0).1);
        }
        let reasons = errors.iter().map(|(host, error)| format!("{}: {}", endpoint(host), described(error)));
        let reasons: Vec<_> = reasons.collect();
        Err(io::Error::other(format!("no host accepts writes: {}", reasons.join("; "))).into())
    }

    /// Sets the primary. Returns the previous one.
    pub(super) fn set_current(&self, index: usize) -> Option<usize> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).replace(index)
    }

    /// Returns the address with all hosts, without user and password.
    pub(super) fn address(&self) -> String {
        let first = &self.all[0];
        let database = first.get_database().unwrap_or_else(|| first.get_username());
        let hosts: Vec<_> = self.all.iter().map(endpoint).collect();
        format!("{}/{database}", hosts.join(","))
    }
}

pub(super) fn endpoint(host: &PgConnectOptions) -> String {
    match host.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", host.get_host(), host.get_port()),
    }
}

/// Fails if the server is a standby or read-only.
pub(super) async fn ensure_writable(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let read_only: String =
        sqlx::query_scalar("SHOW transaction_read_only").fetch_one(&mut *connection).await?;
    if read_only == "off" { Ok(()) } else { Err(io::Error::other("the server accepts no writes").into()) }
}

/// Parses the connection options of each host. Errors contain no part of the address, because it may include a password.
pub(super) fn options(address: &str) -> Result<Vec<PgConnectOptions>, sqlx::Error> {
    let error = |reason: String| sqlx::Error::Configuration(reason.into());
    let invalid =
        || error("must be the address of a database, postgres://user:password@host/name".to_owned());
    let (scheme, rest) = address.split_once("://").ok_or_else(invalid)?;
    if !["postgres", "postgresql"].contains(&scheme) {
        return Err(invalid());
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let begin = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, hosts) = authority.split_at(begin);
    let several = hosts.contains(',');
    let each = hosts.split(',').map(|host| {
        if host.is_empty() && several {
            return Err(invalid());
        }
        let mut url = Url::parse(&format!("{scheme}://{user}{host}{rest}")).map_err(|_| invalid())?;
        let (wanted, others): (Vec<_>, Vec<_>) =
            url.query_pairs().into_owned().partition(|(key, _)| key == SESSION_ATTRS);
        if wanted.iter().any(|(_, value)| !SESSION_ATTRS_VALUES.contains(&&**value)) {
            let allowed = SESSION_ATTRS_VALUES.join(" or ");
            return Err(error(format!("{SESSION_ATTRS} must be {allowed}, or left out")));
        }
        if !wanted.is_empty() {
            url.query_pairs_mut().clear().extend_pairs(others);
        }
        let options = PgConnectOptions::from_url(&url).map_err(|_| invalid())?;
        if options.get_host().contains(',') {
            return Err(error(
                "several hosts stand before the name, as in postgres://user@a:5432,b:5432/name".to_owned(),
            ));
        }
        Ok(options)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoints(address: &str) -> Vec<String> {
        options(address).unwrap().iter().map(endpoint).collect()
    }

    #[test]
    fn an_address_has_one_or_several_hosts() {
        assert_eq!(endpoints("postgres://u:p@a:1/db"), ["a:1"]);
        assert_eq!(endpoints("postgresql://u:p@a:1,b:2,[::1]:3/db"), ["a:1", "b:2", "[::1]:3"]);
        assert_eq!(endpoints("postgres://u:p@a:1,b:2/db?target_session_attrs=read-write"), ["a:1", "b:2"]);
        assert_eq!(endpoints("postgres://u:p@%2Frun%2Fa,b:2/db"), ["/run/a", "b:2"]);
    }

    #[test]
    fn every_host_gets_the_shared_options() {
        let address =
            "postgres://u:p@a:1,b:2/db?target_session_attrs=any&sslmode=disable&options=-c%20jit%3Doff";
        for host in options(address).unwrap() {
            assert_eq!((host.get_username(), host.get_database()), ("u", Some("db")));
            assert!(matches!(host.get_ssl_mode(), sqlx::postgres::PgSslMode::Disable));
            assert_eq!(host.get_options(), Some("-c jit=off"));
        }
    }

    #[test]
    fn errors_show_no_part_of_an_invalid_address() {
        for (address, expected) in [
            ("postgres://u:hush@a,,b/db", "must be the address"),
            ("postgres://u:hush@a:1,b:port/db", "must be the address"),
            ("mysql://u:hush@a/db", "must be the address"),
            ("postgres:///db?password=hush&host=a,b", "several hosts stand before the name"),
            ("postgres://u:hush@a/db?target_session_attrs=standby", "must be read-write or any"),
        ] {
            let error = options(address).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("hush"), "{error}");
        }
    }
}
