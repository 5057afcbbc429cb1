use std::collections::BTreeMap;
use std::sync::mpsc::{self, SyncSender};
use std::{fmt, io, thread};

use figment::Figment;
use figment::providers::Serialized;
use figment::value::{Dict, Value};
use rocket::tokio::runtime::Handle;

use super::{BuildError, Builder};
use crate::auth::{ApiKey, Authenticator};
use crate::config::{BaseUrl, Config, ConfigError};
use crate::http::quotas::Quotas;
use crate::telemetry::Log;

/// A part of the service whose settings can change while it runs.
pub trait Reload: Send + Sync {
    /// Returns the keys from which it takes its settings, each with all keys below: `siaga.log`.
    fn keys(&self) -> &[&str];

    /// Applies the settings of this configuration, which has been checked.
    fn reload(&self, config: &Config);
}

impl Reload for Log {
    fn keys(&self) -> &[&str] {
        &["siaga.log"]
    }

    fn reload(&self, config: &Config) {
        self.set(config.log);
    }
}

impl Reload for Authenticator {
    fn keys(&self) -> &[&str] {
        &["siaga.auth"]
    }

    fn reload(&self, config: &Config) {
        // Files are read again here, and may have changed since the check.
        if let Err(error) = self.accept(config.auth.clone()) {
            tracing::error!("credentials stay as they were: {error}");
        }
    }
}

impl Reload for Quotas {
    fn keys(&self) -> &[&str] {
        // Trusted proxies are used for more than quotas, so they are not reloaded.
        &[
            "siaga.quota.per_second",
            "siaga.quota.burst",
            "siaga.quota.credential",
            "siaga.quota.per_day",
            "siaga.quota.fuse_per_second",
            "siaga.quota.unknown_cards",
        ]
    }

    fn reload(&self, config: &Config) {
        self.change(config.quota.clone());
    }
}

/// Reads the configuration again and applies it to the parts whose settings can change.
pub struct Reloading {
    builder: Builder,
    /// The base address of the running server. It stays, and so do all settings derived from it.
    base_url: BaseUrl,
    /// The key made for this run. It stays accepted as long as no other credential is.
    temporary: Option<ApiKey>,
}

impl fmt::Debug for Reloading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloading").finish_non_exhaustive()
    }
}

impl Reloading {
    pub(super) fn new(builder: Builder, temporary: Option<ApiKey>, base_url: BaseUrl) -> Self {
        Self { builder, base_url, temporary }
    }

    /// Reads the configuration from its sources, checks it, and applies everything that needs no restart. Returns the paths of
    /// the changed keys that need a restart. Templates are read again by the settings that they had at startup; one with a fault
    /// stays as it was, which is logged.
    ///
    /// # Errors
    ///
    /// If the configuration is wrong, or its file is now empty or missing. Then nothing changes.
    pub fn reload(&self) -> Result<Vec<String>, BuildError> {
        let builder = Builder { figment: (self.builder.source)(), ..self.builder.clone() };
        // Some editors empty a file before they write it. If it were read then, every key would be lost.
        if let Some(file) = Config::file(&self.builder.figment)
            && Config::file(&builder.figment).is_none()
        {
            let reason = "the file is empty or missing; write it again, then send SIGHUP again";
            return Err(ConfigError::new(&file.display().to_string(), reason).into());
        }
        builder.checked_but_for_templates()?;
        let running = Serialized::global("siaga.base_url", &self.base_url);
        let mut config = Config::extract(&builder.figment.clone().merge(running))?;
        if let Some(key) = self.temporary.as_ref().filter(|_| config.auth.accepts_nobody()) {
            config.auth.api_keys.push(key.clone());
        }
        let (before, now) = (keys(&self.builder.figment)?, keys(&builder.figment)?);
        let differ = before.keys().chain(now.keys()).filter(|&key| before.get(key) != now.get(key));
        let mut fixed: Vec<String> = differ.filter(|key| !self.can_change(key)).cloned().collect();
        fixed.sort();
        fixed.dedup();
        for part in &self.builder.reloaded {
            part.reload(&config);
        }
        Ok(fixed)
    }

    /// Starts a thread that reloads at each order, because files can be slow to read, and templates to try. Orders that come
    /// while it works are one.
    pub(super) fn start(self) -> io::Result<SyncSender<()>> {
        let (order, orders) = mpsc::sync_channel(1);
        let runtime = Handle::current();
        let work = move || {
            let _entered = runtime.enter();
            while orders.recv().is_ok() {
                self.reload_and_log();
            }
        };
        thread::Builder::new().name("siaga reload".to_owned()).spawn(work)?;
        Ok(order)
    }

    /// As [`reload`](Self::reload); logs the result.
    fn reload_and_log(&self) {
        match self.reload() {
            Ok(fixed) if fixed.is_empty() => tracing::info!("the configuration was read again"),
            Ok(fixed) => {
                let keys = fixed.join(", ");
                tracing::warn!(keys, "these keys have changed; restart the server to apply them");
            }
            Err(error) => tracing::error!("the configuration stays as it was: {error}"),
        }
    }

    fn can_change(&self, key: &str) -> bool {
        let under =
            |of: &str| key.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.builder.reloaded.iter().any(|part| part.keys().iter().any(|of| under(of)))
    }
}

/// Returns all configured values by the full path of their key.
fn keys(figment: &Figment) -> Result<BTreeMap<String, Value>, ConfigError> {
    let mut found = BTreeMap::new();
    let all: Dict = figment.extract().map_err(ConfigError::from)?;
    collect(&all, "", &mut found);
    Ok(found)
}

fn collect(dict: &Dict, path: &str, found: &mut BTreeMap<String, Value>) {
    for (key, value) in dict {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Dict(_, dict) => collect(dict, &path, found),
            value => drop(found.insert(path, value.clone())),
        }
    }
}
