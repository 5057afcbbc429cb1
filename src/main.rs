//! The program `siaga`: the service and what an operator needs beside it.

#![warn(clippy::expect_used, clippy::unwrap_used)]

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use siaga::auth::Scope;
use siaga::config::Config;
use siaga::model::{Clock, SystemClock};
use siaga::{Builder, Service};

mod welcome;

use welcome::Welcome;

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

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command.unwrap_or(Command::Serve) {
        Command::Serve => rocket::execute(serve()),
        Command::Check => check(),
        Command::Token { sub, scope, ttl } => token(&sub, &scope, ttl),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("siaga: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let Service { rocket, config, store, formats, key } = Builder::default().build().await?;
    let rocket = rocket.attach(Welcome { config, store, formats, key }.fairing());
    // The error's own text would print the whole configuration.
    rocket.launch().await.map(drop).map_err(|error| error.kind().to_string().into())
}

fn check() -> Result<(), Box<dyn Error>> {
    let config = Builder::default().check()?;
    let siaga = toml::Value::try_from(config)?;
    let table = toml::Table::from_iter([(Config::KEY.to_owned(), siaga)]);
    let profiles = toml::Table::from_iter([("default".to_owned(), table.into())]);
    Ok(io::stdout().write_all(toml::to_string(&profiles)?.as_bytes())?)
}

fn token(subject: &str, scopes: &[Scope], lifetime: Duration) -> Result<(), Box<dyn Error>> {
    let config = Builder::default().check()?;
    let jwt = config.auth.jwt.ok_or("siaga.auth.jwt.secret: needed to sign a token")?;
    let token = jwt.issue(subject, scopes, lifetime, SystemClock.now())?;
    Ok(writeln!(io::stdout(), "{token}")?)
}
