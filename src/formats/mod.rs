//! How layers are written: the [`Format`] trait, its registry, and the formats that come with the service.
//!
//! # Adding a format
//!
//! Implement [`Format`], add it to the registry (the service's own in [`builtin`], an agency's through
//! [`Builder::format`](crate::Builder::format)), and run the format suite (`conformance::formats`) on it. The configuration key
//! `formats.enabled` then offers it. `docs/adding-a-format.md` leads through this. A [`template`] is one
//! without Rust.

pub mod cap;
mod flood_text;
pub mod geojson;
mod lists;
mod memo;
mod numbers;
mod registry;
pub mod template;
pub mod topojson;
pub(crate) mod well_formed;
mod xml_text;

use std::any::{Any, TypeId};
use std::error::Error;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use serde_json::{Value, json};

pub use self::registry::{FormatRegistry, InvalidFormats};
use crate::model::{Layer, LayerKind, Timestamp};
use crate::tasks::{Stop, Stopped};

/// Writes layers in one format.
///
/// # Contract
///
/// - **Pure.** The same layer and context give the same bytes; a format reads no clock and no configuration.
/// - **Whole.** Every feature of the layer is written, unless the format's documentation says which it leaves
///   out; what cannot be written is an error, never a silently shorter answer.
/// - **Safe.** Names are data: whatever characters they hold, the output is well-formed.
pub trait Format: Any + Debug + Send + Sync {
    /// The name clients choose it by with `geoformat`, in small letters and digits; no other format has it.
    fn name(&self) -> &str;

    /// What its output is a part or kind of; clients choose it with `format`.
    fn container(&self) -> Container;

    /// The media type of its answers, with its parameters.
    fn media_type(&self) -> &str;

    /// Further media types by which clients may ask for it in `Accept`, each without parameters.
    ///
    /// Such as the type a document has by itself that is sent within another.
    fn also_accepted(&self) -> &[&str] {
        &[]
    }

    /// The format by whose media type clients ask in `Accept` for its documents without the envelope; `None` by default.
    ///
    /// It writes the same and is in a container that has no envelope.
    fn bare(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// Whether it can write layers of this kind.
    fn carries(&self, kind: LayerKind) -> bool;

    /// The format of an entry of its documents by itself: of the one area that an address with `area_id` and `time` names,
    /// which its documents give the entry. Default: none.
    fn of_entry(&self) -> Option<Arc<dyn Format>> {
        None
    }

    /// In which steps the passing of time changes what it writes of a layer; `None` when it does not.
    ///
    /// An answer is kept for as long as the step of its request lasts, and [`EncodeContext::now`] is its beginning. The
    /// shortest step is a millisecond.
    fn time_step(&self) -> Option<Duration>;

    /// How long after [`EncodeContext::now`] what it writes expires, if that stands in it. While the store is away an
    /// expired document is not returned any more. **Default: `None`**
    fn expires_after(&self) -> Option<Duration> {
        None
    }

    /// What it writes of layers of this kind, as JSON Schema (2020-12), for the description of the interface.
    ///
    /// Unless told, whatever its media type says.
    fn schema(&self, kind: LayerKind) -> Value {
        let _ = kind;
        json!({})
    }

    /// Appends the layer to `out`.
    ///
    /// Only called with layers it [`carries`](Self::carries), on a thread that may be busy with it, and once for all who ask
    /// the same at the same time; and at the start with a small one, as an example for the description of the interface.
    ///
    /// # Errors
    ///
    /// When the layer cannot be written; `out` is then of no use.
    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError>;
}

// Of the formats on offer no two have one name; but one that a route has for itself may have the name of another's.
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

fn identity(format: &dyn Format) -> (TypeId, &str) {
    ((format as &dyn Any).type_id(), format.name())
}

/// The kind of document a format writes: the value of the query parameter `format`, in small letters and digits.
///
/// Answers in [`Container::JSON`] stand in the envelope `{"statusCode":200,"result":…}`; all others stand alone.
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
    pub(crate) stop: Stop,
}

impl EncodeContext {
    /// What a format is told besides the layer.
    pub fn new(now: Timestamp, time_zone: Tz, base_url: impl Into<Arc<str>>) -> Self {
        Self { now, time_zone, base_url: base_url.into(), stop: Stop::default() }
    }

    /// Fails once no request waits for the response any more. A format whose layers can be long calls this for each
    /// feature, and fails by it; it costs about a nanosecond.
    ///
    /// # Errors
    ///
    /// [`Stopped`].
    pub fn check(&self) -> Result<(), Stopped> {
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
    /// The failure of the format of this name, and its cause, which is logged and never told to clients.
    pub fn new(format: &str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { format: format.to_owned(), source: source.into() }
    }
}

/// The formats that come with the service.
#[must_use]
pub fn builtin(topojson: topojson::Options, cap: cap::Options) -> Vec<Arc<dyn Format>> {
    vec![
        Arc::new(topojson::TopoJson::new(topojson)),
        Arc::new(geojson::GeoJson::default()),
        Arc::new(cap::Cap::new(cap)),
    ]
}
