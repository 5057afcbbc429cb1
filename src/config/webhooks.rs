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

use super::{ConfigError, PositiveCount};
use crate::auth::Secret;
use crate::model::{AreaSelector, FloodState, Number, duration};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Webhooks {
    /// Concurrent requests. **Default: 4**
    pub(crate) at_once: PositiveCount,
    /// Webhooks by name. **Default: none**
    #[serde(flatten)]
    pub(crate) by_name: BTreeMap<String, WebhookSettings>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookSettings {
    /// Address of the receiver, a template with the values of the event.
    pub(crate) url: Secret,
    pub(crate) event: EventKind,
    /// HTTP method of the requests. **Default: `POST`**
    #[serde(default)]
    pub(crate) method: Method,
    /// Request headers; values are templates. **Default: none**
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, Secret>,
    /// Restricts the events. **Default: all**
    #[serde(default)]
    pub(crate) filter: Filter,
    /// Template file of the body. **Default: none, the body is the event as JSON**
    #[serde(default, serialize_with = "path", skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<RelativePathBuf>,
    /// Media type of the body; decides how the template escapes. **Default: `application/json`**
    #[serde(default = "json")]
    pub(crate) media_type: String,
    /// Signs requests: `whsec_` and 24 to 64 bytes in Base64. **Default: none, requests are not signed**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<Secret>,
    /// Previous secret, which also signs while receivers change to the new one. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous_secret: Option<Secret>,
    /// Allows addresses that are not globally reachable, and `http`. **Default: `false`**
    #[serde(default)]
    pub(crate) private: bool,
    /// Includes the data by which a messaging network reaches the sender of a report. **Default: `false`**
    #[serde(default)]
    pub(crate) personal: bool,
    /// Also sends reports of trainings. **Default: `false`**
    #[serde(default)]
    pub(crate) training: bool,
    /// How long an event is retried before it is dropped. **Default: `24h`**
    #[serde(default = "a_day", with = "duration")]
    pub(crate) max_age: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventKind {
    /// A report was received.
    Report,
    /// Flood states of areas were set or cleared.
    State,
    /// Alerts were issued, updated or cancelled.
    Alert,
    /// Areas started to need attention.
    Attention,
    /// A data source stopped reporting, or reports again.
    Source,
    /// Gauges fell silent, or are heard again.
    Gauge,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Method {
    #[default]
    Post,
    Put,
}

/// Restricts events: an event must match one value of each key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Filter {
    /// Of `report` events: the source of the report; of `source` events: the name of the data source. **Default: all**
    pub(crate) source: Vec<String>,
    /// Codes of cities or provinces. **Default: all**
    pub(crate) city: Vec<String>,
    /// Lowest flood state of changes and alerts; excludes cleared areas. **Default: none**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) minimum_state: Option<MinimumState>,
}

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
    /// Whether `city` is empty, or `is_in` returns true for one of its codes.
    pub(crate) fn selects(&self, is_in: impl Fn(&AreaSelector) -> bool) -> bool {
        let mut cities = self.city.iter().map(|code| AreaSelector { city: Some(code.clone()), region: None });
        self.city.is_empty() || cities.any(|city| is_in(&city))
    }
}

impl EventKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::State => "state",
            Self::Alert => "alert",
            Self::Attention => "attention",
            Self::Source => "source",
            Self::Gauge => "gauge",
        }
    }
}

const MAX_NAME: usize = 64;
const MAX_WEBHOOKS: usize = 64;
const MIN_AGE: Duration = Duration::from_mins(1);
const MAX_AGE: Duration = Duration::from_hours(7 * 24);

fn json() -> String {
    "application/json".to_owned()
}

fn a_day() -> Duration {
    Duration::from_hours(24)
}

#[allow(clippy::ref_option, reason = "serde passes it so")]
fn path<S: serde::Serializer>(path: &Option<RelativePathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => RelativePathBuf::serialize_relative(path, serializer),
        None => serializer.serialize_none(),
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        Self { at_once: PositiveCount::new(NonZeroU32::MIN.saturating_add(3)), by_name: BTreeMap::new() }
    }
}

impl<'de> Deserialize<'de> for Webhooks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(WebhooksVisitor)
    }
}

/// Reads the table. A derived visitor with `flatten` would lose the paths of wrong keys and the base folder of relative files.
struct WebhooksVisitor;

impl<'de> Visitor<'de> for WebhooksVisitor {
    type Value = Webhooks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Webhooks, A::Error> {
        let mut webhooks = Webhooks::default();
        while let Some(key) = table.next_key::<String>()? {
            if key == "at_once" {
                webhooks.at_once = table.next_value()?;
            } else {
                let webhook = table.next_value_seed(WebhookSeed(&key))?;
                webhooks.by_name.insert(key, webhook);
            }
        }
        Ok(webhooks)
    }
}

/// Reads the webhook with this name. Reports a value that is not a table as an unknown key, because it is most likely a misspelt
/// one.
struct WebhookSeed<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for WebhookSeed<'_> {
    type Value = WebhookSettings;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<WebhookSettings, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for WebhookSeed<'_> {
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
    /// Checks names, addresses, filters and secrets. `PayloadTemplate` checks the templates.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.by_name.len() > MAX_WEBHOOKS {
            return Err(ConfigError::new(
                "siaga.webhooks",
                format!("must have at most {MAX_WEBHOOKS} webhooks"),
            ));
        }
        for (name, webhook) in &self.by_name {
            let key = format!("siaga.webhooks.{name}");
            let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            // Metrics count messages to phones under this name.
            if name == "push" {
                return Err(ConfigError::new(&key, "a webhook must have another name than push".to_owned()));
            }
            if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_part) {
                let rule = format!(
                    "the name of a webhook must be 1 to {MAX_NAME} of the characters a to z, 0 to 9 and -"
                );
                return Err(ConfigError::new(&key, rule));
            }
            webhook.check().map_err(|(setting, rule)| ConfigError::new(&format!("{key}.{setting}"), rule))?;
        }
        Ok(())
    }
}

impl WebhookSettings {
    /// Returns scheme, host and port of the address. They must not contain templates.
    pub(crate) fn origin(&self) -> &str {
        let url = self.url.expose();
        let host_start = url.find("://").map_or(0, |index| index + 3);
        let end = url[host_start..].find(['/', '?', '#']).map_or(url.len(), |index| host_start + index);
        &url[..end]
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let invalid = |part, rule: &str| Err((part, rule.to_owned()));
        let origin = self.origin();
        let parsed = Url::parse(origin).ok().filter(|url| url.has_host() && !origin.contains(['{', '}']));
        let Some(parsed) = parsed else {
            return invalid(
                "url",
                "must be an address that begins with https:// and a host; a template may only be in its path and query",
            );
        };
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return invalid("url", "must have no user: send credentials in headers");
        }
        let is_allowed = parsed.scheme() == "https" || parsed.scheme() == "http" && self.private;
        if !is_allowed {
            return invalid("url", "must begin with https://; with private = true, http:// is allowed too");
        }
        let is_for_reports = self.event == EventKind::Report;
        let Filter { source, city, minimum_state } = &self.filter;
        if !matches!(self.event, EventKind::Report | EventKind::Source) && !source.is_empty() {
            return invalid("filter.source", "areas have no source: remove it, or set event = \"report\"");
        }
        if !matches!(self.event, EventKind::State | EventKind::Alert) && minimum_state.is_some() {
            return invalid(
                "filter.minimum_state",
                "only states and alerts have a flood state: remove it, or set event = \"state\" or \"alert\"",
            );
        }
        if matches!(self.event, EventKind::Source | EventKind::Gauge) && !city.is_empty() {
            return invalid("filter.city", "sources and gauges are in no city: remove it");
        }
        for (part, set) in [("personal", self.personal), ("training", self.training)] {
            if set && !is_for_reports {
                return Err((part, "is only for webhooks with event = \"report\"".to_owned()));
            }
        }
        let media_type = self.media_type.parse::<Mime>();
        if !media_type.is_ok_and(|parsed| parsed.type_() != mime::STAR && parsed.subtype() != mime::STAR) {
            return invalid("media_type", "must be a media type such as text/plain");
        }
        if self.body.is_none() && self.media_type != json() {
            return invalid("media_type", "needs a template: set body as well");
        }
        if self.previous_secret.is_some() && self.secret.is_none() {
            return invalid("previous_secret", "needs the present secret: set secret as well");
        }
        if !(MIN_AGE..=MAX_AGE).contains(&self.max_age) {
            return invalid("max_age", "must be a duration from 1m to 7d");
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
            .merge(("siaga.webhooks.thanks.url", "https://bot.example/{{ network }}/send"))
            .merge(("siaga.webhooks.thanks.event", "report"));
        for (key, value) in values {
            let value: figment::value::Value = value.parse().unwrap();
            figment = figment.merge((format!("siaga.webhooks.thanks.{key}"), value));
        }
        let config = Config::extract(&figment).map_err(|error| error.to_string())?;
        Ok(config.webhooks.by_name["thanks"].clone())
    }

    #[test]
    fn a_webhook_has_defaults_and_hides_its_secrets() {
        let webhook = configured(&[("headers.Authorization", "\"Bearer abc\"")]).unwrap();
        assert_eq!((webhook.method, webhook.max_age), (Method::Post, Duration::from_hours(24)));
        assert_eq!(webhook.origin(), "https://bot.example");
        let shown = toml::to_string(&webhook).unwrap() + &format!("{webhook:?}");
        assert!(!shown.contains("bot.example") && !shown.contains("abc"), "{shown}");
    }

    #[test]
    fn errors_have_the_key_of_a_webhook_but_no_secrets() {
        for (key, value, expected) in [
            ("event", "\"flood\"", "must be one of [report, state, alert, attention, source, gauge]"),
            ("url", "\"http://bot.example/\"", "must begin with https://"),
            ("url", "\"https://{{ network }}.example/\"", "a template may only be in its path and query"),
            ("url", "\"https://user:secret@bot.example/\"", "must have no user"),
            ("url", "\"bot.example\"", "must be an address"),
            ("filter.minimum_state", "3", "only states and alerts have a flood state"),
            ("filter.depth", "3", "unknown key"),
            ("media_type", "\"text/plain\"", "set body as well"),
            ("previous_secret", "\"whsec_x\"", "set secret as well"),
            ("max_age", "\"30s\"", "must be a duration from 1m to 7d"),
            ("color", "1", "unknown key"),
        ] {
            let error = configured(&[(key, value)]).unwrap_err();
            assert!(error.starts_with(&format!("siaga.webhooks.thanks.{key}")), "{error}");
            assert!(error.contains(expected) && !error.contains("secret@"), "{error}");
        }
        for (key, value) in [("filter.source", "[\"grasp\"]"), ("personal", "true"), ("training", "true")] {
            let error = configured(&[("event", "\"state\""), (key, value)]).unwrap_err();
            assert!(error.starts_with(&format!("siaga.webhooks.thanks.{key}")), "{error}");
        }
    }
}
