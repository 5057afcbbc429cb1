//! Loads the initial data set of a store by name: compiled in (`demo`), `empty`, or a folder.

use super::{demo, folder};
use crate::data::folder::{Dataset, DatasetError, Folder, FolderRules};
use crate::model::Timestamp;

impl Dataset {
    /// Loads the data set `name`: `demo`, `empty`, or else the folder at that path.
    ///
    /// `demo` has the same areas in every call; its flood is current at `now`. [`Folder`] describes how a folder is read; `rules`
    /// limit its cards and reports. Rows may refer only to rows in the same folder. Stops at the first wrong row.
    ///
    /// # Errors
    ///
    /// [`DatasetError`], which names the file, the line and the reason.
    pub fn load(name: &str, rules: &FolderRules, now: Timestamp) -> Result<Self, DatasetError> {
        match name {
            "demo" => demo::dataset(now),
            "empty" => Ok(Self::default()),
            path => {
                let folder = Self::open(path)?.with_rules(rules.clone()).with_now(now);
                let dataset = folder::dataset(&folder, now)?;
                for note in folder.notes() {
                    tracing::warn!("{path}: {note}");
                }
                Ok(dataset)
            }
        }
    }

    /// Checks that the data set `name` exists, without reading its rows.
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
