//! The command line: the service and what an operator needs beside it. It is the program `siaga`, and that of whoever builds a
//! service of their own.

mod keys;
mod upkeep;
mod welcome;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand};

use self::keys::KeyCommand;
use self::welcome::Welcome;
use crate::Builder;
use crate::auth::{Scope, TokenError};
use crate::config::Config;
use crate::model::{Clock, SystemClock};
use crate::telemetry::Log;

/// A disaster and flood information service.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the service (what happens without a command).
    Serve,
    /// Prints the effective configuration with secrets masked; exits with 1 when it is wrong.
    Check,
    /// Brings the schema of the store's database up to date.
    Migrate,
    /// Adds the data set in a folder to the store, all of it or, when a row is wrong, nothing.
    Import {
        /// The folder, as README.md describes it.
        folder: PathBuf,
    },
    /// Writes all that is stored into a folder, which `import` reads.
    Export {
        /// The folder; it is made when there is none.
        folder: PathBuf,
    },
    /// Makes, lists and revokes API keys that are kept in the store.
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Prints the description of the interface, OpenAPI in JSON.
    Openapi,
    /// Prints a token signed with the configured secret.
    Token {
        /// Who holds the token.
        #[arg(long)]
        sub: String,
        /// What it allows: scopes with blanks between them.
        #[arg(long, value_delimiter = ' ', required = true)]
        scope: Vec<Scope>,
        /// How long it is accepted: 90s, 15m, 1h, 7d.
        #[arg(long, default_value = "1h", value_parser = humantime::parse_duration)]
        ttl: Duration,
    },
}

/// Why a command did not do what it was asked; printed in one line.
type Failure = Box<dyn Error + Send + Sync>;

/// Carries out what the arguments of the process ask for, on what `builder` makes.
///
/// Without a command the service runs until it is told to stop. A failure is one line on standard error and exit status 1,
/// arguments that are wrong are 2. To be called once, from `main`: it installs the log of the process.
#[must_use]
pub fn run(builder: Builder) -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command.unwrap_or(Command::Serve) {
        Command::Serve => rocket::execute(serve(builder)),
        Command::Check => check(&builder),
        Command::Migrate => rocket::execute(upkeep::migrate(&builder)),
        Command::Import { folder } => rocket::execute(upkeep::import(&builder, folder)),
        Command::Export { folder } => rocket::execute(upkeep::export(&builder, folder)),
        Command::Key { command } => rocket::execute(keys::run(&builder, command)),
        Command::Openapi => openapi(&builder),
        Command::Token { sub, scope, ttl } => token(&builder, &sub, &scope, ttl),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("siaga: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(builder: Builder) -> Result<(), Failure> {
    let log = Log::install(builder.checked_but_for_templates()?.log)?;
    let mut service = builder.reload(Arc::new(log)).build().await?;
    let welcome = Welcome::of(&mut service).fairing();
    service.rocket = service.rocket.attach(welcome);
    Ok(service.launch().await?)
}

fn check(builder: &Builder) -> Result<(), Failure> {
    let config = builder.check()?;
    let siaga = toml::Value::try_from(config)?;
    let table = toml::Table::from_iter([(Config::KEY.to_owned(), siaga)]);
    let profiles = toml::Table::from_iter([("default".to_owned(), table.into())]);
    Ok(io::stdout().write_all(toml::to_string(&profiles)?.as_bytes())?)
}

fn openapi(builder: &Builder) -> Result<(), Failure> {
    let document = builder.openapi()?;
    Ok(writeln!(io::stdout(), "{document:#}")?)
}

fn token(builder: &Builder, subject: &str, scopes: &[Scope], lifetime: Duration) -> Result<(), Failure> {
    let config = builder.checked_but_for_templates()?;
    let jwt = config.auth.jwt.ok_or(TokenError::NoSecret)?;
    let token = jwt.issue(subject, scopes, lifetime, SystemClock.now())?;
    Ok(writeln!(io::stdout(), "{token}")?)
}
