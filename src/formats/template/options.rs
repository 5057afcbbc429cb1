use std::path::PathBuf;
use std::time::Duration;

use figment::value::magic::RelativePathBuf;
use serde::{Deserialize, Serialize};
use ubyte::ByteUnit;

use crate::formats::Container;
use crate::model::LayerKind;
use crate::model::duration;

/// A format declared in the configuration: `formats.template.<name>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The template file, relative to the configuration file, or to the working directory if set by the environment.
    #[serde(serialize_with = "RelativePathBuf::serialize_relative")]
    pub file: RelativePathBuf,
    /// The media type of its documents, with parameters. Selects how values are escaped.
    pub media_type: String,
    /// The kind of document, which clients select with `format`. **Default: `json`, `xml` or `html` according to the media type,
    /// otherwise `text`**
    pub container: Option<Kind>,
    /// The resources that it can write.
    pub layers: Vec<LayerKind>,
    /// The maximum output for one layer. **Default: `64MiB`**
    #[serde(default = "max_bytes")]
    pub max_bytes: ByteUnit,
    /// The maximum time for one layer. **Default: `5s`**
    #[serde(default = "max_time", with = "duration")]
    pub max_time: Duration,
}

/// The containers for templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A JSON value, sent in the envelope.
    Json,
    /// An XML document.
    Xml,
    /// An HTML page.
    Html,
    /// Anything else.
    Text,
}

impl Options {
    /// Returns the path of the template.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.file.relative()
    }
}

impl From<Kind> for Container {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Json => Self::JSON,
            Kind::Xml => Self::XML,
            Kind::Html => Self("html"),
            Kind::Text => Self("text"),
        }
    }
}

fn max_bytes() -> ByteUnit {
    ByteUnit::Mebibyte(64)
}

fn max_time() -> Duration {
    Duration::from_secs(5)
}
