//! How an operator migrates from a running CogniCity.

use std::io::{self, Write};
use std::path::Path;

use super::Failure;
use crate::cognicity::{self, Address, Options};
use crate::datasets::FolderWriter;
use crate::{BuildError, Builder};

/// What happens after a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The store keeps data, so the folder is imported.
    Import,
    /// The store keeps no data; the folder can be its data set.
    Serve,
}

/// Copies the database at `url` into a new folder, and prints what was copied and what was left out.
pub(super) async fn copy(builder: &Builder, url: &str, folder: &Path, repair: bool) -> Result<Next, Failure> {
    // Checked first, because other messages contain the name of the folder: if that were an address by mistake, they would show
    // its password.
    let address = Address::read(url)?;
    let settings = builder.settings()?;
    let next = match builder.upkeep() {
        Ok(_) => {
            let store: Option<String> = settings.figment.extract_inner("databases.siaga.url").ok();
            store.map_or(Ok(()), |store| address.differs_from(&store))?;
            Next::Import
        }
        Err(BuildError::NoUpkeep(_)) => Next::Serve,
        Err(error) => return Err(error.into()),
    };
    let (now, timeout) = (settings.clock.now(), settings.timeout);
    let options = Options { rules: &settings.rules, now, timeout, repair };
    let copied = cognicity::copy(&address, &FolderWriter::create(folder)?, &options).await?;
    let mut output = io::stdout();
    write!(output, "{copied}")?;
    if next == Next::Serve {
        let folder = folder.display();
        writeln!(
            output,
            "The configured store keeps no data. To serve the copy: siaga.dataset = \"{folder}\""
        )?;
    }
    Ok(next)
}
