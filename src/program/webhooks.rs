//! Outgoing calls: how an operator sees how far they have come, tries them, and sends events again.

use std::io::{self, Write};
use std::time::Duration;

use clap::Subcommand;

use super::Failure;
use super::table::{or_dash, table};
use crate::Builder;
use crate::config::{Config, WebhookSettings};
use crate::model::duration::written;
use crate::model::{Clock, SystemClock};
use crate::stores::Store;
use crate::webhooks::{Checkpoint, Outcome, change, checkpoints, replay, test};

#[derive(Subcommand)]
pub(super) enum WebhooksCommand {
    /// Lists the configured calls: what each tells, to whom, and since when it waits for its receiver.
    List,
    /// Sends a made-up event now, once; exits with 1 unless the receiver takes it.
    Test {
        /// The name of the call.
        name: String,
    },
    /// Sends again what has happened in the last while. Receivers know repeated events by their webhook-id.
    Replay {
        /// The name of the call.
        name: String,
        /// How far back to go: 90s, 15m, 1h, at most the `for` of the call.
        #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
        since: Duration,
    },
    /// Switches on a call that its receiver has switched off. What is not too old by now is sent.
    Resume {
        /// The name of the call.
        name: String,
    },
}

pub(super) async fn run(builder: &Builder, command: WebhooksCommand) -> Result<(), Failure> {
    let config = builder.check()?;
    if let WebhooksCommand::Test { name } = command {
        return try_out(&config, &name).await;
    }
    let store = builder.open_beside().await?;
    let done = carry_out(&*store, &config, command).await;
    store.close().await;
    done
}

async fn carry_out(store: &dyn Store, config: &Config, command: WebhooksCommand) -> Result<(), Failure> {
    let mut output = io::stdout();
    match command {
        WebhooksCommand::List => {
            let known = checkpoints(store).await?;
            let rows = config.calls.by_name.iter().map(|(name, call)| row(name, call, known.get(name)));
            output.write_all(table(HEADINGS, rows).as_bytes())?;
        }
        WebhooksCommand::Test { name } => try_out(config, &name).await?,
        WebhooksCommand::Replay { name, since } => {
            let call = find(config, &name)?;
            if since > call.lasting {
                let longest = written(call.lasting);
                return Err(
                    format!("--since: must be at most {longest}, which is siaga.calls.{name}.for").into()
                );
            }
            let is_found = replay(store, &name, call.on, since, SystemClock.now()).await?;
            let said = if is_found { "is sent again within seconds" } else { "has nothing to send again" };
            writeln!(output, "the call {name} {said}")?;
        }
        WebhooksCommand::Resume { name } => {
            find(config, &name)?;
            if !checkpoints(store).await?.get(&name).is_some_and(|checkpoint| checkpoint.off) {
                return Ok(writeln!(output, "the call {name} is not off")?);
            }
            change(store, &name, |checkpoint| checkpoint.off = false).await?;
            writeln!(output, "the call {name} goes on within seconds")?;
        }
    }
    Ok(())
}

async fn try_out(config: &Config, name: &str) -> Result<(), Failure> {
    let outcome = test(name, find(config, name)?, config, SystemClock.now()).await?;
    match outcome {
        Outcome::Response { status: status @ 200..=299, .. } => {
            Ok(writeln!(io::stdout(), "the receiver has taken the event: {status}")?)
        }
        Outcome::Response { status, .. } => Err(format!("the receiver refuses the event: {status}").into()),
        Outcome::Failed(reason) => Err(format!("the receiver cannot be reached: {reason}").into()),
    }
}

/// Returns the settings of a call.
fn find<'c>(config: &'c Config, name: &str) -> Result<&'c WebhookSettings, Failure> {
    let names = || config.calls.by_name.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let missing = || format!("there is no call {name}; the configuration has [{}]", names()).into();
    config.calls.by_name.get(name).ok_or_else(missing)
}

const HEADINGS: [&str; 5] = ["name", "tells", "to", "waiting since", "state"];

/// The path of an address may have a secret.
fn row(name: &str, call: &WebhookSettings, checkpoint: Option<&Checkpoint>) -> [String; 5] {
    let state = match checkpoint {
        None => "not begun",
        Some(checkpoint) if checkpoint.off => "off",
        Some(checkpoint) if checkpoint.waiting().is_some() => "behind",
        Some(_) => "up to date",
    };
    [
        name.to_owned(),
        call.on.name().to_owned(),
        call.origin().to_owned(),
        or_dash(checkpoint.and_then(Checkpoint::waiting)),
        state.to_owned(),
    ]
}
