use std::fs::File;

use rocket::Either;

use crate::config::ConfigError;

/// Checks that the files of Rocket's table `tls` can be opened. Rocket itself opens them only when it serves.
pub(super) fn check(config: &rocket::Config) -> Result<(), ConfigError> {
    let Some(tls) = &config.tls else { return Ok(()) };
    for (key, file) in [("tls.certs", tls.certs()), ("tls.key", tls.key())] {
        if let Either::Left(path) = file {
            File::open(&path)
                .map_err(|error| ConfigError::new(key, format!("{}: {error}", path.display())))?;
        }
    }
    Ok(())
}
