//! The log of flood states: how an operator reads it, and undoes a change.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::{env, fs};

use clap::Subcommand;

use super::Failure;
use super::keys::name;
use super::table::{or_dash, table};
use crate::Builder;
use crate::model::bodies::MOST_AREAS;
use crate::model::{
    Actor, AreaId, AreaOrder, BatchNumber, Condition, FloodBatch, FloodChange, FloodOrder, FloodState,
    InvalidFloodState, LoggedChange, OrderOutcome, Ordered, Timestamp, is_name,
};
use crate::stores::{FloodLogQuery, LogQuery, SetFloodState, Store};

#[derive(Subcommand)]
pub(super) enum FloodsCommand {
    /// Lists who changed states, newest first, 1,000 changes at a time.
    Log {
        /// The number of an area; without it, the changes of all areas.
        area: Option<AreaId>,
        /// Lists only earlier changes than this time.
        #[arg(long, value_name = "TIME", value_parser = Timestamp::parse)]
        before: Option<Timestamp>,
    },
    /// Sets or clears the states of areas: all of them, or none if one does not exist.
    Set {
        /// Numbers of areas, and files with a number at the beginning of each line; at most 1,000 areas.
        #[arg(value_name = "FILE|AREA", required = true)]
        areas: Vec<String>,
        /// The state, 1 to 4, or `none`.
        #[arg(long, value_parser = state)]
        state: Set,
        /// A note for the log.
        #[arg(long)]
        note: Option<String>,
        /// Your name for the log; by default that of your user account.
        #[arg(long, value_name = "NAME", value_parser = name)]
        by: Option<String>,
    },
    /// Undoes the newest change of an area, or a batch: sets the states before, as new changes. The log keeps all of them.
    Undo {
        /// The number of the area.
        #[arg(required_unless_present = "batch", conflicts_with = "batch")]
        area: Option<AreaId>,
        /// The time of the change to undo, as `log` prints it. If the area has changed since, nothing is undone.
        #[arg(value_parser = Timestamp::parse)]
        time: Option<Timestamp>,
        /// The number of the batch, as `log` and `set` print it. Areas that have changed since are left alone.
        #[arg(long)]
        batch: Option<BatchNumber>,
        /// Your name for the log; by default that of your user account.
        #[arg(long, value_name = "NAME", value_parser = name)]
        by: Option<String>,
    },
}

/// The state that areas get; `None` clears them.
#[derive(Clone, Copy)]
pub(super) struct Set(Option<FloodState>);

fn state(text: &str) -> Result<Set, String> {
    match text {
        "none" => Ok(Set(None)),
        code => code
            .parse()
            .map(|state| Set(Some(state)))
            .map_err(|error: InvalidFloodState| format!("{error}, or none")),
    }
}

/// How many entries a list has at most.
const PAGE: u32 = 1_000;
/// The subjects of changes that the program makes.
const SUBJECT: &str = "siaga floods undo";
const SETTING: &str = "siaga floods set";

pub(super) async fn run(builder: &Builder, command: FloodsCommand) -> Result<(), Failure> {
    let store = builder.open_beside().await?;
    let done = match command {
        FloodsCommand::Log { area: Some(area), before } => log(&*store, area, before).await,
        FloodsCommand::Log { area: None, before } => log_of_all(&*store, before).await,
        FloodsCommand::Set { areas, state, note, by } => {
            set(&*store, &areas, state, note, by.or_else(user)).await
        }
        FloodsCommand::Undo { batch: Some(batch), by, .. } => {
            undo_batch(&*store, batch, by.or_else(user)).await
        }
        FloodsCommand::Undo { area: Some(area), time, by, .. } => {
            undo(&*store, area, time, by.or_else(user)).await
        }
        FloodsCommand::Undo { area: None, .. } => Err("name an area, or --batch".into()),
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

async fn log_of_all(store: &dyn Store, before: Option<Timestamp>) -> Result<String, Failure> {
    let query = FloodLogQuery { before, most: PAGE, ..FloodLogQuery::default() };
    let entries = store.all_flood_changes(&query).await?;
    let rows = entries.iter().map(
        |LoggedChange { change: FloodChange { area, state, at, by, .. }, batch, note }| {
            let batch = batch.map(|batch| batch.to_string());
            [
                at.to_string(),
                area.to_string(),
                code(*state),
                by.subject.clone(),
                or_dash(by.username.as_ref()),
                or_dash(batch.as_ref()),
                or_dash(note.as_ref()),
            ]
        },
    );
    Ok(table(["changed at", "area", "state", "subject", "username", "batch", "note"], rows))
}

/// Sets the states of areas, and returns a line that says so.
async fn set(
    store: &dyn Store,
    areas: &[String],
    Set(state): Set,
    note: Option<String>,
    username: Option<String>,
) -> Result<String, Failure> {
    let mut numbers = BTreeSet::new();
    for area in areas {
        match area.parse::<AreaId>() {
            Ok(area) => drop(numbers.insert(area)),
            Err(_) => numbers.extend(listed(area)?),
        }
    }
    if !(1..=MOST_AREAS).contains(&numbers.len()) {
        return Err(format!("1 to {MOST_AREAS} areas can be set at once, not {}", numbers.len()).into());
    }
    let changes = numbers.into_iter().map(|area| AreaOrder { area, state, after: Condition::Any });
    let order = order(SETTING, Ordered::Set(changes.collect()), note, username);
    let (batch, _) = done(store.change_floods(order).await?)?;
    let (count, state) = (batch.changes.len(), code(state));
    Ok(format!("Batch {}: {count} areas have state {state} since {}.\n", batch.number, batch.at))
}

/// Reads the numbers at the beginnings of the lines of a file. Lines without one, such as a header, are left out.
fn listed(path: &str) -> Result<Vec<AreaId>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("{path} is neither an area nor a readable file: {error}"))?;
    let number = |line: &str| {
        let end = line.find(|character: char| !character.is_ascii_digit()).unwrap_or(line.len());
        line[..end].parse().ok()
    };
    Ok(text.lines().filter_map(number).collect())
}

/// Sets the states before a batch, and returns what was done.
async fn undo_batch(
    store: &dyn Store,
    batch: BatchNumber,
    username: Option<String>,
) -> Result<String, Failure> {
    let undoing = order(SUBJECT, Ordered::Undo(batch), None, username);
    let (undo, left) = done(store.change_floods(undoing).await?)?;
    let count = undo.changes.len();
    let said =
        format!("Batch {batch} is undone by batch {}: {count} areas have the states before.\n", undo.number);
    if left.is_empty() {
        return Ok(said);
    }
    let left: Vec<_> = left.iter().map(ToString::to_string).collect();
    Ok(format!("{said}These areas have changed since, and were left alone: {}.\n", left.join(", ")))
}

fn order(subject: &str, changes: Ordered, note: Option<String>, username: Option<String>) -> FloodOrder {
    let by = Actor { subject: subject.to_owned(), username };
    FloodOrder { changes, by, note, request: None, preview: false }
}

fn done(outcome: OrderOutcome) -> Result<(Arc<FloodBatch>, Vec<AreaId>), Failure> {
    match outcome {
        OrderOutcome::Done { batch, left } => Ok((batch, left)),
        OrderOutcome::NoSuchAreas(unknown) => {
            let unknown: Vec<_> = unknown.iter().map(ToString::to_string).collect();
            Err(format!("no such local areas: {}; nothing was changed", unknown.join(", ")).into())
        }
        OrderOutcome::NoSuchBatch => Err("there is no such batch; see siaga floods log".into()),
        OrderOutcome::TooOld => Err("the batch is older than a day; set the states instead".into()),
        // The program sends neither conditions nor keys.
        outcome @ (OrderOutcome::Conflicts(_) | OrderOutcome::OtherRequest) => {
            Err(format!("{outcome:?}").into())
        }
    }
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
