//! The command `siaga webhooks`: lists, tests, replays and resumes webhooks.

use std::io::{self, Write};
use std::time::Duration;

use clap::Subcommand;

use super::Failure;
use super::table::{or_dash, table};
use crate::Builder;
use crate::config::{Config, WebhookSettings};
use crate::model::duration::format_duration;
use crate::model::{Clock, SystemClock};
use crate::stores::Store;
use crate::webhooks::{Checkpoint, Outcome, checkpoints, replay, send_test, update_checkpoint};

#[derive(Subcommand)]
pub(super) enum WebhooksCommand {
    /// Lists the configured webhooks: event, receiver, and since when an event waits.
    List,
    /// Sends an example event once; exits with 1 unless the receiver accepts it.
    Test {
        /// The name of the webhook.
        name: String,
    },
    /// Sends recent events again. Receivers recognise repeated events by their webhook-id.
    Replay {
        /// The name of the webhook.
        name: String,
        /// How far back to go: 90s, 15m, 1h, at most `max_age` of the webhook.
        #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
        since: Duration,
    },
    /// Enables a webhook that its receiver has disabled (410). Sends the events that are not too old.
    Resume {
        /// The name of the webhook.
        name: String,
    },
}

pub(super) async fn run(builder: &Builder, command: WebhooksCommand) -> Result<(), Failure> {
    let config = builder.check()?;
    if let WebhooksCommand::Test { name } = command {
        return send_example(&config, &name).await;
    }
    let store = builder.open_shared().await?;
    let result = execute(&*store, &config, command).await;
    store.close().await;
    result
}

async fn execute(store: &dyn Store, config: &Config, command: WebhooksCommand) -> Result<(), Failure> {
    let mut output = io::stdout();
    match command {
        WebhooksCommand::List => {
            let checkpoints = checkpoints(store).await?;
            let rows = config
                .webhooks
                .by_name
                .iter()
                .map(|(name, webhook)| row(name, webhook, checkpoints.get(name)));
            output.write_all(table(HEADINGS, rows).as_bytes())?;
        }
        WebhooksCommand::Test { name } => send_example(config, &name).await?,
        WebhooksCommand::Replay { name, since } => {
            let webhook = find(config, &name)?;
            if since > webhook.max_age {
                let longest = format_duration(webhook.max_age);
                return Err(format!(
                    "--since: must be at most {longest}, which is siaga.webhooks.{name}.max_age"
                )
                .into());
            }
            let is_found = replay(store, &name, webhook.event, since, SystemClock.now()).await?;
            let result = if is_found { "sends again within seconds" } else { "has nothing to send again" };
            writeln!(output, "the webhook {name} {result}")?;
        }
        WebhooksCommand::Resume { name } => {
            find(config, &name)?;
            if !checkpoints(store).await?.get(&name).is_some_and(|checkpoint| checkpoint.off) {
                return Ok(writeln!(output, "the webhook {name} is not switched off")?);
            }
            update_checkpoint(store, &name, |checkpoint| checkpoint.off = false).await?;
            writeln!(output, "the webhook {name} continues within seconds")?;
        }
    }
    Ok(())
}

async fn send_example(config: &Config, name: &str) -> Result<(), Failure> {
    let outcome = send_test(name, find(config, name)?, config, SystemClock.now()).await?;
    match outcome {
        Outcome::Response { status: status @ 200..=299, .. } => {
            Ok(writeln!(io::stdout(), "the receiver has accepted the event: {status}")?)
        }
        Outcome::Response { status, .. } => Err(format!("the receiver rejects the event: {status}").into()),
        Outcome::Failed(reason) => Err(format!("the receiver cannot be reached: {reason}").into()),
    }
}

fn find<'c>(config: &'c Config, name: &str) -> Result<&'c WebhookSettings, Failure> {
    let names = || config.webhooks.by_name.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let missing = || format!("there is no webhook {name}; the configuration has [{}]", names()).into();
    config.webhooks.by_name.get(name).ok_or_else(missing)
}

const HEADINGS: [&str; 5] = ["name", "event", "receiver", "waiting since", "state"];

/// Returns a row of the list. Shows only the origin of the address, because its path may contain a secret.
fn row(name: &str, webhook: &WebhookSettings, checkpoint: Option<&Checkpoint>) -> [String; 5] {
    let state = match checkpoint {
        None => "not started",
        Some(checkpoint) if checkpoint.off => "off",
        Some(checkpoint) if checkpoint.waiting_since().is_some() => "behind",
        Some(_) => "up to date",
    };
    [
        name.to_owned(),
        webhook.event.name().to_owned(),
        webhook.origin().to_owned(),
        or_dash(checkpoint.and_then(Checkpoint::waiting_since)),
        state.to_owned(),
    ]
}
