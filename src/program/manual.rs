//! Manual pages and completions of shells, for packages.

use std::fs;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

use super::Failure;

/// Writes a manual page for the program and for each of its commands (`siaga.1`, `siaga-import.1`), and the completions for bash,
/// zsh and fish.
pub(super) fn write(command: Command, folder: &Path) -> Result<(), Failure> {
    // Otherwise `help import` would get a page beside `import`.
    let mut command = command.disable_help_subcommand(true);
    let failed = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "siaga", folder).map_err(failed)?;
    }
    clap_mangen::generate_to(command, folder).map_err(failed)?;
    Ok(())
}
