use std::path::PathBuf;

use super::FolderFile;

/// Why a data set could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The name is not `demo`, not `empty`, and not a folder.
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
        /// The names of the other files in the folder.
        found: Vec<String>,
    },
    /// A file exists but cannot be read.
    #[error("{}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A row of a file is wrong. Siaga then loads nothing.
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

/// Returns a list of the names for a message, at most `SHOWN` of them.
fn listed(found: &[String]) -> String {
    const SHOWN: usize = 20;

    let mut names: Vec<_> = found.iter().take(SHOWN).map(|name| name.escape_debug().to_string()).collect();
    if found.len() > SHOWN {
        names.push(format!("{} more", found.len() - SHOWN));
    }
    if names.is_empty() { "the folder is empty".to_owned() } else { format!("found {}", names.join(", ")) }
}
