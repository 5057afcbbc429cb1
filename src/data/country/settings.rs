use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::Country;

/// The country that the service is for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CountrySettings {
    /// A folder with hazards, texts and regions. **Default: none**, and the service is for Indonesia
    pub folder: Option<PathBuf>,
    /// What was read from the folder; or else the country of the program, which is read when it is needed.
    #[serde(skip)]
    data: OnceLock<Arc<Country>>,
}

impl CountrySettings {
    /// Reads the folder, if one is configured.
    ///
    /// # Errors
    ///
    /// Every wrong, missing and unknown entry, by file, and by line or path.
    pub(crate) fn read(&mut self) -> Result<(), Vec<String>> {
        if let Some(folder) = &self.folder {
            let in_folder = |fault: String| format!("{}/{fault}", folder.display());
            let country = Country::read(folder);
            let country = country.map_err(|faults| faults.into_iter().map(in_folder).collect::<Vec<_>>())?;
            self.data = Arc::new(country).into();
        }
        Ok(())
    }

    /// Returns what distinguishes the country.
    pub(crate) fn data(&self) -> &Country {
        self.data.get_or_init(|| Arc::new(Country::built_in()))
    }
}
