use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Country, CountryFault};

/// The country that the service is for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CountrySettings {
    /// A folder with hazards, texts and regions. **Default: none**, and the service is for Indonesia
    pub folder: Option<PathBuf>,
    /// What was read from the folder.
    #[serde(skip)]
    data: Arc<Country>,
}

impl Default for CountrySettings {
    fn default() -> Self {
        Self { folder: None, data: Arc::new(Country::built_in()) }
    }
}

impl CountrySettings {
    /// Reads the folder, if one is configured.
    ///
    /// # Errors
    ///
    /// Every wrong, missing and unknown entry, by file and line.
    pub(crate) fn read(&mut self) -> Result<(), Vec<String>> {
        if let Some(folder) = &self.folder {
            let named = |fault: CountryFault| format!("{}/{fault}", folder.display());
            let country = Country::read(folder);
            self.data =
                Arc::new(country.map_err(|faults| faults.into_iter().map(named).collect::<Vec<_>>())?);
        }
        Ok(())
    }

    /// Returns what distinguishes the country.
    pub(crate) fn data(&self) -> &Country {
        &self.data
    }
}
