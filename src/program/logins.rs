//! The command `siaga logins`: ends logins of people.

use clap::Subcommand;

use super::Failure;
use crate::Builder;
use crate::auth::PERSON_PREFIX;
use crate::model::is_name;
use crate::server::BuildError;

#[derive(Subcommand)]
pub(super) enum LoginsCommand {
    /// Ends all logins of a person at the desk, on each server within a second. Remove the person at the identity provider first.
    End {
        /// The subject of the person, as in the log of flood states, with or without the prefix oidc:.
        #[arg(value_parser = subject)]
        subject: String,
    },
}

fn subject(text: &str) -> Result<String, &'static str> {
    let sub = text.strip_prefix(PERSON_PREFIX).unwrap_or(text);
    let subject = format!("{PERSON_PREFIX}{sub}");
    if !sub.is_empty() && is_name(&subject) { Ok(subject) } else { Err("must be the sub of a person") }
}

pub(super) async fn run(builder: &Builder, command: LoginsCommand) -> Result<(), Failure> {
    let LoginsCommand::End { subject } = command;
    let store = builder.open_persistent_store().await.map_err(|error| match error {
        BuildError::NoKeys(store) | BuildError::NoUpkeep(store) => {
            Failure::from(format!("siaga.store is {store:?}: restart the server, which ends all its logins"))
        }
        error => error.into(),
    })?;
    let result = store.end_logins(&subject).await;
    store.close().await;
    Ok(result?)
}
