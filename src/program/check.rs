//! The command `siaga check`: finds errors before a start or an import.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Failure;
use super::welcome::{limit_faults, startup_warnings};
use crate::Builder;
use crate::auth::Grant;
use crate::config::{Config, NamedFile};
use crate::data::folder::{DatasetError, Folder, FolderFile};
use crate::model::AreaSet;
use crate::server::BuildError;

const MAX_FAULTS: usize = 20;

/// Prints the effective configuration, the faults of the data set, the startup warnings, and a verdict.
pub(super) fn run(builder: &Builder, folder: Option<PathBuf>) -> Result<(), Failure> {
    let (config, formats) = match builder.checked_with_formats() {
        Err(BuildError::Config(error)) => return Err(print_faults(error.faults())),
        checked => checked?,
    };
    let mut warnings = startup_warnings(builder, &config, &formats)?;
    let unread = |name| format!("{name} is not read: write its name as Rocket.toml");
    warnings.extend(NamedFile::in_wrong_case().map(unread));
    let configured = Path::new(&config.dataset);
    let folder = folder.or_else(|| configured.is_dir().then(|| configured.to_owned()));
    let grants: Vec<_> = config.auth.grants().collect();
    let login = config.auth.oidc.is_some().then(|| (config.redirect_uri(), config.desk_url()));
    let siaga = toml::Value::try_from(config)?;
    let table = toml::Table::from_iter([(Config::KEY.to_owned(), siaga)]);
    let profiles = toml::Table::from_iter([("default".to_owned(), table.into())]);
    let mut output = io::stdout();
    let advice = "No Rocket.toml was found: write one in this folder to change the defaults.";
    let read = |file: PathBuf| format!("Read from {}.", file.display());
    writeln!(output, "# {}", NamedFile::found().map_or_else(|| advice.to_owned(), read))?;
    output.write_all(toml::to_string(&profiles)?.as_bytes())?;
    let limits = folder.map_or(Ok(Vec::new()), |folder| check_rows(builder, folder, &grants))?;
    let count = match warnings.len() + limits.len() {
        0 => "no warnings".to_owned(),
        1 => "one warning".to_owned(),
        count => format!("{count} warnings"),
    };
    writeln!(output)?;
    for (holder, grant) in &grants {
        writeln!(output, "# {holder}: {grant}")?;
    }
    if let Some((redirect, after_logout)) = login {
        writeln!(output, "# siaga.auth.oidc: register the redirect_uri {redirect} at the issuer,")?;
        writeln!(output, "# and the post_logout_redirect_uri {after_logout}")?;
    }
    for warning in &warnings {
        writeln!(output, "# warning at each start: {warning}")?;
    }
    for fault in &limits {
        writeln!(output, "# warning, in the areas of the folder: {fault}")?;
    }
    Ok(writeln!(output, "# No errors, {count}.")?)
}

/// Prints all faults except the last one, which becomes the failure of the command.
fn print_faults(faults: &[String]) -> Failure {
    let [others @ .., last] = faults else { return "the configuration is wrong".into() };
    for fault in others {
        eprintln!("siaga: {fault}");
    }
    last.clone().into()
}

/// Prints the faults of a folder to standard error; if there are none, prints what an import would ignore, as comments. Returns why
/// limits do not select what they say in the areas of the folder.
fn check_rows(
    builder: &Builder,
    folder: PathBuf,
    grants: &[(String, Grant)],
) -> Result<Vec<String>, Failure> {
    let settings = builder.settings()?;
    let path = folder.display().to_string();
    let now = settings.clock.now();
    let mut folder = Folder::open(folder)?.with_rules(settings.rules.clone()).with_now(now);
    let faults = folder.check(now, MAX_FAULTS);
    if faults.is_empty() {
        let mut output = io::stdout();
        writeln!(output, "\n# {path}: the data set has no faults")?;
        let ignored = folder.unknown_files();
        let ignored =
            (!ignored.is_empty()).then(|| format!("ignored, no part of a data set: {}", ignored.join(", ")));
        for note in folder.notes().into_iter().chain(ignored) {
            // Replace control characters, which names of files and columns may contain.
            writeln!(output, "# {}", note.replace(char::is_control, " "))?;
        }
        if !folder.has(FolderFile::Areas) || grants.iter().all(|(_, grant)| grant.areas.is_none()) {
            return Ok(Vec::new());
        }
        let mut areas = Vec::new();
        folder.areas(|area| {
            areas.push(area.value);
            Ok::<_, DatasetError>(())
        })?;
        return Ok(limit_faults(grants.iter().cloned(), &AreaSet::new(areas)?));
    }
    for fault in &faults {
        eprintln!("siaga: {fault}");
    }
    let count = match faults.len() {
        1 => "one fault".to_owned(),
        MAX_FAULTS => format!("at least {MAX_FAULTS} faults"),
        count => format!("{count} faults"),
    };
    Err(format!("{path}: the data set has {count}").into())
}
