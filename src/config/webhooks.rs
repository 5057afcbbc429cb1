use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use figment::value::magic::RelativePathBuf;
use mime::Mime;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

use super::{AtOnce, ConfigError};
use crate::auth::Secret;
use crate::model::{AreaSelector, FloodState, Number, duration};

/// The section `calls` of the configuration: requests that the service sends when something happens.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Webhooks {
    /// How many requests are sent at once. **Default: 4**
    pub(crate) at_once: AtOnce,
    /// The calls by name. **Default: none**
    #[serde(flatten)]
    pub(crate) by_name: BTreeMap<String, WebhookSettings>,
}

/// A call: `calls.<name>`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookSettings {
    /// The address, a template of what the event has.
    pub(crate) url: Secret,
    /// What is told.
    pub(crate) on: EventKind,
    /// **Default: `POST`**
    #[serde(default)]
    pub(crate) method: Method,
    /// Headers of the request, each a template. **Default: none**
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, Secret>,
    /// Which events are told. **Default: all**
    #[serde(default, rename = "where")]
    pub(crate) filter: Filter,
    /// The file of the template for the body. **Default: none, the body is the event as JSON**
    #[serde(default, serialize_with = "path", skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<RelativePathBuf>,
    /// The media type of the body, which decides how the template escapes. **Default: `application/json`**
    #[serde(default = "json")]
    pub(crate) media_type: String,
    /// The secret that signs requests: `whsec_` and 24 to 64 bytes in Base64. **Default: none, requests are not signed**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<Secret>,
    /// The secret before the present one, which signs too while receivers change. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous_secret: Option<Secret>,
    /// Whether addresses that are not globally reachable, and `http`, are allowed. **Default: `false`**
    #[serde(default)]
    pub(crate) private: bool,
    /// Whether a report has what its network needs to reach its sender. **Default: `false`**
    #[serde(default)]
    pub(crate) personal: bool,
    /// Whether reports of trainings are told. **Default: `false`**
    #[serde(default)]
    pub(crate) training: bool,
    /// How long an event is tried. **Default: `24h`**
    #[serde(default = "a_day", rename = "for", with = "duration")]
    pub(crate) lasting: Duration,
}

/// What a call tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventKind {
    /// A report was received.
    Report,
    /// Flood states of areas were set or cleared.
    State,
    /// Alerts were issued: new ones, updates, and those that a flood is over.
    Alert,
    /// Areas came onto the list of those that need attention.
    Attention,
    /// A source of data has fallen silent, or is heard again.
    Source,
}

/// The method of the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Method {
    #[default]
    Post,
    Put,
}

/// Which events are told. An event must have one value of each key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Filter {
    /// Sources of reports, or names of sources of data. **Default: all**
    pub(crate) source: Vec<String>,
    /// Codes of cities or provinces. **Default: all**
    pub(crate) city: Vec<String>,
    /// The lowest flood state of changes and alerts. Cleared areas are below it. **Default: none**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) minimum_state: Option<MinimumState>,
}

/// The code of a flood state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u8")]
pub(crate) struct MinimumState(pub(crate) FloodState);

impl TryFrom<Number> for MinimumState {
    type Error = crate::model::InvalidFloodState;

    fn try_from(number: Number) -> Result<Self, Self::Error> {
        FloodState::try_from(number.get().map_or(0, u64::from)).map(Self)
    }
}

impl From<MinimumState> for u8 {
    fn from(minimum: MinimumState) -> Self {
        minimum.0.code()
    }
}

impl Filter {
    /// Returns whether something is selected that is in these cities or provinces.
    pub(crate) fn selects(&self, is_in: impl Fn(&AreaSelector) -> bool) -> bool {
        let mut cities = self.city.iter().map(|code| AreaSelector { city: Some(code.clone()), region: None });
        self.city.is_empty() || cities.any(|city| is_in(&city))
    }
}

impl EventKind {
    /// Returns its name in the configuration and in bodies.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::State => "state",
            Self::Alert => "alert",
            Self::Attention => "attention",
            Self::Source => "source",
        }
    }
}

const LONGEST_NAME: usize = 64;
/// How many calls there may be.
const MOST: usize = 64;
const SHORTEST: Duration = Duration::from_mins(1);
const LONGEST: Duration = Duration::from_hours(7 * 24);

fn json() -> String {
    "application/json".to_owned()
}

fn a_day() -> Duration {
    Duration::from_hours(24)
}

#[allow(clippy::ref_option, reason = "serde calls it so")]
fn path<S: serde::Serializer>(path: &Option<RelativePathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => RelativePathBuf::serialize_relative(path, serializer),
        None => serializer.serialize_none(),
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        Self { at_once: AtOnce::new(NonZeroU32::MIN.saturating_add(3)), by_name: BTreeMap::new() }
    }
}

impl<'de> Deserialize<'de> for Webhooks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Table)
    }
}

/// Reads the table. A flattened map would lose the paths of wrong keys, and what paths of files are relative to.
struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = Webhooks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Webhooks, A::Error> {
        let mut calls = Webhooks::default();
        while let Some(key) = table.next_key::<String>()? {
            if key == "at_once" {
                calls.at_once = table.next_value()?;
            } else {
                let call = table.next_value_seed(Call(&key))?;
                calls.by_name.insert(key, call);
            }
        }
        Ok(calls)
    }
}

/// Reads a call with this name. What is no table is most likely a key that is written wrong.
struct Call<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Call<'_> {
    type Value = WebhookSettings;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<WebhookSettings, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Call<'_> {
    type Value = WebhookSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<WebhookSettings, A::Error> {
        WebhookSettings::deserialize(MapAccessDeserializer::new(table))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<WebhookSettings, E> {
        Err(E::unknown_field(self.0, &["at_once", "<name>"]))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<WebhookSettings, E> {
        self.visit_str("")
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<WebhookSettings, E> {
        self.visit_str("")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<WebhookSettings, E> {
        self.visit_str("")
    }
}

impl Webhooks {
    /// Checks names, addresses, filters and secrets. Templates are checked where they are read.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.by_name.len() > MOST {
            return Err(ConfigError::new("siaga.calls", format!("must have at most {MOST} calls")));
        }
        for (name, call) in &self.by_name {
            let key = format!("siaga.calls.{name}");
            let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_part) {
                let must = format!(
                    "the name of a call must be 1 to {LONGEST_NAME} of the characters a to z, 0 to 9 and -"
                );
                return Err(ConfigError::new(&key, must));
            }
            call.check().map_err(|(part, must)| ConfigError::new(&format!("{key}.{part}"), must))?;
        }
        Ok(())
    }
}

impl WebhookSettings {
    /// Returns the part of the address that is no template: up to the path.
    pub(crate) fn origin(&self) -> &str {
        let url = self.url.expose();
        let after = url.find("://").map_or(0, |found| found + 3);
        let end = url[after..].find(['/', '?', '#']).map_or(url.len(), |found| after + found);
        &url[..end]
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let wrong = |part, must: &str| Err((part, must.to_owned()));
        let origin = self.origin();
        let parsed = Url::parse(origin).ok().filter(|url| url.has_host() && !origin.contains(['{', '}']));
        let Some(parsed) = parsed else {
            return wrong(
                "url",
                "must be an address that begins with https:// and a host; a template may only be in its path and query",
            );
        };
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return wrong("url", "must have no user: send credentials in headers");
        }
        let is_allowed = parsed.scheme() == "https" || parsed.scheme() == "http" && self.private;
        if !is_allowed {
            return wrong("url", "must begin with https://; with private = true, http:// is allowed too");
        }
        let of_reports = self.on == EventKind::Report;
        let Filter { source, city, minimum_state } = &self.filter;
        if !matches!(self.on, EventKind::Report | EventKind::Source) && !source.is_empty() {
            return wrong("where.source", "areas have no source: remove it, or set on = \"report\"");
        }
        if !matches!(self.on, EventKind::State | EventKind::Alert) && minimum_state.is_some() {
            return wrong(
                "where.minimum_state",
                "only states and alerts have a flood state: remove it, or set on = \"state\" or \"alert\"",
            );
        }
        if self.on == EventKind::Source && !city.is_empty() {
            return wrong("where.city", "a source has no place: remove it");
        }
        for (part, set) in [("personal", self.personal), ("training", self.training)] {
            if set && !of_reports {
                return Err((part, "is only for calls with on = \"report\"".to_owned()));
            }
        }
        let media_type = self.media_type.parse::<Mime>();
        if !media_type.is_ok_and(|parsed| parsed.type_() != mime::STAR && parsed.subtype() != mime::STAR) {
            return wrong("media_type", "must be a media type such as text/plain");
        }
        if self.body.is_none() && self.media_type != json() {
            return wrong("media_type", "needs a template: set body as well");
        }
        if self.previous_secret.is_some() && self.secret.is_none() {
            return wrong("previous_secret", "needs the present secret: set secret as well");
        }
        if !(SHORTEST..=LONGEST).contains(&self.lasting) {
            return wrong("for", "must be a duration from 1m to 7d");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use figment::Figment;

    use super::*;
    use crate::config::Config;

    fn configured(values: &[(&str, &str)]) -> Result<WebhookSettings, String> {
        let mut figment = Figment::new()
            .merge(("siaga.calls.thanks.url", "https://bot.example/{{ network }}/send"))
            .merge(("siaga.calls.thanks.on", "report"));
        for (key, value) in values {
            let value: figment::value::Value = value.parse().unwrap();
            figment = figment.merge((format!("siaga.calls.thanks.{key}"), value));
        }
        let config = Config::extract(&figment).map_err(|error| error.to_string())?;
        Ok(config.calls.by_name["thanks"].clone())
    }

    #[test]
    fn a_call_has_defaults_and_shows_nothing_that_is_secret() {
        let call = configured(&[("headers.Authorization", "\"Bearer abc\"")]).unwrap();
        assert_eq!((call.method, call.lasting), (Method::Post, Duration::from_hours(24)));
        assert_eq!(call.origin(), "https://bot.example");
        let shown = toml::to_string(&call).unwrap() + &format!("{call:?}");
        assert!(!shown.contains("bot.example") && !shown.contains("abc"), "{shown}");
    }

    #[test]
    fn a_wrong_call_is_refused_with_its_key_and_without_its_secrets() {
        for (key, value, said) in [
            ("on", "\"flood\"", "must be one of [report, state, alert, attention, source]"),
            ("url", "\"http://bot.example/\"", "must begin with https://"),
            ("url", "\"https://{{ network }}.example/\"", "a template may only be in its path and query"),
            ("url", "\"https://user:secret@bot.example/\"", "must have no user"),
            ("url", "\"bot.example\"", "must be an address"),
            ("where.minimum_state", "3", "only states and alerts have a flood state"),
            ("where.depth", "3", "unknown key"),
            ("media_type", "\"text/plain\"", "set body as well"),
            ("previous_secret", "\"whsec_x\"", "set secret as well"),
            ("for", "\"30s\"", "must be a duration from 1m to 7d"),
            ("color", "1", "unknown key"),
        ] {
            let error = configured(&[(key, value)]).unwrap_err();
            assert!(error.starts_with(&format!("siaga.calls.thanks.{key}")), "{error}");
            assert!(error.contains(said) && !error.contains("secret@"), "{error}");
        }
        for (key, value) in [("where.source", "[\"grasp\"]"), ("personal", "true"), ("training", "true")] {
            let error = configured(&[("on", "\"state\""), (key, value)]).unwrap_err();
            assert!(error.starts_with(&format!("siaga.calls.thanks.{key}")), "{error}");
        }
    }
}
