//! Formats write layers: the [`Format`] trait, its registry, and the built-in formats.
//!
//! # Adding a format
//!
//! Implement [`Format`], register it (a built-in one in `builtin`, your own with [`Builder::format`](crate::Builder::format)),
//! run the format suite on it (`siaga_conformance::format_suite!`), and enable it in the configuration key `formats.enabled`.
//! `docs/adding-a-format.md` explains the steps. A [`template`] defines a format without Rust code.

pub mod alerts;
mod area_text;
mod bare;
pub mod cap;
pub mod geojson;
mod memo;
mod registry;
pub(crate) mod tables;
pub mod template;
pub mod topojson;
pub mod well_formed;
mod xml;
mod xml_text;

use std::any::{Any, TypeId};
use std::error::Error;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use serde_json::{Value, json};

pub(crate) use self::bare::bare;
pub use self::registry::{FormatRegistry, InvalidFormats};
use crate::model::{CancelFlag, Cancelled};
use crate::model::{Layer, LayerKind, Timestamp};

/// Writes layers in one format.
///
/// # Contract
///
/// - **Pure.** The same layer and context produce the same bytes. A format reads no clock and no configuration.
/// - **Whole.** A format writes every feature of the layer, unless its documentation states otherwise. If it cannot write a
///   feature, it returns an error instead of a shorter document.
/// - **Safe.** Names are data: whatever characters they contain, the output is well-formed.
pub trait Format: Any + Debug + Send + Sync {
    /// Returns the unique name of the format for the query parameter `geoformat`, in lower-case letters and digits.
    fn name(&self) -> &str;

    /// Returns the kind of document that contains the output. Clients select it with the query parameter `format`.
    fn container(&self) -> Container;

    /// Returns the media type of its responses, with parameters.
    fn media_type(&self) -> &str;

    /// Returns further media types, without parameters, that select the format in `Accept`, such as the type inside an envelope.
    fn also_accepted(&self) -> &[&str] {
        &[]
    }

    /// Returns a format for the same documents without the envelope. Clients request that format by its media type in `Accept`.
    /// Its container must have no envelope. **Default: `None`**
    fn without_envelope(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Returns a number that distinguishes formats of the same type and name that write the same layer differently. Part of the
    /// cache key. **Default: 0**
    fn version(&self) -> u64 {
        0
    }

    /// Returns an immutable snapshot, if the output of the format can change while the service runs. The service writes and
    /// caches responses with the snapshot. **Default: `None`**
    fn current(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Returns whether the format can write layers of this kind.
    fn supports(&self, kind: LayerKind) -> bool;

    /// Returns the format in which a single entry of a document is served at the entry's own address. **Default: `None`**
    fn entry_format(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Returns the format that includes the whole content of each entry, for the query `content=inline`. **Default: `None`**
    fn inline(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Returns the format with its texts for people in this language, if it has such texts. **Default: `None`**
    fn in_language(&self, code: &str) -> Option<Arc<dyn Format>> {
        let _ = code;
        None
    }

    /// Returns the interval, at least 1 ms, after which the output can change although the layer does not; `None` if time does
    /// not change the output. Responses are cached until the interval ends. [`EncodeContext::now`] is the start of the interval.
    fn time_step(&self) -> Option<Duration>;

    /// Returns how long after [`EncodeContext::now`] the documents expire, if they contain a time of expiry. While the store is
    /// unavailable, the service does not send expired documents. **Default: `None`**
    fn expires_after(&self) -> Option<Duration> {
        None
    }

    /// Returns the JSON Schema (2020-12) of the output for layers of this kind, for the OpenAPI document. **Default: a string for
    /// XML and `text/…`, otherwise any value**
    fn schema(&self, kind: LayerKind) -> Value {
        let _ = kind;
        let is_text = self.media_type().starts_with("text/") || self.media_type().contains("xml");
        if is_text { json!({ "type": "string" }) } else { json!({}) }
    }

    /// Appends the layer to `out`.
    ///
    /// Called only for layers that the format [`supports`](Self::supports), on a thread that it may block. Concurrent requests
    /// for the same response share one call. Also called at startup, with a sample layer, for an example in the OpenAPI document.
    ///
    /// # Errors
    ///
    /// If the layer cannot be written; the content of `out` is then unspecified.
    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError>;
}

// Compares types too, because a format that only one route uses may have the same name as an enabled format.
impl PartialEq for dyn Format {
    fn eq(&self, other: &Self) -> bool {
        identity(self) == identity(other)
    }
}

impl Eq for dyn Format {}

impl Hash for dyn Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        identity(self).hash(state);
    }
}

fn identity(format: &dyn Format) -> (TypeId, &str, u64) {
    ((format as &dyn Any).type_id(), format.name(), format.version())
}

/// The kind of document that a format writes: the value of the query parameter `format`, in lower-case letters and digits.
/// Responses in [`Container::JSON`] have the envelope `{"statusCode":200,"result":…}`; others have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Container(pub &'static str);

impl Container {
    /// A JSON value.
    pub const JSON: Self = Self("json");
    /// An XML document.
    pub const XML: Self = Self("xml");
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The input of a format in addition to the layer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EncodeContext {
    /// The time of the request, rounded down to the format's [interval](Format::time_step).
    pub now: Timestamp,
    /// The zone for displayed times.
    pub time_zone: Tz,
    /// The public base address of the service, without a trailing slash.
    pub base_url: Arc<str>,
    /// An English sentence for the response if the service does not cover the requested place; otherwise `None`.
    pub not_covered: Option<Arc<str>>,
    /// West, south, east and north of all loaded areas in degrees. Set only for a document without features, as its bounding box.
    pub bounds: Option<[f64; 4]>,
    pub(crate) stop: CancelFlag,
}

impl EncodeContext {
    /// Creates a context.
    pub fn new(now: Timestamp, time_zone: Tz, base_url: impl Into<Arc<str>>) -> Self {
        Self {
            now,
            time_zone,
            base_url: base_url.into(),
            not_covered: None,
            bounds: None,
            stop: CancelFlag::default(),
        }
    }

    /// Fails once no request waits for the response any more. Formats for long layers call this for each feature, and return the
    /// error. Costs about a nanosecond.
    ///
    /// # Errors
    ///
    /// [`Cancelled`].
    pub fn check(&self) -> Result<(), Cancelled> {
        self.stop.check()
    }
}

/// A layer could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the format {format} cannot write the layer")]
#[non_exhaustive]
pub struct EncodeError {
    /// The name of the format.
    pub format: String,
    /// The cause.
    pub source: Box<dyn Error + Send + Sync>,
}

impl EncodeError {
    /// Creates the error of a format. The cause is logged and never sent to clients.
    pub fn new(format: &str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { format: format.to_owned(), source: source.into() }
    }
}

/// Returns the built-in formats, except the page of alerts, which depends on the layout of pages.
#[must_use]
pub(crate) fn builtin(
    topojson: topojson::Options,
    cap: cap::Options,
    alerts: alerts::Notices,
) -> Vec<Arc<dyn Format>> {
    vec![
        Arc::new(topojson::TopoJson::new(topojson)),
        Arc::new(geojson::GeoJson::default()),
        Arc::new(cap::Cap::new(cap)),
        Arc::new(alerts::Atom::new(alerts.clone())),
        Arc::new(alerts::Rss::new(alerts)),
    ]
}
