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

/// Maximum size of a body in bytes. Standard Webhooks asks receivers to accept bodies of this size.
const MAX_BODY: usize = 20_000;
const MAX_VALUE: ByteUnit = ByteUnit::Kibibyte(8);
/// Limit of the output while the template of a body runs. `MAX_BODY` limits the result.
const MAX_OUTPUT: ByteUnit = ByteUnit::Mebibyte(1);
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

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PayloadError {
    #[error("the body is larger than {MAX_BODY} bytes")]
    TooLarge,
    #[error("{0}")]
    Failed(String),
}

#[derive(Debug)]
pub(super) struct PayloadTemplate {
    method: Method,
    url: Snippet,
    headers: Vec<(HeaderName, Snippet)>,
    body: Option<Snippet>,
    media_type: String,
    signer: Signer,
    /// Variables that do not depend on the event.
    common: Map<String, Value>,
}

impl PayloadTemplate {
    /// Parses the templates and tries them on example events. Errors never contain a secret.
    pub(super) fn new(
        name: &str,
        settings: &WebhookSettings,
        config: &Config,
        now: Timestamp,
    ) -> Result<Self, ConfigError> {
        let key = |setting: &str| format!("siaga.webhooks.{name}.{setting}");
        let invalid = |setting: &str, reason: String| ConfigError::new(&key(setting), reason);
        let url = Snippet::for_url(&key("url"), settings.url.expose(), MAX_VALUE);
        let url = url.map_err(|reason| invalid("url", reason))?;
        let mut headers = Vec::new();
        for (header, value) in &settings.headers {
            let setting = format!("headers.{header}");
            let name: HeaderName = header.parse().map_err(|_| {
                invalid(&setting, "must be a header name that HTTP allows, such as X-Token".to_owned())
            })?;
            if RESERVED.contains(&name.as_str()) {
                return Err(invalid(&setting, "the service sets this header itself".to_owned()));
            }
            let value = Snippet::for_plain_text(&key(&setting), value.expose(), MAX_VALUE);
            headers.push((name, value.map_err(|reason| invalid(&setting, reason))?));
        }
        let media_type = settings.media_type.parse();
        let media_type = media_type.map_err(|error| invalid("media_type", format!("{error}")))?;
        let body =
            settings.body.as_ref().map(|file| Snippet::read(&file.relative(), &media_type, MAX_OUTPUT));
        let body = body.transpose().map_err(|reason| invalid("body", reason))?;
        let signer = Signer::new(settings.secret.iter().chain(&settings.previous_secret));
        let signer = signer.map_err(|(position, error)| {
            invalid(if position == 0 { "secret" } else { "previous_secret" }, error.to_string())
        })?;
        let common = Map::from_iter([
            ("webhook".to_owned(), json!(name)),
            ("base_url".to_owned(), json!(config.base_url.as_str())),
            ("time_zone".to_owned(), json!(config.time_zone.name())),
        ]);
        let template = Self {
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
            let rendered = template.render(&event, now);
            let request = rendered.map_err(|error| {
                let example =
                    if sample == Sample::Plain { "an example event" } else { "a hostile example event" };
                ConfigError::new(&format!("siaga.webhooks.{name}"), format!("{error} (for {example})"))
            })?;
            let reason = template.body.as_ref().and_then(|body| body.mismatch(&media_type, &request.body));
            if let Some(reason) = reason {
                return Err(invalid("media_type", reason));
            }
        }
        Ok(template)
    }

    pub(super) fn render(&self, event: &Event, now: Timestamp) -> Result<Request, PayloadError> {
        let variables = event.variables(&self.common);
        let body = match &self.body {
            Some(body) => body.print(&variables).map_err(PayloadError::Failed)?,
            None => event.json(),
        };
        if body.len() > MAX_BODY {
            return Err(PayloadError::TooLarge);
        }
        let url = self.url.print(&variables).map_err(PayloadError::Failed)?;
        let url = parse_address(&url).ok_or_else(|| {
            PayloadError::Failed("url: prints no address, or one with a segment of dots".to_owned())
        })?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let value = value.print(&variables).map_err(PayloadError::Failed)?;
            headers.insert(name.clone(), header_value(name, &value)?);
        }
        let timestamp = now.to_utc().timestamp();
        headers.insert(CONTENT_TYPE, header_value(&CONTENT_TYPE, self.media_type.as_bytes())?);
        let mut generated =
            vec![("webhook-id", event.id.clone()), ("webhook-timestamp", timestamp.to_string())];
        let signature = self.signer.sign(&event.id, timestamp, &body);
        generated.extend(signature.map(|signature| ("webhook-signature", signature)));
        for (name, value) in generated {
            let name = HeaderName::from_static(name);
            let value = header_value(&name, value.as_bytes())?;
            headers.insert(name, value);
        }
        Ok(Request { method: self.method, url, headers, body })
    }
}

/// Parses a printed address. Rejects segments of one or two dots, because a value could change the path with them.
fn parse_address(printed: &[u8]) -> Option<Url> {
    let text = str::from_utf8(printed).ok()?;
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let is_dots = |segment: &str| matches!(segment, "." | "..");
    if path.split('/').any(|segment| is_dots(&segment.to_ascii_lowercase().replace("%2e", "."))) {
        return None;
    }
    Url::parse(text).ok()
}

fn header_value(name: &HeaderName, value: &[u8]) -> Result<HeaderValue, PayloadError> {
    let mut value = HeaderValue::from_bytes(value)
        .map_err(|_| PayloadError::Failed(format!("headers.{name}: prints what no header may have")))?;
    // Keeps the value out of logs.
    value.set_sensitive(true);
    Ok(value)
}
