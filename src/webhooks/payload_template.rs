use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use ubyte::ByteUnit;
use url::Url;

use super::event::Event;
use super::signature::Signer;
use crate::config::{Config, ConfigError, Method, WebhookSettings};
use crate::formats::template::Snippet;
use crate::model::Timestamp;
use crate::schema::resources::Sample;

/// The largest body, in bytes: receivers of Standard Webhooks take no less.
const LARGEST: usize = 20_000;
/// The largest address, and the largest value of a header.
const LONGEST: ByteUnit = ByteUnit::Kibibyte(8);
/// How much a template may print before what it printed is refused.
const PRINTED: ByteUnit = ByteUnit::Mebibyte(1);
/// Headers that the service sets itself.
const RESERVED: [&str; 8] = [
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "content-type",
    "content-length",
    "host",
    "connection",
    "transfer-encoding",
];

/// A request that is ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// Why there is no request for an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PayloadError {
    #[error("the body is larger than {LARGEST} bytes")]
    TooLarge,
    #[error("{0}")]
    Failed(String),
}

/// Makes the requests of a call.
#[derive(Debug)]
pub(super) struct PayloadTemplate {
    method: Method,
    url: Snippet,
    headers: Vec<(HeaderName, Snippet)>,
    body: Option<Snippet>,
    media_type: String,
    signer: Signer,
    /// What templates can use of the service.
    common: Map<String, Value>,
}

impl PayloadTemplate {
    /// Makes the composer of a call, and tries it on made-up events.
    ///
    /// # Errors
    ///
    /// If a template cannot be read, or fails; if a secret is wrong. The text never has a secret.
    pub(super) fn new(
        name: &str,
        settings: &WebhookSettings,
        config: &Config,
        now: Timestamp,
    ) -> Result<Self, ConfigError> {
        let key = |part: &str| format!("siaga.calls.{name}.{part}");
        let wrong = |part: &str, reason: String| ConfigError::new(&key(part), reason);
        let url = Snippet::address(&key("url"), settings.url.expose(), LONGEST);
        let url = url.map_err(|reason| wrong("url", reason))?;
        let mut headers = Vec::new();
        for (header, value) in &settings.headers {
            let part = format!("headers.{header}");
            let name: HeaderName = header.parse().map_err(|_| {
                wrong(&part, "must be a header name that HTTP allows, such as X-Token".to_owned())
            })?;
            if RESERVED.contains(&name.as_str()) {
                return Err(wrong(&part, "the service sets this header itself".to_owned()));
            }
            let value = Snippet::plain(&key(&part), value.expose(), LONGEST);
            headers.push((name, value.map_err(|reason| wrong(&part, reason))?));
        }
        let media_type = settings.media_type.parse();
        let media_type = media_type.map_err(|error| wrong("media_type", format!("{error}")))?;
        let body = settings.body.as_ref().map(|file| Snippet::read(&file.relative(), &media_type, PRINTED));
        let body = body.transpose().map_err(|reason| wrong("body", reason))?;
        let signer = Signer::new(settings.secret.iter().chain(&settings.previous_secret));
        let signer = signer.map_err(|(position, error)| {
            wrong(if position == 0 { "secret" } else { "previous_secret" }, error.to_string())
        })?;
        let common = Map::from_iter([
            ("call".to_owned(), json!(name)),
            ("base_url".to_owned(), json!(config.base_url.as_str())),
            ("time_zone".to_owned(), json!(config.time_zone.name())),
        ]);
        let composer = Self {
            method: settings.method,
            url,
            headers,
            body,
            media_type: settings.media_type.clone(),
            signer,
            common,
        };
        for sample in [Sample::Plain, Sample::Hostile] {
            let event = Event::sample(name, settings, sample, now);
            let tried = composer.compose(&event, now);
            let request = tried.map_err(|error| {
                let made_up = if sample == Sample::Plain { "made-up" } else { "made-up, hostile" };
                ConfigError::new(&format!("siaga.calls.{name}"), format!("{error} (of a {made_up} event)"))
            })?;
            let unfit = composer.body.as_ref().and_then(|body| body.unfit(&media_type, &request.body));
            if let Some(reason) = unfit {
                return Err(wrong("media_type", reason));
            }
        }
        Ok(composer)
    }

    /// Returns the request for an event.
    ///
    /// # Errors
    ///
    /// If a template fails, or the body is too large.
    pub(super) fn compose(&self, event: &Event, now: Timestamp) -> Result<Request, PayloadError> {
        let variables = event.variables(&self.common);
        let body = match &self.body {
            Some(body) => body.print(&variables).map_err(PayloadError::Failed)?,
            None => event.json(),
        };
        if body.len() > LARGEST {
            return Err(PayloadError::TooLarge);
        }
        let url = self.url.print(&variables).map_err(PayloadError::Failed)?;
        let url = address(&url).ok_or_else(|| {
            PayloadError::Failed("url: prints no address, or one with a segment of dots".to_owned())
        })?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let value = value.print(&variables).map_err(PayloadError::Failed)?;
            headers.insert(name.clone(), value_of(name, &value)?);
        }
        let timestamp = now.to_utc().timestamp();
        headers.insert(CONTENT_TYPE, value_of(&CONTENT_TYPE, self.media_type.as_bytes())?);
        let mut own = vec![("webhook-id", event.id.clone()), ("webhook-timestamp", timestamp.to_string())];
        let signature = self.signer.sign(&event.id, timestamp, &body);
        own.extend(signature.map(|signature| ("webhook-signature", signature)));
        for (name, value) in own {
            let name = HeaderName::from_static(name);
            let value = value_of(&name, value.as_bytes())?;
            headers.insert(name, value);
        }
        Ok(Request { method: self.method, url, headers, body })
    }
}

/// Returns a printed address, unless a value changed its path: programs take a segment of one or two dots for a step in the path.
fn address(printed: &[u8]) -> Option<Url> {
    let text = str::from_utf8(printed).ok()?;
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let is_dots = |segment: &str| matches!(segment, "." | "..");
    if path.split('/').any(|segment| is_dots(&segment.to_ascii_lowercase().replace("%2e", "."))) {
        return None;
    }
    Url::parse(text).ok()
}

fn value_of(name: &HeaderName, value: &[u8]) -> Result<HeaderValue, PayloadError> {
    let mut value = HeaderValue::from_bytes(value)
        .map_err(|_| PayloadError::Failed(format!("headers.{name}: prints what no header may have")))?;
    // Nothing may log it.
    value.set_sensitive(true);
    Ok(value)
}
