use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use super::WriteError;

/// A file that gets its name only when it is complete. Until then its name is `<name>.part`, and dropping it deletes the file.
#[derive(Debug)]
pub(super) struct PartFile {
    path: PathBuf,
    part: PathBuf,
    out: BufWriter<File>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Writing,
    Broken,
    Finished,
}

impl PartFile {
    /// Creates a file with `.part` after its name, which `commit` renames to `path`.
    pub(super) fn create(path: PathBuf) -> Result<Self, WriteError> {
        let mut part = path.clone().into_os_string();
        part.push(".part");
        match File::create(&part) {
            Ok(file) => {
                Ok(Self { path, part: part.into(), out: BufWriter::new(file), state: State::Writing })
            }
            Err(source) => Err(WriteError::Unwritable { path, source }),
        }
    }

    /// Completes the file with `commit`. An error has the path of the file.
    pub(super) fn finish(mut self) -> Result<(), WriteError> {
        self.commit().map_err(|source| self.unwritable(source))
    }

    /// Writes everything to the disk and renames the file; fails if any write has failed.
    fn commit(&mut self) -> io::Result<()> {
        self.flush()?;
        if self.state == State::Broken {
            return Err(io::Error::other("a part of it could not be written"));
        }
        self.out.get_ref().sync_all()?;
        fs::rename(&self.part, &self.path)?;
        self.state = State::Finished;
        Ok(())
    }

    pub(super) fn unwritable(&self, source: io::Error) -> WriteError {
        WriteError::Unwritable { path: self.path.clone(), source }
    }

    /// Records a failure, so that a file with a gap is never finished.
    fn record_failure<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if result.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
            self.state = State::Broken;
        }
        result
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.record_failure(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.record_failure(flushed)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if self.state != State::Finished {
            // A failure to delete the file cannot be reported, and does no harm: nothing reads the file.
            let _ = fs::remove_file(&self.part);
        }
    }
}
