//! The command `siaga setup`: makes the folder of a city, imports its areas, and creates the first key.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;
use figment::Figment;
use figment::providers::{Format, Toml};
use rocket::tokio::{select, signal};
use siaga_setup::{Options, Prepared, SetupError};

use super::{Cli, Failure, keys, upkeep};
use crate::Builder;
use crate::auth::{NewKey, Scope};
use crate::stores::{KeyEntry, Replace, Store};

/// What an officer needs.
const SCOPES: [Scope; 2] = [Scope::FloodsWrite, Scope::ReportsModerate];
const DATABASE: &str = "siaga.db";

/// Makes the folder. A new folder appears at the end, with everything in it; after Ctrl+C it does not appear at all.
pub(super) async fn run(builder: &Builder, options: Options) -> Result<(), Failure> {
    let prepared = match options.prepare() {
        Err(error @ SetupError::Missing(_)) => {
            let mut program = Cli::command();
            program.build();
            let command = program.find_subcommand_mut("setup").ok_or("setup")?;
            command.error(ErrorKind::MissingRequiredArgument, error).exit()
        }
        prepared => prepared?,
    };
    keys::name(&prepared.officer).map_err(|reason| format!("--officer: {reason}"))?;
    select! {
        biased;
        _ = signal::ctrl_c() => Err("interrupted".into()),
        made = make(builder, &prepared) => made,
    }
}

async fn make(builder: &Builder, prepared: &Prepared) -> Result<(), Failure> {
    if prepared.exists() {
        check_store(&prepared.folder)?;
        // Fails while a server uses the store.
        let builder = with_store(builder, &prepared.folder);
        let (store, settings) = builder.upkeep()?;
        store.migrate(&settings).await?;
    }
    let written = prepared.write()?;
    let builder = with_store(builder, &written.at);
    let data = written.at.join("data");
    // The message must not name a folder that is removed now.
    let hidden = format!("{}/", data.display());
    let imported = upkeep::import(&builder, data, Replace::Nothing, true).await;
    imported.map_err(|error| error.to_string().replace(&hidden, ""))?;
    let store = builder.open_shared().await?;
    let areas = store.places().await?.value.areas().len();
    let key = create_key(&*store, &prepared.officer).await;
    store.close().await;
    let (key, mut notes) = (key?, written.notes.clone());
    written.finish()?;
    if areas > prepared.areas {
        let (gone, folder) = (areas - prepared.areas, prepared.folder.display());
        notes.push(format!(
            "{gone} areas of the store are not in the new data; remove them by: cd '{folder}' && siaga import --repair --replace areas data"
        ));
    }
    let lines = notes.iter().chain(&prepared.lines).chain([&key]);
    lines.into_iter().try_for_each(|line| writeln!(io::stdout(), "{line}"))?;
    Ok(())
}

/// Fails if the configuration of a folder, which may have been edited, names another store than the folder's own.
fn check_store(folder: &Path) -> Result<(), Failure> {
    let file = folder.join("Rocket.toml");
    let figment = Figment::from(rocket::Config::default()).merge(Toml::file_exact(&file).nested());
    let (store, path) = (figment.find_value("siaga.store"), figment.find_value("siaga.file.path"));
    let path = path.ok().and_then(|path| path.as_str().map(|path| folder.join(path)));
    let is_own =
        store.is_ok_and(|store| store.as_str() == Some("file")) && path == Some(folder.join(DATABASE));
    if is_own || !file.is_file() {
        return Ok(());
    }
    Err(format!("{} names another store than {DATABASE} beside it: name a new folder", file.display()).into())
}

/// Uses the store in a folder, whatever the configuration and the environment say.
fn with_store(builder: &Builder, folder: &Path) -> Builder {
    let path: PathBuf = folder.join(DATABASE);
    let figment = Figment::from(rocket::Config::default());
    builder.clone().figment(figment.merge(("siaga.store", "file")).merge(("siaga.file.path", path)))
}

/// Creates the officer's key, unless there was one of this name. Returns the line that says so.
async fn create_key(store: &dyn Store, officer: &str) -> Result<String, Failure> {
    let stored = store.keys().await?.value;
    if let Some(key) = stored.iter().find(|key| key.entry.key.name == officer) {
        let advice = "make one for another name: siaga key create";
        return Ok(match key.revoked_at {
            Some(_) => format!("The key of {officer} was revoked; {advice}."),
            None => format!("The key of {officer} stays as it is. If it is lost, {advice}."),
        });
    }
    let NewKey { key, entry } = NewKey::make(officer, SCOPES.to_vec())?;
    store.create_key(KeyEntry { key: entry, owner: None }).await?;
    Ok(format!("The key of {officer} for the desk, which is shown this once: {}", key.expose()))
}
