//! Checks the configuration and the data set, so that an operator finds errors before a start or an import.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Failure;
use super::welcome::foreseen;
use crate::Builder;
use crate::config::Config;
use crate::data::folder::Folder;
use crate::server::BuildError;

/// How many faults of a data set are printed.
const MOST: usize = 20;

/// Prints the effective configuration, whether the rows of the data set are right, the warnings of each start, and a verdict.
pub(super) fn run(builder: &Builder, folder: Option<PathBuf>) -> Result<(), Failure> {
    let (config, formats) = match builder.checked_with_formats() {
        Err(BuildError::Config(error)) => return Err(each(error.faults())),
        checked => checked?,
    };
    let warnings = foreseen(builder, &config, &formats)?;
    let configured = Path::new(&config.dataset);
    let folder = folder.or_else(|| configured.is_dir().then(|| configured.to_owned()));
    let siaga = toml::Value::try_from(config)?;
    let table = toml::Table::from_iter([(Config::KEY.to_owned(), siaga)]);
    let profiles = toml::Table::from_iter([("default".to_owned(), table.into())]);
    io::stdout().write_all(toml::to_string(&profiles)?.as_bytes())?;
    folder.map_or(Ok(()), |folder| check_rows(builder, folder))?;
    let count = match warnings.len() {
        0 => "no warnings".to_owned(),
        1 => "one warning".to_owned(),
        count => format!("{count} warnings"),
    };
    let mut output = io::stdout();
    writeln!(output)?;
    for warning in &warnings {
        writeln!(output, "# warning at each start: {warning}")?;
    }
    Ok(writeln!(output, "# No errors, {count}.")?)
}

/// Prints all faults but the last, and returns that one as the failure of the command.
fn each(faults: &[String]) -> Failure {
    let [others @ .., last] = faults else { return "the configuration is wrong".into() };
    for fault in others {
        eprintln!("siaga: {fault}");
    }
    last.clone().into()
}

/// Prints each fault of a folder to standard error, or else what an import would leave out, as comments of the configuration.
fn check_rows(builder: &Builder, folder: PathBuf) -> Result<(), Failure> {
    let settings = builder.settings()?;
    let path = folder.display().to_string();
    let now = settings.clock.now();
    let mut folder = Folder::open(folder)?.by(settings.rules.clone()).at(now);
    let faults = folder.check(now, MOST);
    if faults.is_empty() {
        let mut output = io::stdout();
        writeln!(output, "\n# {path}: the data set has no faults")?;
        let ignored = folder.strangers();
        let ignored =
            (!ignored.is_empty()).then(|| format!("ignored, no part of a data set: {}", ignored.join(", ")));
        for note in folder.notes().into_iter().chain(ignored) {
            // Names of files and columns may have any character.
            writeln!(output, "# {}", note.replace(char::is_control, " "))?;
        }
        return Ok(());
    }
    for fault in &faults {
        eprintln!("siaga: {fault}");
    }
    let count = match faults.len() {
        1 => "one fault".to_owned(),
        MOST => format!("at least {MOST} faults"),
        count => format!("{count} faults"),
    };
    Err(format!("{path}: the data set has {count}").into())
}
