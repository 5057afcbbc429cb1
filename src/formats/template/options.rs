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
    /// The template. A relative path is of the folder of the configuration file that has it, and of the working directory
    /// when it is from the environment.
    #[serde(serialize_with = "RelativePathBuf::serialize_relative")]
    pub file: RelativePathBuf,
    /// The media type of what it makes, with its parameters. It decides how values are escaped.
    pub media_type: String,
    /// What clients choose it with by `format`. **Default: `json`, `xml` or `html` as the media type is, else `text`**
    pub container: Option<Kind>,
    /// The resources it is made for.
    pub layers: Vec<LayerKind>,
    /// The most it may make of one layer. **Default: `64MiB`**
    #[serde(default = "max_bytes")]
    pub max_bytes: ByteUnit,
    /// The longest it may take for one layer. **Default: `5s`**
    #[serde(default = "max_time", with = "duration")]
    pub max_time: Duration,
}

/// The containers there are for templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A JSON value, which is sent in the envelope.
    Json,
    /// An XML document.
    Xml,
    /// A page.
    Html,
    /// Anything else.
    Text,
}

impl Options {
    /// Where the template is.
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
