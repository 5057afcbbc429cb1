//! The command line: the service and what an operator needs beside it. It is the program `siaga`, and that of whoever builds a
//! service of their own.

mod keys;
mod take_over;
mod upkeep;
mod welcome;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use rocket::tokio::runtime::{self, Runtime};

use self::keys::KeyCommand;
use self::take_over::Next;
use self::welcome::Welcome;
use crate::Builder;
use crate::auth::{Scope, TokenError};
use crate::config::Config;
use crate::model::{Clock, SystemClock};
use crate::stores::Replace;
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
    /// Adds the data set in a folder to the store, all of it or, when a row is wrong, nothing; prints what was done.
    Import {
        /// The folder, as docs/data-folder.md describes it.
        folder: PathBuf,
        /// Removes what the folder does not have. Areas in the log of flood states stop the import, unless that is removed too.
        #[arg(long, value_name = "WHAT")]
        replace: Option<Replaced>,
        /// Repairs outlines that cross, touch or overlap themselves; otherwise they stop the import.
        #[arg(long)]
        repair: bool,
        /// Fills the folder, a new one, from a running CogniCity first: the address of its database, which is only read.
        /// A store that keeps no data can serve the folder as its data set.
        #[arg(long, value_name = "URL")]
        from_cognicity: Option<String>,
    },
    /// Writes all that is stored into a folder, which `import` reads.
    Export {
        /// The folder; it is made when there is none.
        folder: PathBuf,
    },
    /// Prints what the store holds and how fresh that is; a server may run meanwhile.
    Status,
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

/// What an import can remove.
#[derive(Clone, Copy, ValueEnum)]
enum Replaced {
    /// Areas.
    Areas,
    /// Areas and their entries in the log of flood states.
    AreasAndLog,
}

impl From<Option<Replaced>> for Replace {
    fn from(replaced: Option<Replaced>) -> Self {
        match replaced {
            None => Self::Nothing,
            Some(Replaced::Areas) => Self::Areas,
            Some(Replaced::AreasAndLog) => Self::AreasAndLog,
        }
    }
}

/// How long work that goes on beside a command may take once that is done.
const LEFT: Duration = Duration::from_millis(500);

/// Why a command did not do what it was asked; printed in one line.
type Failure = Box<dyn Error + Send + Sync>;

/// Carries out what the arguments of the process ask for, on what `builder` makes.
///
/// Without a command the service runs until it is told to stop. A failure is one line on standard error and exit status 1,
/// arguments that are wrong are 2. To be called once, from `main`: it installs the log of the process.
#[must_use]
pub fn run(builder: Builder) -> ExitCode {
    let cli = Cli::parse();
    match carry_out(builder, cli.command.unwrap_or(Command::Serve)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("siaga: {error}");
            ExitCode::FAILURE
        }
    }
}

fn carry_out(builder: Builder, command: Command) -> Result<(), Failure> {
    let runtime = runtime(&builder)?;
    let done = match command {
        Command::Serve => runtime.block_on(serve(builder)),
        Command::Check => check(&builder),
        Command::Migrate => runtime.block_on(upkeep::migrate(&builder)),
        Command::Import { folder, replace, repair, from_cognicity } => runtime.block_on(async {
            if let Some(url) = from_cognicity
                && take_over::copy(&builder, &url, &folder, repair).await? == Next::Serve
            {
                return Ok(());
            }
            upkeep::import(&builder, folder, replace.into(), repair).await
        }),
        Command::Export { folder } => runtime.block_on(upkeep::export(&builder, folder)),
        Command::Status => runtime.block_on(upkeep::status(&builder)),
        Command::Key { command } => runtime.block_on(keys::run(&builder, command)),
        Command::Openapi => openapi(&builder),
        Command::Token { sub, scope, ttl } => token(&builder, &sub, &scope, ttl),
    };
    runtime.shutdown_timeout(LEFT);
    done
}

/// The threads of the process, as Rocket's keys `workers` and `max_blocking` say. Rocket's own way to make them panics when
/// the configuration is wrong.
fn runtime(builder: &Builder) -> Result<Runtime, Failure> {
    let config = builder.rocket_config()?;
    let mut threads = runtime::Builder::new_multi_thread();
    threads.worker_threads(config.workers.max(1)).max_blocking_threads(config.max_blocking.max(1));
    Ok(threads.thread_name("siaga").enable_all().build()?)
}

async fn serve(builder: Builder) -> Result<(), Failure> {
    let log = Log::install(builder.checked_but_for_templates()?.log)?;
    for warning in builder.warnings() {
        tracing::warn!("{warning}");
    }
    let mut service = builder.reload(Arc::new(log)).build().await?;
    let welcome = Welcome::of(&mut service).fairing();
    service.rocket = service.rocket.attach(welcome);
    Ok(service.launch().await?)
}

fn check(builder: &Builder) -> Result<(), Failure> {
    let config = builder.check()?;
    for warning in builder.warnings() {
        eprintln!("siaga: warning: {warning}");
    }
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
