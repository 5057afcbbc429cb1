//! The configuration: one struct for each section of `[default.siaga]`, read with figment.
//!
//! Later sources win: the defaults below, the profile's table in `Rocket.toml`, the environment (`SiagaEnv`). An unknown key or a
//! wrong value is an error at startup with its full path.

mod also_at;
mod archive;
mod areas;

mod base_url;
mod by_resource;
mod cache;
mod desk;
mod env;
mod error;
mod feeds;
mod formats;
mod https;
mod images;
mod licence;
mod limits;
mod map;
mod positive_count;
mod push;
mod quota;
mod report;
mod reports;
mod shutdown;
mod site;
mod sources;
mod streams;
mod trusted_proxies;
mod unread;
mod webhooks;

use std::collections::BTreeMap;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono_tz::Tz;
use figment::providers::{Env, Format, Serialized, Toml};
use figment::value::{Dict, Value};
use figment::{Figment, Profile, Provider as _};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

pub(crate) use self::also_at::MountPath;
pub(crate) use self::archive::Archive;
pub(crate) use self::areas::Areas;
pub use self::base_url::{BaseUrl, InvalidBaseUrl};
pub(crate) use self::by_resource::ByResource;
pub(crate) use self::cache::Cache;
pub(crate) use self::desk::Desk;
pub(crate) use self::env::NamedFile;
pub(crate) use self::env::{DatabaseUrl, SiagaEnv};
pub use self::error::ConfigError;
pub(crate) use self::feeds::Feeds;
pub use self::formats::Formats;
pub(crate) use self::https::Https;
pub(crate) use self::images::Images;
pub(crate) use self::licence::Licence;
pub use self::limits::{Features, InvalidFeatures, Limits};
pub(crate) use self::map::{Map, Tiles};
pub(crate) use self::positive_count::PositiveCount;
pub(crate) use self::push::Push;
pub use self::quota::Quota;
pub(crate) use self::quota::Rate;
pub(crate) use self::report::ReportPage;
pub(crate) use self::reports::Reports;
use self::reports::check_keep;
pub(crate) use self::shutdown::Shutdown;
pub(crate) use self::site::Site;
pub(crate) use self::sources::SourceSettings;
pub(crate) use self::streams::Streams;
pub(crate) use self::trusted_proxies::TrustedProxies;
pub(crate) use self::webhooks::{EventKind, Method, WebhookSettings, Webhooks};
use crate::auth;
use crate::data::country::CountrySettings;
use crate::data::folder::FolderFile;
use crate::formats::alerts;
use crate::model::alerts::{Issuer, Status};
use crate::model::bodies::CardRules;
use crate::model::{AttentionRules, DisasterType, Disasters, GaugeRules};
use crate::stores::{file, postgres};
use crate::telemetry::{LogSettings, MetricsSettings};

/// All keys under `siaga` in the configuration.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// The store: `memory`, `file`, `postgres` or a registered one. **Default: `memory`**
    pub store: String,
    /// The initial data of the memory store: `demo`, `empty`, or a folder. **Default: `demo`**
    pub dataset: String,
    /// The public base address. The interface is mounted at its path. **Default: `http://127.0.0.1:8000/v1`**
    pub base_url: BaseUrl,
    /// Further paths at which the interface is mounted, such as `/`. **Default: none**
    pub(crate) also_at: Vec<MountPath>,
    /// The time zone of times in texts for people. **Default: `Asia/Jakarta`**
    #[serde(deserialize_with = "time_zone")]
    pub time_zone: Tz,
    /// The country of the service.
    pub country: CountrySettings,
    pub(crate) areas: Areas,
    /// The enabled formats and their settings.
    pub formats: Formats,
    pub(crate) alerts: alerts::Options,
    /// What cards may report.
    pub cards: CardRules,
    /// The disasters that reports may be about.
    pub disasters: Disasters,
    pub(crate) feeds: Feeds,
    pub(crate) report: ReportPage,
    pub(crate) reports: Reports,
    pub(crate) sources: BTreeMap<String, SourceSettings>,
    pub(crate) webhooks: Webhooks,
    pub(crate) auth: auth::Settings,
    pub(crate) images: Images,
    pub(crate) push: Push,
    pub(crate) file: file::Settings,
    pub(crate) postgres: postgres::Settings,
    pub(crate) cache: Cache,
    /// Limits of requests and responses.
    pub limits: Limits,
    pub(crate) quota: Quota,
    pub(crate) streams: Streams,
    pub(crate) attention: AttentionRules,
    pub(crate) gauges: GaugeRules,
    pub(crate) desk: Desk,
    pub(crate) archive: Archive,
    pub(crate) map: Map,
    pub(crate) https: Https,
    pub(crate) log: LogSettings,
    pub(crate) metrics: MetricsSettings,
    pub(crate) shutdown: Shutdown,
    pub(crate) site: Site,
    pub(crate) licence: Licence,
}

fn time_zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tz, D::Error> {
    let invalid = |_| D::Error::custom("must be a time zone of the IANA's such as Asia/Jakarta");
    String::deserialize(deserializer)?.parse().map_err(invalid)
}

impl Default for Config {
    fn default() -> Self {
        Self {
            store: "memory".to_owned(),
            dataset: "demo".to_owned(),
            base_url: BaseUrl::default(),
            also_at: Vec::new(),
            time_zone: Tz::Asia__Jakarta,
            country: CountrySettings::default(),
            areas: Areas::default(),
            formats: Formats::default(),
            alerts: alerts::Options::default(),
            cards: CardRules::default(),
            disasters: Disasters::default(),
            feeds: Feeds::default(),
            sources: BTreeMap::new(),
            webhooks: Webhooks::default(),
            auth: auth::Settings::default(),
            images: Images::default(),
            push: Push::default(),
            file: file::Settings::default(),
            postgres: postgres::Settings::default(),
            cache: Cache::default(),
            limits: Limits::default(),
            quota: Quota::default(),
            report: ReportPage::default(),
            reports: Reports::default(),
            streams: Streams::default(),
            attention: AttentionRules::default(),
            gauges: GaugeRules::default(),
            desk: Desk::default(),
            archive: Archive::default(),
            map: Map::default(),
            https: Https::default(),
            log: LogSettings::default(),
            metrics: MetricsSettings::default(),
            shutdown: Shutdown::default(),
            site: Site::default(),
            licence: Licence::default(),
        }
    }
}

fn source_file(figment: &Figment, value: &Value) -> Option<PathBuf> {
    match value {
        Value::Dict(_, dict) => dict.values().find_map(|value| source_file(figment, value)),
        value => {
            let source = figment.get_metadata(value.tag())?.source.as_ref()?;
            source.file_path().map(Path::to_owned)
        }
    }
}

impl Config {
    /// Returns the mount paths of the interface, the path of the base address first.
    pub(crate) fn mount_paths(&self) -> impl Iterator<Item = &str> + Clone {
        iter::once(self.base_url.path()).chain(self.also_at.iter().map(MountPath::as_str))
    }

    pub(crate) fn is_demo(&self) -> bool {
        self.store == "memory" && self.dataset == "demo"
    }

    pub(crate) fn disaster_types(&self) -> Vec<DisasterType> {
        self.disasters.all(&self.cards.hazards)
    }

    /// Returns the issuer of alerts. Alerts about generated data are marked as an exercise.
    #[must_use]
    pub(crate) fn issuer(&self) -> Issuer {
        let status = if self.is_demo() { Status::Exercise } else { self.formats.cap.status };
        self.alerts.issuer(self.base_url.host(), status)
    }

    /// The name of the service's table, next to Rocket's own keys.
    pub const KEY: &'static str = "siaga";

    /// Returns the sources of the configuration: Rocket's own (`Rocket.toml`, `ROCKET_…`), then `DATABASE_URL`, then `SIAGA_…`.
    ///
    /// Unlike plain Rocket, the server identifies itself as `Siaga` and ignores `X-Real-IP`, which any client can send.
    #[must_use]
    pub fn figment() -> Figment {
        // Repeats `rocket::Config::figment`, so that the service's defaults come right after Rocket's.
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

    /// Returns the public address of photos, without a trailing slash: `images.public_url`, or else `{base_url}/images`.
    #[must_use]
    pub(crate) fn photos_url(&self) -> String {
        let public = self.images.public_url.as_ref().map(ToString::to_string);
        public.unwrap_or_else(|| format!("{}/images", self.base_url))
    }

    /// Returns the storage of photos: `images.url`, or else a folder next to the file of the store, or next to the data set.
    ///
    /// # Errors
    ///
    /// If the folder is not configured and the working directory has been deleted.
    pub fn photo_storage(&self) -> Result<Url, ConfigError> {
        let folder = if self.store == "file" {
            let path = self.file.absolute().map_err(|reason| ConfigError::new("siaga.file.path", reason))?;
            file::Settings::images_of(&path)
        } else {
            Path::new(&self.dataset).with_file_name("images")
        };
        self.images.storage(&folder)
    }

    /// Returns the file of the base map: `map.basemap.file`, or else the one in the folder that the memory store serves.
    pub(crate) fn basemap(&self) -> Option<PathBuf> {
        let in_dataset = || Path::new(&self.dataset).join(FolderFile::Basemap.name());
        let configured = self.map.basemap.file.clone();
        configured.or_else(|| (self.store == "memory").then(in_dataset).filter(|file| file.is_file()))
    }

    pub(crate) fn desk_url(&self) -> String {
        format!("{}/desk", self.base_url.origin())
    }

    /// Returns the address to which the identity provider sends people back, to be registered there.
    pub(crate) fn redirect_uri(&self) -> String {
        format!("{}/login/callback", self.desk_url())
    }

    fn apply_country(&mut self, figment: &Figment) {
        let is_set = |key: &str| figment.contains(&format!("{}.{key}", Self::KEY));
        let country = self.country.data();
        self.cards.hazards = Arc::new(country.hazards().clone());
        self.areas.apply_country(country.regions(), is_set);
        if !is_set("time_zone") {
            self.time_zone = country.time_zone();
        }
        if !is_set("site.emergency") {
            self.site.emergency = country.emergency().map(str::to_owned);
        }
        let cap = &mut self.formats.cap;
        let name = is_set("site.name").then_some(&self.site.name).or(self.site.agency.as_ref());
        let defaults = [
            ("formats.cap.title", &mut cap.title, name),
            ("formats.cap.author", &mut cap.author, self.site.agency.as_ref()),
            ("formats.cap.sender_name", &mut cap.sender_name, self.site.agency.as_ref()),
        ];
        for (key, value, default) in defaults {
            if let Some(default) = default.filter(|_| !is_set(key)) {
                value.clone_from(default);
            }
        }
    }

    /// Returns the configuration file, if it sets any key.
    #[must_use]
    pub fn file(figment: &Figment) -> Option<PathBuf> {
        let profiles = figment.data().unwrap_or_default();
        let mut values = profiles.into_values().flat_map(Dict::into_values);
        values.find_map(|value| source_file(figment, &value))
    }

    /// Reads and checks the configuration.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], with the full path of every wrong key and what is allowed.
    pub fn extract(figment: &Figment) -> Result<Self, ConfigError> {
        /// The root of the configuration. Ignores all other keys, which are Rocket's own.
        #[derive(Deserialize)]
        struct RootTable {
            #[serde(default)]
            siaga: Config,
        }

        unread::check(figment)?;
        let RootTable { siaga: mut config } = figment.extract()?;
        // With port 0, the system chooses the port later.
        if let Some(port) = figment.extract_inner("port").ok().filter(|&port| port != 0)
            && !figment.contains(&format!("{}.base_url", Self::KEY))
        {
            config.base_url = BaseUrl::local(port);
        }
        let keys = ["per_second", "burst", "credential", "per_day", "fuse_per_second", "unknown_cards"];
        let has_limits = keys.iter().any(|name| figment.contains(&format!("{}.quota.{name}", Self::KEY)));
        if config.base_url.is_local() && !has_limits {
            config.quota = config.quota.unlimited();
        }
        let keys = ["reviewed_after", "reviewed_total", "refused_after"];
        let has_limits = keys.iter().any(|name| figment.contains(&format!("{}.report.{name}", Self::KEY)));
        if config.base_url.is_local() && !has_limits {
            config.report = config.report.unlimited();
        }
        if config.is_demo() && !figment.contains(&format!("{}.cards.open", Self::KEY)) {
            config.cards.open = true;
        }
        also_at::check(&config.also_at, &config.base_url)?;
        config.country.read().map_err(ConfigError::from_country)?;
        config.apply_country(figment);
        config.site.check()?;
        config
            .alerts
            .check()
            .map_err(|(key, must)| ConfigError::new(&format!("siaga.alerts.{key}"), must))?;
        config.feeds.check(&config.disasters, &config.cards.hazards)?;
        sources::check(&config.sources)?;
        if let Some((key, must)) = config.gauges.fault() {
            return Err(ConfigError::new(&format!("siaga.gauges.{key}"), must));
        }
        if !config.gauges.keep.is_zero() && config.gauges.keep < config.attention.window {
            return Err(ConfigError::new(
                "siaga.gauges.keep",
                "must not be shorter than siaga.attention.window",
            ));
        }
        config.webhooks.check()?;
        config.images.check()?;
        config.push.check()?;
        config.cache.check()?;
        config.limits.check()?;
        config.reports.check()?;
        check_keep("siaga.cards.keep", config.cards.keep, "cards")?;
        if config.cards.open_for.is_zero() {
            let reason = "must be longer than 0s; cards.open = false closes cards";
            return Err(ConfigError::new("siaga.cards.open_for", reason));
        }
        config.streams.check()?;
        if let (Some(file), None) = (&config.map.basemap.file, &config.map.basemap.attribution) {
            let reason = format!("missing: whose map {} is, as its licence requires", file.display());
            return Err(ConfigError::new("siaga.map.basemap.attribution", reason));
        }
        config.https.check(&config.base_url)?;
        if !config.desk.keys && config.auth.oidc.is_none() {
            let reason = "must be true without siaga.auth.oidc, or nobody can log in at the desk";
            return Err(ConfigError::new("siaga.desk.keys", reason));
        }
        Ok(config)
    }
}
