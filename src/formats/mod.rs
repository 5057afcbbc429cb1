//! Formats write layers: the [`Format`] trait, its registry, and the formats that come with the service.
//!
//! # Adding a format
//!
//! Implement [`Format`], add it to the registry (the service's own in `builtin`, an agency's with
//! [`Builder::format`](crate::Builder::format)), and run the format suite (`siaga_conformance::format_suite!`) on it. The
//! configuration key `formats.enabled` then enables it. `docs/adding-a-format.md` explains the steps. A [`template`] is
//! a format without Rust.

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
/// - **Pure.** The same layer and context give the same bytes. A format reads no clock and no configuration.
/// - **Whole.** Every feature of the layer is written, unless the format's documentation says which ones it leaves out.
///   If something cannot be written, that is an error, never a silently shorter document.
/// - **Safe.** Names are data: whatever characters they contain, the output is well-formed.
pub trait Format: Any + Debug + Send + Sync {
    /// Returns the name that clients select it by with `geoformat`, in lower-case letters and digits. No other format has it.
    fn name(&self) -> &str;

    /// Returns the kind of document that its output is, or is a part of. Clients select it with `format`.
    fn container(&self) -> Container;

    /// Returns the media type of its responses, with parameters.
    fn media_type(&self) -> &str;

    /// Returns further media types by which clients may request it in `Accept`, each without parameters.
    ///
    /// An example is the type of a document by itself that is sent within another.
    fn also_accepted(&self) -> &[&str] {
        &[]
    }

    /// Returns the format for its documents without the envelope, which clients request by that format's media type in
    /// `Accept`. **Default: `None`**
    ///
    /// That format writes the same, and is in a container that has no envelope.
    fn bare(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Returns a number that differs between formats of one type and name that write the same layer differently: cached
    /// responses are told apart by it. **Default: 0**
    fn version(&self) -> u64 {
        0
    }

    /// Returns the format as it is now, if what it writes can change while the service runs. A response is written, and
    /// cached, by the format that this returns, which does not change. **Default: `None`**
    fn current(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Returns whether it can write layers of this kind.
    fn carries(&self, kind: LayerKind) -> bool;

    /// Returns the format for a single entry of its documents, at the address that its documents give to the entry.
    /// **Default: `None`**
    fn entry_format(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Returns the format for its documents with the whole content of each entry within, which clients request by
    /// `content=inline`. **Default: `None`**
    fn inline(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Returns the format that writes the texts of its documents in this language, if it has texts for people. **Default: `None`**
    fn in_language(&self, code: &str) -> Option<Arc<dyn Format>> {
        let _ = code;
        None
    }

    /// Returns the steps in which time alone changes what it writes for a layer; `None` if time does not change it.
    ///
    /// A response is cached until the step of its request ends, and [`EncodeContext::now`] is the beginning of the
    /// step. The shortest step is a millisecond.
    fn time_step(&self) -> Option<Duration>;

    /// Returns how long after [`EncodeContext::now`] its documents expire, if they say so themselves. While the store
    /// is unavailable, an expired document is no longer returned. **Default: `None`**
    fn expires_after(&self) -> Option<Duration> {
        None
    }

    /// Returns a JSON Schema (2020-12) of what it writes for layers of this kind, for the description of the interface.
    ///
    /// **Default: a text for XML and `text/…`, otherwise anything that its media type allows**
    fn schema(&self, kind: LayerKind) -> Value {
        let _ = kind;
        let is_text = self.media_type().starts_with("text/") || self.media_type().contains("xml");
        if is_text { json!({ "type": "string" }) } else { json!({}) }
    }

    /// Appends the layer to `out`.
    ///
    /// Only called with layers it [`carries`](Self::carries), on a thread that it may block, and once for all concurrent
    /// requests for the same. Also called at startup with a small layer, for an example in the description of the interface.
    ///
    /// # Errors
    ///
    /// If the layer cannot be written; `out` is then of no use.
    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError>;
}

// No two enabled formats have the same name, but a format that only one route uses may have the name of an enabled one.
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
///
/// Responses in [`Container::JSON`] have the envelope `{"statusCode":200,"result":…}`; all others have none.
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

/// What a format may need to know besides the layer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EncodeContext {
    /// The time of the request, in the format's [steps](Format::time_step).
    pub now: Timestamp,
    /// The zone in which times are written for people.
    pub time_zone: Tz,
    /// The public base address of the service, without a slash at its end.
    pub base_url: Arc<str>,
    /// Why the layer says nothing about the place that was asked for, as a sentence in English: the service does not cover it. `None` if it
    /// does.
    pub not_covered: Option<Arc<str>>,
    /// West, south, east and north of all loaded areas, in degrees: the bounding box of a document without features. `None` if there
    /// are no areas. Only set for such a document.
    pub bounds: Option<[f64; 4]>,
    pub(crate) stop: CancelFlag,
}

impl EncodeContext {
    /// Returns a context with these values.
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

    /// Fails once no request waits for the response any more. A format whose layers can be long calls this for each
    /// feature, and returns the error. It costs about a nanosecond.
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
    /// Returns the error of the format with this name, and its cause, which is logged and never sent to clients.
    pub fn new(format: &str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { format: format.to_owned(), source: source.into() }
    }
}

/// Returns the formats that come with the service, but for the page of alerts, which needs what all pages have in common.
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
