//! The data that a store starts with: generated (`demo`), none (`empty`), or read from a folder.

mod demo;
mod folder;

use std::collections::BTreeSet;
use std::path::PathBuf;

pub use self::folder::{
    CsvWriter, Folder, FolderFile, FolderRow, FolderRules, FolderWriter, GeoJsonWriter, ReportRow, WriteError,
};
pub(crate) use self::folder::{outline, place, read_moderation_log, repaired, shape, write_moderation_log};
use crate::model::{
    Card, ErasedReport, FloodChange, ModerationEntry, ObservedGauge, PartnerPost, Places, Report, ReportKey,
    Timestamp,
};

/// Everything a store can be filled with.
///
/// The log ascends in time and names only areas of the places.
#[derive(Debug, Default)]
pub struct Dataset {
    /// Everything in [`Places`].
    pub places: Places,
    /// Every change of a flood state, oldest first. The newest one of an area is its current state.
    pub flood_log: Vec<FloodChange>,
    /// Gauges with all their readings.
    pub gauges: Vec<ObservedGauge>,
    /// Reports, each with its own key; hidden ones too.
    pub reports: Vec<Report>,
    /// The reports that are hidden from readers.
    pub hidden: BTreeSet<ReportKey>,
    /// What is left of erased reports.
    pub erased: Vec<ErasedReport>,
    /// The moderation log, oldest first.
    pub moderation: Vec<ModerationEntry>,
    /// Cards, each with its own identifier.
    pub cards: Vec<Card>,
    /// The posts of the partner feed that became reports, each with its own identifier.
    pub partner_posts: Vec<PartnerPost>,
}

/// Why a data set could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The name is neither a generated data set nor a folder.
    #[error("siaga.dataset must be demo, empty or a folder, and {0:?} is no folder")]
    Unknown(String),
    /// There is no folder at the path.
    #[error("{} is no folder", .0.display())]
    NoFolder(PathBuf),
    /// The folder contains no file of a data set.
    #[error("{} holds no data set: looked for {}; {}", .path.display(), FolderFile::names(), listed(.found))]
    NothingFound {
        /// The folder.
        path: PathBuf,
        /// The names of the files that are there.
        found: Vec<String>,
    },
    /// A file is there but cannot be read.
    #[error("{}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A row of a file is wrong. Then nothing of the data set is loaded.
    #[error("{}, line {line}: {reason}", .path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line on which the row begins, from 1.
        line: u64,
        /// What is wrong, and what is allowed.
        reason: String,
    },
}

/// Describes the content of a folder in a few words.
fn listed(found: &[String]) -> String {
    /// How many names are shown.
    const SHOWN: usize = 20;

    let mut names: Vec<_> = found.iter().take(SHOWN).map(|name| name.escape_debug().to_string()).collect();
    if found.len() > SHOWN {
        names.push(format!("{} more", found.len() - SHOWN));
    }
    if names.is_empty() { "the folder is empty".to_owned() } else { format!("found {}", names.join(", ")) }
}

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
            "demo" => Ok(demo::dataset(now)),
            "empty" => Ok(Self::default()),
            path => {
                let folder = Self::open(path)?.by(rules.clone());
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

    /// Writes the data set as a folder, which [`load`](Self::load) reads as the same data set.
    ///
    /// # Errors
    ///
    /// [`WriteError`], which names the file and the cause.
    pub fn save(&self, folder: &FolderWriter) -> Result<(), WriteError> {
        folder::save(self, folder)
    }
}
