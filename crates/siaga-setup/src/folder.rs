//! Writes the folder: a new one at once, and an existing one file by file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SetupError;

/// The hidden file with the options of the last run and a digest of each file that it wrote.
const RECORD: &str = ".siaga-setup.json";

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) options: Value,
    digests: BTreeMap<String, String>,
}

impl Record {
    /// Returns the record of a folder that setup has made; `None` if the folder does not exist or is empty.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, SetupError> {
        let failed = |reason: &dyn std::fmt::Display| SetupError::failed(folder.display(), reason);
        let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        match fs::read(folder.join(RECORD)) {
            Ok(text) => {
                serde_json::from_slice(&text).map(Some).map_err(|error| failed(&format!("{RECORD}: {error}")))
            }
            Err(error) if is_missing(&error) => match fs::read_dir(folder).map(Iterator::count) {
                Ok(0) => Ok(None),
                Ok(_) => Err(failed(&"is not empty, and setup has not made it: name a new folder")),
                Err(error) if is_missing(&error) => Ok(None),
                Err(error) => Err(failed(&error)),
            },
            Err(error) => Err(failed(&error)),
        }
    }
}

/// A folder that is ready to be written.
#[derive(Debug)]
pub struct Prepared {
    /// The folder, as an absolute path.
    pub folder: PathBuf,
    /// The name of the first key.
    pub officer: String,
    /// The number of areas.
    pub areas: usize,
    /// What the operator should know, and how to go on.
    pub lines: Vec<String>,
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) record: Option<Record>,
    pub(crate) options: Value,
}

impl Prepared {
    /// Whether setup has made the folder before.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.record.is_some()
    }

    /// Writes all files, and returns the folder that has them: a new folder has another name until [`Written::finish`].
    ///
    /// In a folder that exists, replaces the files that were not edited. It keeps edited ones, and writes the new version beside them
    /// as a hidden file.
    ///
    /// # Errors
    ///
    /// If a file cannot be written: nothing of a new folder stays.
    pub fn write(&self) -> Result<Written, SetupError> {
        let failed = |error: io::Error| SetupError::failed(self.folder.display(), error);
        let Some(record) = &self.record else {
            let mut name = self.folder.as_os_str().to_owned();
            name.push(".part");
            let part = PathBuf::from(name);
            if let Some(parent) = part.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            fs::create_dir(&part).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => SetupError::failed(
                    part.display(),
                    "exists: another setup runs, or one was killed; in the second case remove it",
                ),
                _ => SetupError::failed(part.display(), error),
            })?;
            let written = Written { at: part, to: Some(self.folder.clone()), notes: Vec::new() };
            for (name, content) in &self.files {
                replace(&written.at.join(name), content).map_err(failed)?;
            }
            self.write_record(&written.at).map_err(failed)?;
            return Ok(written);
        };
        let mut written = Written { at: self.folder.clone(), to: None, notes: Vec::new() };
        for (name, content) in &self.files {
            let path = self.folder.join(name);
            let found = match fs::read(&path) {
                Ok(found) => Some(found),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(error) => return Err(SetupError::failed(path.display(), error)),
            };
            let is_edited = found
                .is_some_and(|found| found != *content && record.digests.get(name) != Some(&digest(&found)));
            let new = beside(&path, "new");
            replace(if is_edited { &new } else { &path }, content).map_err(failed)?;
            if is_edited {
                let note = format!("{name} was edited and is kept; the new version is in {}.", new.display());
                written.notes.push(note);
            }
        }
        let gone = record.digests.iter().filter(|(name, _)| self.files.iter().all(|(kept, _)| kept != *name));
        for (name, digest_then) in gone {
            let path = self.folder.join(name);
            let Ok(found) = fs::read(&path) else { continue };
            if digest(&found) == *digest_then {
                fs::remove_file(&path).map_err(failed)?;
            } else {
                let hidden = beside(&path, "old");
                fs::rename(&path, &hidden).map_err(failed)?;
                let hidden = hidden.display();
                written
                    .notes
                    .push(format!("{name} was edited and is not needed any more; it is in {hidden}."));
            }
        }
        self.write_record(&self.folder).map_err(failed)?;
        Ok(written)
    }

    fn write_record(&self, folder: &Path) -> io::Result<()> {
        let digests = self.files.iter().map(|(name, content)| (name.clone(), digest(content)));
        let record = Record { options: self.options.clone(), digests: digests.collect() };
        replace(&folder.join(RECORD), &serde_json::to_vec_pretty(&record)?)
    }
}

/// A written folder. A new one is removed on drop, unless it is finished.
#[derive(Debug)]
pub struct Written {
    /// Where the files are.
    pub at: PathBuf,
    to: Option<PathBuf>,
    /// Which edited files were kept.
    pub notes: Vec<String>,
}

impl Written {
    /// Gives a new folder its name.
    ///
    /// # Errors
    ///
    /// If the folder has been made by somebody else meanwhile.
    pub fn finish(mut self) -> Result<(), SetupError> {
        let Some(to) = self.to.clone() else { return Ok(()) };
        fs::rename(&self.at, &to).map_err(|error| SetupError::failed(to.display(), error))?;
        self.to = None;
        Ok(())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if self.to.is_some() {
            // Nobody waits for the outcome; the next run removes what is left.
            let _ = fs::remove_dir_all(&self.at);
        }
    }
}

/// Returns a hidden name in the same folder, because a folder of a country must not have other visible files.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{suffix}"))
}

/// Writes a file beside, and then replaces the old one by it.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let part = folder.join(".siaga-setup.part");
    let written = File::create(&part).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&part, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&part);
    }
    replaced
}

fn digest(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}
