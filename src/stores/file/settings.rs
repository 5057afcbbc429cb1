use std::path::{Path, PathBuf, absolute};

use serde::{Deserialize, Serialize};

use crate::stores::{OpenError, StoreSettings};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Settings {
    /// The file. **Default: `siaga.db` in the working directory**
    pub(crate) path: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        Self { path: "siaga.db".into() }
    }
}

impl Settings {
    /// Returns the absolute path without symbolic links, so that all processes use the same path.
    pub(crate) fn absolute(&self) -> Result<PathBuf, String> {
        let invalid = |reason: &str| format!("{} {reason}", self.path.display());
        let path = absolute(&self.path).map_err(|error| error.to_string())?;
        let name = path.file_name().ok_or_else(|| invalid("does not name a file"))?;
        if path.is_dir() {
            return Err(invalid("is a folder; name a file in it"));
        }
        let in_canonical_folder = || Some(path.parent()?.canonicalize().ok()?.join(name));
        Ok(path.canonicalize().ok().or_else(in_canonical_folder).unwrap_or_else(|| path.clone()))
    }

    /// Returns the folder with the photos of a database file: the path of the file with the suffix `-images`.
    #[must_use]
    pub(crate) fn images_of(file: &Path) -> PathBuf {
        with_suffix(file, "-images")
    }

    fn read(settings: &StoreSettings) -> Result<Self, OpenError> {
        const KEY: &str = "siaga.file";
        let figment = &settings.figment;
        if figment.contains(KEY) { Ok(figment.extract_inner(KEY)?) } else { Ok(Self::default()) }
    }

    pub(super) fn path(settings: &StoreSettings) -> Result<PathBuf, OpenError> {
        Self::read(settings)?.absolute().map_err(|reason| format!("siaga.file.path: {reason}").into())
    }
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
