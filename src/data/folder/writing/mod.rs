//! Writes the files of a folder row by row.

mod csv_writer;
mod geojson_writer;
mod part_file;

use std::fs;
use std::io;
use std::path::PathBuf;

pub use self::csv_writer::CsvWriter;
pub use self::geojson_writer::GeoJsonWriter;
use self::part_file::PartFile;
use super::FolderFile;
use super::csv_file::Record;

/// Writes a folder that [`Folder`](super::Folder) reads back as the same values.
///
/// Each file has a writer, which streams rows in order. The caller must finish the writer: only then does the file get its name;
/// dropping an unfinished writer deletes the file. A file may have no rows. Methods fail if a file cannot be created or written.
#[derive(Debug)]
pub struct FolderWriter {
    path: PathBuf,
}

/// Why a data set could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder contains a data set already.
    #[error("{} is there already; a data set is written into a folder without one", .0.display())]
    Exists(PathBuf),
    /// A file or the folder cannot be written.
    #[error("{}: {source}", .path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl FolderWriter {
    /// Creates the folder at `path` if necessary, to write into it.
    ///
    /// # Errors
    ///
    /// [`WriteError::Exists`] if the folder has a file of a data set, [`WriteError::Unwritable`] if it cannot be created.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, WriteError> {
        let path = path.into();
        let unwritable = |path: PathBuf| |source| WriteError::Unwritable { path, source };
        fs::create_dir_all(&path).map_err(unwritable(path.clone()))?;
        for file in FolderFile::ALL {
            let file = path.join(file.name());
            if file.try_exists().map_err(unwritable(file.clone()))? {
                return Err(WriteError::Exists(file));
            }
        }
        Ok(Self { path })
    }

    pub(super) fn features<T>(&self, file: FolderFile) -> Result<GeoJsonWriter<T>, WriteError> {
        GeoJsonWriter::begin(self.begin(file)?)
    }

    pub(super) fn rows<T, R: Record>(&self, file: FolderFile) -> Result<CsvWriter<T>, WriteError> {
        CsvWriter::begin(self.begin(file)?, &[R::COLUMNS, R::OPTIONAL].concat())
    }

    fn begin(&self, file: FolderFile) -> Result<PartFile, WriteError> {
        PartFile::create(self.path.join(file.name()))
    }
}
