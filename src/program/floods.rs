//! The log of flood states: how an operator reads it, and undoes a change.

use std::env;
use std::io::{self, Write};

use clap::Subcommand;

use super::Failure;
use super::keys::name;
use super::table::{or_dash, table};
use crate::Builder;
use crate::model::{Actor, AreaId, FloodChange, FloodState, Timestamp, is_name};
use crate::stores::{LogQuery, SetFloodState, Store};

#[derive(Subcommand)]
pub(super) enum FloodsCommand {
    /// Lists who changed the state of an area, newest first, at most 1,000 changes.
    Log {
        /// The number of the area.
        area: AreaId,
        /// Lists only earlier changes than this time.
        #[arg(long, value_name = "TIME", value_parser = Timestamp::parse)]
        before: Option<Timestamp>,
    },
    /// Undoes the newest change of an area: sets the state before, as a new change. The log keeps all of them.
    Undo {
        /// The number of the area.
        area: AreaId,
        /// The time of the change to undo, as `log` prints it. If the area has changed since, nothing is undone.
        #[arg(value_parser = Timestamp::parse)]
        time: Option<Timestamp>,
        /// Your name for the log; by default that of your user account.
        #[arg(long, value_name = "NAME", value_parser = name)]
        by: Option<String>,
    },
}

/// How many entries a list has at most.
const PAGE: u32 = 1_000;
/// The subject of changes that the program makes.
const SUBJECT: &str = "siaga floods undo";

pub(super) async fn run(builder: &Builder, command: FloodsCommand) -> Result<(), Failure> {
    let store = builder.open_beside().await?;
    let done = match command {
        FloodsCommand::Log { area, before } => log(&*store, area, before).await,
        FloodsCommand::Undo { area, time, by } => undo(&*store, area, time, by.or_else(user)).await,
    };
    store.close().await;
    Ok(io::stdout().write_all(done?.as_bytes())?)
}

async fn log(store: &dyn Store, area: AreaId, before: Option<Timestamp>) -> Result<String, Failure> {
    let entries = store.latest_flood_changes(&LogQuery { area, before, most: PAGE }).await?;
    let rows = entries.iter().map(|FloodChange { state, at, by, .. }| {
        [at.to_string(), code(*state), by.subject.clone(), or_dash(by.username.as_ref())]
    });
    Ok(table(["changed at", "state", "subject", "username"], rows))
}

/// Sets the state that an area had before its newest change, and returns a line that says so.
async fn undo(
    store: &dyn Store,
    area: AreaId,
    time: Option<Timestamp>,
    username: Option<String>,
) -> Result<String, Failure> {
    let entries = store.latest_flood_changes(&LogQuery { area, before: None, most: 2 }).await?;
    let Some(newest) = entries.first() else {
        return Err(format!("area {area} never changed, so there is nothing to undo").into());
    };
    let FloodChange { state, at, by, .. } = newest;
    if let Some(time) = time.filter(|time| time != at) {
        return Err(format!(
            "the newest change of area {area} is not that at {time}, but that at {at} by {}: nothing was undone; see \
             siaga floods log {area}",
            who(by)
        )
        .into());
    }
    let before = entries.get(1).and_then(|entry| entry.state);
    let order = SetFloodState {
        area,
        state: before,
        by: Actor { subject: SUBJECT.to_owned(), username },
        after: Some(*at),
    };
    store.set_flood_state(order).await?;
    let (state, before) = (code(*state), code(before));
    Ok(format!(
        "The change of area {area} at {at} by {} is undone: from state {state} back to {before}.\n",
        who(by)
    ))
}

fn code(state: Option<FloodState>) -> String {
    state.map_or_else(|| "none".to_owned(), |state| state.code().to_string())
}

/// Returns who made a change.
fn who(Actor { subject, username }: &Actor) -> String {
    username.as_ref().map_or_else(|| subject.clone(), |username| format!("{subject} ({username})"))
}

/// Returns the name of the user account that runs the program, also if it does so by `sudo`.
fn user() -> Option<String> {
    let name = env::var("SUDO_USER").or_else(|_| env::var("USER")).ok()?;
    is_name(&name).then_some(name)
}
