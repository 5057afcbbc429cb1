//! The data set that a store starts with, by its name: compiled in (`demo`), none (`empty`), or a folder.

use super::{demo, folder};
use crate::data::folder::{Dataset, DatasetError, Folder, FolderRules};
use crate::model::Timestamp;

impl Dataset {
    /// Loads the data set called `name`: `demo`, `empty`, or else the folder at that path.
    ///
    /// `demo` has the same areas in every call; its flood is going on at `now`.
    ///
    /// A folder is read as [`Folder`] describes, by these rules. What its rows refer to must be in the folder. The
    /// first wrong row ends the load.
    ///
    /// # Errors
    ///
    /// [`DatasetError`], which names the file, the line and the reason.
    pub fn load(name: &str, rules: &FolderRules, now: Timestamp) -> Result<Self, DatasetError> {
        match name {
            "demo" => demo::dataset(now),
            "empty" => Ok(Self::default()),
            path => {
                let folder = Self::open(path)?.by(rules.clone()).at(now);
                let dataset = folder::dataset(&folder, now)?;
                for note in folder.notes() {
                    tracing::warn!("{path}: {note}");
                }
                Ok(dataset)
            }
        }
    }

    /// Makes sure that there is a data set called `name`, without reading its rows.
    ///
    /// # Errors
    ///
    /// [`DatasetError::Unknown`], [`DatasetError::NothingFound`].
    pub fn find(name: &str) -> Result<(), DatasetError> {
        match name {
            "demo" | "empty" => Ok(()),
            path => Self::open(path).map(drop),
        }
    }

    fn open(path: &str) -> Result<Folder, DatasetError> {
        Folder::open(path).map_err(|error| match error {
            DatasetError::NoFolder(_) => DatasetError::Unknown(path.to_owned()),
            error => error,
        })
    }
}
