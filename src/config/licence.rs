use serde::{Deserialize, Serialize};
use url::Url;

use super::ConfigError;

/// Under which terms the data may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Licence {
    /// Where the licence can be read; every answer then names it (`Link: …; rel="license"`, RFC 8288). **Default: none**
    pub url: Option<Url>,
}

impl Licence {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match &self.url {
            Some(url) if !matches!(url.scheme(), "http" | "https") => Err(ConfigError::new(
                "siaga.licence.url",
                format!("must be an address of http or https, not {url}"),
            )),
            _ => Ok(()),
        }
    }
}
