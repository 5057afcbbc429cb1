use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::is_name;

/// Maximum size of the logo in bytes.
const MAX_LOGO: u64 = 256 << 10;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Site {
    /// Name of the service. **Default: `Siaga`**
    pub name: String,
    /// Agency that runs the service. **Default: none**
    pub agency: Option<String>,
    /// Contact of the agency: an address, a number or a place. **Default: none**
    pub contact: Option<String>,
    /// Emergency number. **Default: the country's**
    pub emergency: Option<String>,
    /// A file with the logo: PNG or SVG, at most 256 KiB. **Default: none**
    pub logo: Option<PathBuf>,
    #[serde(skip)]
    image: Option<Arc<Logo>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Logo {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Default for Site {
    fn default() -> Self {
        Self {
            name: "Siaga".to_owned(),
            agency: None,
            contact: None,
            emergency: Some("112".to_owned()),
            logo: None,
            image: None,
        }
    }
}

impl Site {
    pub(crate) fn logo(&self) -> Option<&Logo> {
        self.image.as_deref()
    }

    pub(super) fn check(&mut self) -> Result<(), ConfigError> {
        let texts = [
            ("name", Some(&self.name)),
            ("agency", self.agency.as_ref()),
            ("contact", self.contact.as_ref()),
            ("emergency", self.emergency.as_ref()),
        ];
        for (key, text) in texts {
            if text.is_some_and(|text| text.trim().is_empty() || !is_name(text)) {
                let rule = "must be a text of 1 to 255 characters without control characters";
                return Err(ConfigError::new(&format!("siaga.site.{key}"), rule));
            }
        }
        if let Some(path) = &self.logo {
            let invalid =
                |reason: String| ConfigError::new("siaga.site.logo", format!("{}: {reason}", path.display()));
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(MAX_LOGO + 1).read_to_end(&mut bytes));
            read.map_err(|error| invalid(error.to_string()))?;
            if bytes.len() as u64 > MAX_LOGO {
                return Err(invalid(format!("has more than {MAX_LOGO} bytes")));
            }
            let media_type =
                media_type(&bytes).ok_or_else(|| invalid("must be a PNG or SVG file".to_owned()))?;
            self.image = Some(Arc::new(Logo { media_type, bytes }));
        }
        Ok(())
    }
}

/// Detects PNG and SVG by the start of the file; `None` for anything else.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some("image/png");
    }
    let text = str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim_start();
    (text.starts_with("<svg") || text.starts_with("<?xml") && text.contains("<svg"))
        .then_some("image/svg+xml")
}
