//! The command `siaga setup`: makes the folder of a city, imports its areas, and creates the first key.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;
use figment::Figment;
use rocket::tokio::{select, signal};
use siaga_setup::{Options, Prepared, SetupError};

use super::{Cli, Failure, upkeep};
use crate::Builder;
use crate::auth::{NewKey, Scope, Secret};
use crate::stores::{KeyEntry, Replace};

/// What an officer needs.
const SCOPES: [Scope; 2] = [Scope::FloodsWrite, Scope::ReportsModerate];
const DATABASE: &str = "siaga.db";

/// Makes the folder. A new folder appears at the end, with everything in it; after Ctrl+C it does not appear at all.
pub(super) async fn run(builder: &Builder, options: Options) -> Result<(), Failure> {
    let prepared = match options.prepare() {
        Err(error @ SetupError::Missing(_)) => {
            Cli::command().error(ErrorKind::MissingRequiredArgument, error).exit()
        }
        prepared => prepared?,
    };
    select! {
        biased;
        _ = signal::ctrl_c() => Err("interrupted".into()),
        made = make(builder, &prepared) => made,
    }
}

async fn make(builder: &Builder, prepared: &Prepared) -> Result<(), Failure> {
    if prepared.exists() {
        // Fails while a server uses the store.
        let builder = with_store(builder, &prepared.folder);
        let (store, settings) = builder.upkeep()?;
        store.migrate(&settings).await?;
    }
    let written = prepared.write()?;
    let builder = with_store(builder, &written.at);
    upkeep::import(&builder, written.at.join("data"), Replace::Nothing, true).await?;
    let key = create_key(&builder, &prepared.officer).await?;
    let notes = written.notes.clone();
    written.finish()?;
    let key = match key {
        Some(key) => {
            let (officer, key) = (&prepared.officer, key.expose());
            format!("The key of {officer} for the desk, which is shown this once: {key}")
        }
        None => format!("{} already has a key.", prepared.officer),
    };
    let lines = notes.iter().chain(&prepared.lines).chain([&key]);
    lines.into_iter().try_for_each(|line| writeln!(io::stdout(), "{line}"))?;
    Ok(())
}

/// Uses the store in a folder, whatever the configuration and the environment say.
fn with_store(builder: &Builder, folder: &Path) -> Builder {
    let path: PathBuf = folder.join(DATABASE);
    let figment = Figment::from(rocket::Config::default());
    builder.clone().figment(figment.merge(("siaga.store", "file")).merge(("siaga.file.path", path)))
}

/// Creates the officer's key; `None` if there is one of this name.
async fn create_key(builder: &Builder, officer: &str) -> Result<Option<Secret>, Failure> {
    let store = builder.open_shared().await?;
    let created = async {
        if store.keys().await?.value.iter().any(|key| key.entry.key.name == officer) {
            return Ok(None);
        }
        let NewKey { key, entry } = NewKey::make(officer, SCOPES.to_vec())?;
        store.create_key(KeyEntry { key: entry, owner: None }).await?;
        Ok(Some(key))
    };
    let created = created.await;
    store.close().await;
    created
}
