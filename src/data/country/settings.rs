use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::Country;

/// The country that the service is for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CountrySettings {
    /// A folder with hazards, texts and regions. **Default: none**, for Indonesia
    pub folder: Option<PathBuf>,
    /// The country from the folder. Without a folder: the built-in country, which is read on first use.
    #[serde(skip)]
    data: OnceLock<Arc<Country>>,
}

impl CountrySettings {
    /// Reads the folder, if one is configured.
    pub(crate) fn read(&mut self) -> Result<(), Vec<String>> {
        if let Some(folder) = &self.folder {
            let in_folder = |fault: String| format!("{}/{fault}", folder.display());
            let country = Country::read(folder);
            let country = country.map_err(|faults| faults.into_iter().map(in_folder).collect::<Vec<_>>())?;
            self.data = Arc::new(country).into();
        }
        Ok(())
    }

    pub(crate) fn data(&self) -> &Country {
        self.data.get_or_init(|| Arc::new(Country::built_in()))
    }
}
