//! The command line: the service and the commands for operators, for `siaga` and for programs that build their own service.

mod backup;
mod check;
mod environment;
mod keys;
mod logins;
mod manual;
mod render;
mod reports;
mod setup;
mod table;
mod upkeep;
mod webhooks;
mod welcome;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use rocket::tokio::runtime::{self, Runtime};

pub use self::environment::load_environment;
use self::keys::{AreaArgs, KeyCommand};
use self::logins::LoginsCommand;
use self::render::RenderCommand;
use self::reports::ReportsCommand;
use self::webhooks::WebhooksCommand;
use self::welcome::Welcome;
use crate::Builder;
use crate::auth::{Scope, TokenError};
use crate::model::{AreaRule, Clock, SystemClock};
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
    /// Runs the service (the default command).
    Serve,
    /// Prints the effective configuration with secrets masked, and checks it and the rows of the data set; exits with 1 if
    /// something is wrong.
    Check {
        /// A data folder to check, such as one to import; by default the configured data set, if it is a folder.
        folder: Option<PathBuf>,
    },
    /// Brings the schema of the store's database up to date.
    Migrate,
    /// Makes a folder with all that a city needs: areas, base map, texts, configuration, store and first key. Asks five questions.
    Setup(siaga_setup::Options),
    /// Adds the data set in a folder to the store and prints what was done. If a row is wrong, nothing is added.
    Import {
        /// The folder, as described in docs/data-folder.md.
        folder: PathBuf,
        /// Removes areas that the folder does not contain. If the log of flood states has entries of such an area, the import
        /// fails unless these are removed too.
        #[arg(long, value_name = "WHAT")]
        replace: Option<ReplaceArg>,
        /// Repairs boundaries that cross, touch or overlap themselves; without this option, the import fails.
        #[arg(long)]
        repair: bool,
        /// Names the program that has replaced this option.
        #[arg(long, hide = true)]
        from_cognicity: Option<String>,
    },
    /// Writes all stored data into a folder, which `import` can read.
    Export {
        /// The folder; it is created if it does not exist.
        folder: PathBuf,
        /// Writes the public archive instead: files for researchers without personal data, one folder for each month.
        #[arg(long)]
        public: bool,
    },
    /// Prints what the store contains and how fresh it is. The server may keep running.
    Status,
    /// Backs up the store `file` and its photos. The server may keep running.
    Backup {
        /// The new file. The photos go into the folder of the same name with `-images`.
        file: PathBuf,
    },
    /// Replaces the content of the store `file` with a backup. Stop the server first.
    Restore {
        /// The file written by `backup`.
        file: PathBuf,
    },
    /// Creates, lists and revokes API keys in the store.
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Ends logins of people at the desk.
    Logins {
        #[command(subcommand)]
        command: LoginsCommand,
    },
    /// Removed command; its error names the replacement.
    #[command(hide = true)]
    Floods(RemovedCommand),
    /// Writes all floods, reports or other features in a format to standard output, without serving.
    Render(RenderCommand),
    /// Hides, shows and erases reports, and prints the moderation log.
    Reports {
        #[command(subcommand)]
        command: ReportsCommand,
    },
    /// Lists, tests, replays and resumes webhooks.
    Webhooks {
        #[command(subcommand)]
        command: WebhooksCommand,
    },
    /// Removed command; its error names the replacement.
    #[command(hide = true)]
    Alerts(RemovedCommand),
    /// Prints the description of the interface: OpenAPI in JSON.
    Openapi,
    /// Writes manual pages into a folder, for packages.
    #[command(hide = true)]
    Manual {
        /// The folder; it is created if it does not exist.
        folder: PathBuf,
    },
    /// Prints a token signed with the configured secret.
    Token {
        /// The holder of the token.
        #[arg(long)]
        sub: String,
        /// What the token allows: scopes separated by spaces.
        #[arg(long, value_delimiter = ' ', required = true)]
        scope: Vec<Scope>,
        #[command(flatten)]
        areas: AreaArgs,
        /// How long the token is valid: 90s, 15m, 1h, 7d.
        #[arg(long, default_value = "1h", value_parser = humantime::parse_duration)]
        ttl: Duration,
    },
}

#[derive(Args)]
struct RemovedCommand {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ReplaceArg {
    /// Removes the areas.
    Areas,
    /// Removes the areas and their entries in the log of flood states.
    AreasAndLog,
}

impl From<Option<ReplaceArg>> for Replace {
    fn from(replaced: Option<ReplaceArg>) -> Self {
        match replaced {
            None => Self::Nothing,
            Some(ReplaceArg::Areas) => Self::Areas,
            Some(ReplaceArg::AreasAndLog) => Self::AreasAndLog,
        }
    }
}

/// Time for background work after a command has finished.
const BACKGROUND_TIME: Duration = Duration::from_millis(500);

type Failure = Box<dyn Error + Send + Sync>;

/// Runs the command in the arguments of the process, with the service from `builder`.
///
/// Without a command, runs the service until it is stopped. If the command fails, prints one line to standard error and returns
/// exit status 1; wrong arguments exit with 2. Call it once, from `main`: it installs the log of the process.
#[must_use]
pub fn run(builder: Builder) -> ExitCode {
    let cli = Cli::parse();
    let result = load_environment().and_then(|loaded| {
        let builder = if loaded { builder.reread() } else { builder };
        execute(builder, cli.command.unwrap_or(Command::Serve))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("siaga: {error}");
            ExitCode::FAILURE
        }
    }
}

fn execute(builder: Builder, command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve => complete(runtime(&builder)?, serve(builder)),
        Command::Check { folder } => check::run(&builder, folder),
        Command::Migrate => complete(runtime(&builder)?, upkeep::migrate(&builder)),
        Command::Setup(options) => complete(runtime(&builder)?, setup::run(&builder, options)),
        Command::Import { from_cognicity: Some(_), .. } => {
            Err("--from-cognicity is gone: run siaga-take-over --from URL FOLDER, then siaga import FOLDER"
                .into())
        }
        Command::Import { folder, replace, repair, .. } => {
            complete(runtime(&builder)?, upkeep::import(&builder, folder, replace.into(), repair))
        }
        Command::Export { folder, public: false } => {
            complete(runtime(&builder)?, upkeep::export(&builder, folder))
        }
        Command::Export { folder, public: true } => {
            complete(runtime(&builder)?, upkeep::publish(&builder, folder))
        }
        Command::Backup { file } => complete(runtime(&builder)?, backup::backup(&builder, &file)),
        Command::Restore { file } => complete(runtime(&builder)?, backup::restore(&builder, &file)),
        Command::Status => complete(runtime(&builder)?, upkeep::status(&builder)),
        Command::Key { command } => complete(runtime(&builder)?, keys::run(&builder, command)),
        Command::Logins { command } => complete(runtime(&builder)?, logins::run(&builder, command)),
        Command::Floods(_) => {
            Err("siaga floods is gone: use the desk, or POST /floods/changes with a key of siaga key create"
                .into())
        }
        Command::Render(command) => complete(runtime(&builder)?, render::run(&builder, command)),
        Command::Reports { command } => complete(runtime(&builder)?, reports::run(&builder, command)),
        Command::Webhooks { command } => complete(runtime(&builder)?, webhooks::run(&builder, command)),
        Command::Alerts(_) => {
            Err("siaga alerts check is gone: run cap-check FILE, a program of its own beside siaga".into())
        }
        Command::Openapi => openapi(&builder),
        Command::Manual { folder } => manual::write(Cli::command(), &folder),
        Command::Token { sub, scope, areas, ttl } => token(&builder, &sub, &scope, areas.rule()?, ttl),
    }
}

/// Runs a command, and then its background work for a moment longer.
fn complete(runtime: Runtime, command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let result = runtime.block_on(command);
    runtime.shutdown_timeout(BACKGROUND_TIME);
    result
}

/// Builds the runtime from Rocket's keys `workers` and `max_blocking`. Rocket's own function panics on a wrong configuration.
fn runtime(builder: &Builder) -> Result<Runtime, Failure> {
    let config = builder.rocket_config()?;
    let mut threads = runtime::Builder::new_multi_thread();
    threads.worker_threads(config.workers.max(1)).max_blocking_threads(config.max_blocking.max(1));
    Ok(threads.thread_name("siaga").enable_all().build()?)
}

async fn serve(builder: Builder) -> Result<(), Failure> {
    let log = Log::install(builder.checked_without_templates()?.log)?;
    let mut service = builder.reload(Arc::new(log)).build().await?;
    let welcome = Welcome::new(&mut service).fairing();
    service.rocket = service.rocket.attach(welcome);
    Ok(service.launch().await?)
}

fn openapi(builder: &Builder) -> Result<(), Failure> {
    let document = builder.openapi()?;
    Ok(writeln!(io::stdout(), "{document:#}")?)
}

fn token(
    builder: &Builder,
    subject: &str,
    scopes: &[Scope],
    areas: Option<AreaRule>,
    lifetime: Duration,
) -> Result<(), Failure> {
    let config = builder.checked_without_templates()?;
    let jwt = config.auth.jwt.ok_or(TokenError::NoSecret)?;
    let token = jwt.issue(subject, scopes, areas, lifetime, SystemClock.now())?;
    Ok(writeln!(io::stdout(), "{token}")?)
}
