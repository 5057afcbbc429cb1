//! The environment file of an installed service.

use std::fs;
use std::io;
use std::path::Path;

use super::Failure;
use crate::config::NamedFile;

const FILE: &str = "environment";

/// Sets the variables of the installed service's environment file, if the file exists and the service's configuration is used.
/// Variables that are already set keep their values. Returns whether it read the file.
///
/// So commands such as `siaga key create` have the settings of the service. Call this before the process starts threads, because
/// it changes the environment of the process.
///
/// # Errors
///
/// If the file cannot be read, or a line is wrong.
pub fn load_environment() -> Result<bool, Failure> {
    if !NamedFile::is_installed() {
        return Ok(false);
    }
    let path = Path::new(NamedFile::INSTALLED).with_file_name(FILE);
    match dotenvy::from_path(&path) {
        Ok(()) => Ok(true),
        Err(dotenvy::Error::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(dotenvy::Error::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => Err(format!(
            "{}: {error}: run it as root or as the service's user, `sudo -u siaga siaga`",
            path.display()
        )
        .into()),
        // Show only the number of the line. The error's own text contains the line, which may hold a secret.
        Err(dotenvy::Error::LineParse(wrong, _)) => {
            let text = fs::read_to_string(&path)?;
            let first = wrong.lines().next().unwrap_or_default();
            let number = text.lines().take_while(|line| !line.starts_with(first)).count() + 1;
            Err(format!("{}: line {number} is not NAME='value'", path.display()).into())
        }
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}
