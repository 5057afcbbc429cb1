//! Manual pages, for packages.

use std::fs;
use std::path::Path;

use clap::Command;

use super::Failure;

/// Writes manual pages of the program and its commands (`siaga.1`, `siaga-import.1`).
pub(super) fn write(command: Command, folder: &Path) -> Result<(), Failure> {
    // Prevents a page for `help import` next to the page for `import`.
    let command = command.disable_help_subcommand(true);
    let failed = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command, folder).map_err(failed)?;
    Ok(())
}
