use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::is_name;

/// Maximum size of the logo and the icon, each in bytes.
const MAX_FILE: u64 = 256 << 10;
/// The width and height of the icon in pixels, in the header of a PNG file.
const ICON_SIZE: [u8; 8] = [0, 0, 2, 0, 0, 0, 2, 0];
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

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
    /// A file with the icon of the installed map: PNG, 512 × 512 pixels, at most 256 KiB. Replaces Siaga's. **Default: none**
    pub icon: Option<PathBuf>,
    #[serde(skip)]
    logo_file: Option<Arc<Logo>>,
    #[serde(skip)]
    icon_file: Option<Arc<[u8]>>,
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
            icon: None,
            logo_file: None,
            icon_file: None,
        }
    }
}

impl Site {
    pub(crate) fn logo(&self) -> Option<&Logo> {
        self.logo_file.as_deref()
    }

    /// Returns the configured icon, as PNG.
    pub(crate) fn icon(&self) -> Option<&[u8]> {
        self.icon_file.as_deref()
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
            let (bytes, invalid) = read("logo", path)?;
            let media_type = media_type(&bytes).ok_or_else(|| invalid("must be a PNG or SVG file"))?;
            self.logo_file = Some(Arc::new(Logo { media_type, bytes }));
        }
        if let Some(path) = &self.icon {
            let (bytes, invalid) = read("icon", path)?;
            if !bytes.starts_with(PNG) || bytes.get(16..24) != Some(&ICON_SIZE) {
                return Err(invalid("must be a PNG file of 512 × 512 pixels"));
            }
            self.icon_file = Some(bytes.into());
        }
        Ok(())
    }
}

/// Reads the file of a key. Returns its bytes, and what makes an error about it.
fn read(key: &str, path: &Path) -> Result<(Vec<u8>, impl Fn(&str) -> ConfigError), ConfigError> {
    let invalid = move |reason: &str| {
        ConfigError::new(&format!("siaga.site.{key}"), format!("{}: {reason}", path.display()))
    };
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
    read.map_err(|error| invalid(&error.to_string()))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(invalid(&format!("has more than {MAX_FILE} bytes")));
    }
    Ok((bytes, invalid))
}

/// Detects PNG and SVG by the start of the file; `None` for anything else.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(PNG) {
        return Some("image/png");
    }
    let text = str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim_start();
    (text.starts_with("<svg") || text.starts_with("<?xml") && text.contains("<svg"))
        .then_some("image/svg+xml")
}
