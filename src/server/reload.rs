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
    /// Returns the keys of the part's settings, such as `siaga.log`. Each includes all keys below it.
    fn keys(&self) -> &[&str];

    /// Applies the settings of a valid configuration.
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
        // This can fail after a successful check: it reads the files again, and they may have changed since.
        if let Err(error) = self.update(config.auth.clone()) {
            tracing::error!("credentials stay as they were: {error}");
        }
    }
}

impl Reload for Quotas {
    fn keys(&self) -> &[&str] {
        // Trusted proxies affect more than quotas, so they are not reloaded.
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
        self.update_settings(config.quota.clone());
    }
}

/// Reloads the configuration of parts that support it.
pub struct Reloader {
    builder: Builder,
    /// The base address of the running server. The address and all settings derived from it stay the same.
    base_url: BaseUrl,
    /// The generated key, accepted while no other credential is configured.
    temporary_key: Option<ApiKey>,
}

impl fmt::Debug for Reloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloader").finish_non_exhaustive()
    }
}

impl Reloader {
    pub(super) fn new(builder: Builder, temporary_key: Option<ApiKey>, base_url: BaseUrl) -> Self {
        Self { builder, base_url, temporary_key }
    }

    /// Reads and checks the configuration, and applies everything that needs no restart. Returns the changed keys that need a
    /// restart. Template files are read again, with their settings from startup; if one has an error, the error is logged and the
    /// old template stays.
    ///
    /// # Errors
    ///
    /// If the configuration is invalid, or its file is now empty or missing. Then nothing changes.
    pub fn reload(&self) -> Result<Vec<String>, BuildError> {
        let builder = Builder { figment: (self.builder.source)(), ..self.builder.clone() };
        // Some editors truncate a file before they write it. Reading such an empty file would lose every key.
        if let Some(file) = Config::file(&self.builder.figment)
            && Config::file(&builder.figment).is_none()
        {
            let reason = "the file is empty or missing; write it again, then send SIGHUP again";
            return Err(ConfigError::new(&file.display().to_string(), reason).into());
        }
        builder.checked_without_templates()?;
        let base_url = Serialized::global("siaga.base_url", &self.base_url);
        let mut config = Config::extract(&builder.figment.clone().merge(base_url))?;
        if let Some(key) = self.temporary_key.as_ref().filter(|_| config.auth.accepts_nobody()) {
            config.auth.api_keys.push(key.clone());
        }
        let (old, new) = (configured_values(&self.builder.figment)?, configured_values(&builder.figment)?);
        let differ = old.keys().chain(new.keys()).filter(|&key| old.get(key) != new.get(key));
        let mut fixed_keys: Vec<String> = differ.filter(|key| !self.is_reloadable(key)).cloned().collect();
        fixed_keys.sort();
        fixed_keys.dedup();
        for part in &self.builder.reloadable {
            part.reload(&config);
        }
        Ok(fixed_keys)
    }

    /// Starts a thread that reloads at each trigger. Reading files and testing templates would block an async task for too long.
    /// Triggers during a reload are merged into one.
    pub(super) fn start(self) -> io::Result<SyncSender<()>> {
        let (trigger, triggers) = mpsc::sync_channel(1);
        let runtime = Handle::current();
        let work = move || {
            let _entered = runtime.enter();
            while triggers.recv().is_ok() {
                self.reload_and_log();
            }
        };
        thread::Builder::new().name("siaga reload".to_owned()).spawn(work)?;
        Ok(trigger)
    }

    /// Reloads, and warns about changed keys that apply only after a restart. After an error, keeps the configuration.
    fn reload_and_log(&self) {
        match self.reload() {
            Ok(keys) if keys.is_empty() => tracing::info!("the configuration was read again"),
            Ok(keys) => {
                let keys = keys.join(", ");
                tracing::warn!(keys, "these keys have changed; restart the server to apply them");
            }
            Err(error) => tracing::error!("the configuration stays as it was: {error}"),
        }
    }

    fn is_reloadable(&self, key: &str) -> bool {
        let is_under = |parent: &str| {
            key.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.builder.reloadable.iter().any(|part| part.keys().iter().any(|parent| is_under(parent)))
    }
}

fn configured_values(figment: &Figment) -> Result<BTreeMap<String, Value>, ConfigError> {
    let mut values = BTreeMap::new();
    let dict: Dict = figment.extract().map_err(ConfigError::from)?;
    collect(&dict, "", &mut values);
    Ok(values)
}

fn collect(dict: &Dict, path: &str, values: &mut BTreeMap<String, Value>) {
    for (key, value) in dict {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Dict(_, dict) => collect(dict, &path, values),
            value => drop(values.insert(path, value.clone())),
        }
    }
}
