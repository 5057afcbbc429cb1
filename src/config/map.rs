use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use url::{Origin, Url};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Map {
    /// Base map from another host. **Default: none; the map shows outlines only, and requests nothing from other hosts**
    pub tiles: Option<Tiles>,
    /// Base map of this server. **Default: `basemap.geojson` in the folder `dataset`, if the memory store serves a folder**
    pub basemap: BasemapFile,
    /// Origins of sites that may embed the map in a frame, such as `https://news.example`. **Default: none**
    #[serde(deserialize_with = "origins")]
    pub embed: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BasemapFile {
    /// A GeoJSON file in the form of a data folder's `basemap.geojson`.
    pub file: Option<PathBuf>,
    /// Attribution, as the licence requires; shown as text. Required with `file`; may be empty.
    pub attribution: Option<String>,
}

/// A base map of images, which browsers request from another host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Tiles {
    /// Address of an image, with `{z}`, `{x}` and `{y}`.
    #[serde(deserialize_with = "template")]
    pub url: String,
    /// Attribution, as the licence requires; shown as text.
    pub attribution: String,
}

impl Tiles {
    #[must_use]
    pub(crate) fn origin(&self) -> String {
        Url::parse(&self.url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
    }
}

/// Accepts a web address with `{z}`, `{x}` and `{y}`, but without `{s}`.
fn template<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_web = Url::parse(&text).is_ok_and(|url| is_web(&url));
    let has_place = ["{z}", "{x}", "{y}"].iter().all(|part| text.contains(part)) && !text.contains("{s}");
    if is_web && has_place {
        Ok(text)
    } else {
        let rule = "must be an address such as https://tile.example.org/{z}/{x}/{y}.png, without {s}";
        Err(D::Error::custom(rule))
    }
}

/// Accepts web addresses without path and query, and returns their origins.
fn origins<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let origin = |text: &String| {
        let url = Url::parse(text).ok().filter(is_web)?;
        let origin = url.origin();
        let is_bare = matches!(origin, Origin::Tuple(..)) && url.path() == "/" && url.query().is_none();
        is_bare.then(|| origin.ascii_serialization())
    };
    let origins: Option<Vec<_>> = texts.iter().map(origin).collect();
    origins.ok_or_else(|| D::Error::custom("must be origins such as https://news.example"))
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}
