//! The configuration: one struct for each section of `[default.siaga]`, read with figment.
//!
//! Later sources win: the defaults below, the profile's table in `Rocket.toml`, the environment
//! ([`SiagaEnv`]). A key that is unknown or has a wrong value stops the start with its full path.

mod also_at;
mod areas;
mod at_once;
mod base_url;
mod by_resource;
mod cache;
mod env;
mod error;
mod feeds;
mod formats;
mod https;
mod images;
mod licence;
mod limits;
mod near_misses;
mod quota;
mod shutdown;
mod trusted_proxies;

use std::iter;
use std::path::{Path, PathBuf};

use chrono_tz::Tz;
use figment::providers::{Env, Format, Serialized, Toml};
use figment::value::{Dict, Value};
use figment::{Figment, Profile, Provider as _};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

pub use self::also_at::{InvalidMountPath, MountPath};
pub use self::areas::{Areas, Supported};
pub use self::at_once::{AtOnce, InvalidAtOnce};
pub use self::base_url::{BaseUrl, InvalidBaseUrl};
pub use self::by_resource::ByResource;
pub use self::cache::Cache;
pub use self::env::{DatabaseUrl, NamedFile, SiagaEnv};
pub use self::error::ConfigError;
pub use self::feeds::Feeds;
pub use self::formats::Formats;
pub use self::https::{Https, InvalidPort, MaxAge, Port};
pub use self::images::{Images, InvalidSide, InvalidStorageUrl, Side, StorageUrl};
pub use self::licence::Licence;
pub use self::limits::{Features, InvalidFeatures, Limits};
pub use self::quota::{CredentialQuota, InvalidRate, Quota, Rate};
pub use self::shutdown::Shutdown;
pub use self::trusted_proxies::{InvalidProxies, Proxies, TrustedProxies};
use crate::auth;
use crate::model::Disasters;
use crate::model::intake::CardRules;
use crate::stores::postgres;
use crate::telemetry::{LogSettings, MetricsSettings};

/// Everything under `siaga` in the configuration.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// The store: `memory`, `postgres` or a registered one. **Default: `memory`**
    pub store: String,
    /// What the memory store starts with: `demo`, `empty`, or a folder. **Default: `demo`**
    pub dataset: String,
    /// The public base address. Its path is where the interface is mounted. **Default: `http://127.0.0.1:8000/v1`**
    pub base_url: BaseUrl,
    /// Further paths at which the interface is mounted, such as `/`. **Default: none**
    pub also_at: Vec<MountPath>,
    /// The zone of times written for people. **Default: `Asia/Jakarta`**
    #[serde(deserialize_with = "time_zone")]
    pub time_zone: Tz,
    /// Which areas can be selected.
    pub areas: Areas,
    /// Which formats are on offer, and their settings.
    pub formats: Formats,
    /// What cards may report.
    pub cards: CardRules,
    /// What reports may be about.
    pub disasters: Disasters,
    /// What feeds may report.
    pub feeds: Feeds,
    /// Which credentials are accepted.
    pub auth: auth::Settings,
    /// Where images of cards are kept.
    pub images: Images,
    /// How the store in a database behaves.
    pub postgres: postgres::Settings,
    /// Which answers are kept at hand.
    pub cache: Cache,
    /// What is too much.
    pub limits: Limits,
    /// How many requests each client may send.
    pub quota: Quota,
    /// What leads clients to HTTPS.
    pub https: Https,
    /// What is written to standard error.
    pub log: LogSettings,
    /// Whether metrics can be asked for.
    pub metrics: MetricsSettings,
    /// How the service ends.
    pub shutdown: Shutdown,
    /// Under which terms the data may be used.
    pub licence: Licence,
}

fn time_zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tz, D::Error> {
    let wrong = |_| D::Error::custom("must be a time zone of the IANA's such as Asia/Jakarta");
    String::deserialize(deserializer)?.parse().map_err(wrong)
}

impl Default for Config {
    fn default() -> Self {
        Self {
            store: "memory".to_owned(),
            dataset: "demo".to_owned(),
            base_url: BaseUrl::default(),
            also_at: Vec::new(),
            time_zone: Tz::Asia__Jakarta,
            areas: Areas::default(),
            formats: Formats::default(),
            cards: CardRules::default(),
            disasters: Disasters::default(),
            feeds: Feeds::default(),
            auth: auth::Settings::default(),
            images: Images::default(),
            postgres: postgres::Settings::default(),
            cache: Cache::default(),
            limits: Limits::default(),
            quota: Quota::default(),
            https: Https::default(),
            log: LogSettings::default(),
            metrics: MetricsSettings::default(),
            shutdown: Shutdown::default(),
            licence: Licence::default(),
        }
    }
}

/// The file that a value, or any value within it, was read from.
fn file_of(figment: &Figment, value: &Value) -> Option<PathBuf> {
    match value {
        Value::Dict(_, dict) => dict.values().find_map(|value| file_of(figment, value)),
        value => {
            let source = figment.get_metadata(value.tag())?.source.as_ref()?;
            source.file_path().map(Path::to_owned)
        }
    }
}

impl Config {
    /// The paths at which the interface is mounted, that of the base address first.
    pub fn mount_paths(&self) -> impl Iterator<Item = &str> {
        iter::once(self.base_url.path()).chain(self.also_at.iter().map(MountPath::as_str))
    }

    /// The key of the service's table beside Rocket's own keys.
    pub const KEY: &'static str = "siaga";

    /// The sources the service is configured from: Rocket's own (`Rocket.toml`, `ROCKET_…`), then `DATABASE_URL`, then
    /// `SIAGA_…`.
    ///
    /// Other than Rocket by itself it answers as `Siaga`, and believes nobody's `X-Real-IP`.
    #[must_use]
    pub fn figment() -> Figment {
        // What `rocket::Config::figment` does, but for the defaults, which nothing can be put between there.
        Figment::from(rocket::Config::default())
            .merge(Serialized::default("ident", "Siaga"))
            .merge(Serialized::default("ip_header", false))
            .merge(NamedFile)
            .merge(Toml::file(NamedFile::path()).nested())
            .merge(Env::prefixed("ROCKET_").ignore(&["PROFILE"]).global())
            .select(Profile::from_env_or("ROCKET_PROFILE", rocket::Config::DEFAULT_PROFILE))
            .merge(DatabaseUrl)
            .merge(SiagaEnv)
    }

    /// Where clients find published photos, without a slash at its end: `images.public_url`, or else `{base_url}/images`.
    #[must_use]
    pub fn photos_url(&self) -> String {
        let public = self.images.public_url.as_ref().map(ToString::to_string);
        public.unwrap_or_else(|| format!("{}/images", self.base_url))
    }

    /// Returns a line for each key that nothing reads although it resembles one that is read, with what to write instead.
    #[must_use]
    pub fn warnings(figment: &Figment) -> Vec<String> {
        near_misses::warnings(figment)
    }

    /// Returns the configuration file, if it sets any key.
    #[must_use]
    pub fn file(figment: &Figment) -> Option<PathBuf> {
        let profiles = figment.data().unwrap_or_default();
        let mut values = profiles.into_values().flat_map(Dict::into_values);
        values.find_map(|value| file_of(figment, &value))
    }

    /// Reads and checks the configuration.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] names every key at fault with its full path, and what is allowed.
    pub fn extract(figment: &Figment) -> Result<Self, ConfigError> {
        /// Rocket's own keys stand beside the service's table and are none of its business.
        #[derive(Deserialize)]
        struct Whole {
            #[serde(default)]
            siaga: Config,
        }

        near_misses::refuse(figment)?;
        let Whole { siaga: mut config } = figment.extract()?;
        // Of a port that the system chooses nothing is known yet.
        if let Some(port) = figment.extract_inner("port").ok().filter(|&port| port != 0)
            && !figment.contains(&format!("{}.base_url", Self::KEY))
        {
            config.base_url = BaseUrl::local(port);
        }
        let numbers = ["per_second", "burst", "credential", "per_day", "fuse_per_second"];
        let counted = numbers.iter().any(|name| figment.contains(&format!("{}.quota.{name}", Self::KEY)));
        if config.base_url.is_local() && !counted {
            config.quota = config.quota.unlimited();
        }
        also_at::check(&config.also_at, &config.base_url)?;
        config.areas.check()?;
        config.feeds.check(&config.disasters)?;
        config.images.check()?;
        config.cache.check()?;
        config.limits.check()?;
        config.https.check(&config.base_url)?;
        Ok(config)
    }
}
