//! The command `siaga reports`: moderates reports, and prints the log.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::Failure;
use crate::Builder;
use crate::data::folder::{read_moderation_log, write_moderation_log};
use crate::model::{
    Actor, AreaLimit, Moderation, ModerationAction, NAME, ReportContent, ReportKey, Timestamp, WaitingReport,
    WaitingReports, is_name,
};
use crate::stores::{ModerationQuery, Store, StoreError, WaitingQuery};

const SUBJECT: &str = "siaga reports";
const LOG_PAGE: u32 = 1_000;
const MAX_WAITING: u32 = 1_000;

#[derive(Subcommand)]
pub(super) enum ReportsCommand {
    /// Hides reports and their photos from all readers.
    Hide(ModerationArgs),
    /// Lists the reports that wait for review, with their time, place and text.
    Waiting,
    /// Shows reports again that are hidden or wait for review.
    Show(ModerationArgs),
    /// Removes text, photo, place and card of reports for good; they are still counted unless they were hidden.
    Erase {
        /// The reports, by `pkey`.
        #[arg(value_name = "REPORT", required_unless_present = "list", conflicts_with = "list")]
        reports: Vec<ReportKey>,
        /// The reason, which is logged.
        #[arg(long, value_parser = name, required_unless_present = "list")]
        reason: Option<String>,
        /// Repeats the erasures in a log printed by `siaga reports log`, after the restore of an older backup.
        #[arg(long, value_name = "FILE")]
        list: Option<PathBuf>,
        /// The person who does it, which is logged. The default is the user of the system.
        #[arg(long, value_parser = name)]
        username: Option<String>,
    },
    /// Prints the moderation log as CSV, oldest entries first.
    Log,
}

#[derive(Args)]
pub(super) struct ModerationArgs {
    /// The reports, by `pkey`.
    #[arg(value_name = "REPORT", required = true)]
    reports: Vec<ReportKey>,
    /// The reason, which is logged.
    #[arg(long, value_parser = name)]
    reason: String,
    /// The person who does it, which is logged. The default is the user of the system.
    #[arg(long, value_parser = name)]
    username: Option<String>,
}

fn name(text: &str) -> Result<String, String> {
    if is_name(text) { Ok(text.to_owned()) } else { Err(format!("must be {NAME}")) }
}

struct ModerationTarget {
    report: ReportKey,
    made_at: Option<Timestamp>,
    reason: String,
}

pub(super) async fn run(builder: &Builder, command: ReportsCommand) -> Result<(), Failure> {
    let store = builder.open_persistent_store().await?;
    let result = execute(&*store, command).await;
    store.close().await;
    result
}

async fn execute(store: &dyn Store, command: ReportsCommand) -> Result<(), Failure> {
    let targets = |reports: Vec<ReportKey>, reason: &str| {
        let target = |report| ModerationTarget { report, made_at: None, reason: reason.to_owned() };
        reports.into_iter().map(target).collect::<Vec<_>>()
    };
    match command {
        ReportsCommand::Hide(ModerationArgs { reports, reason, username }) => {
            moderate(store, ModerationAction::Hide, targets(reports, &reason), username).await
        }
        ReportsCommand::Show(ModerationArgs { reports, reason, username }) => {
            moderate(store, ModerationAction::Show, targets(reports, &reason), username).await
        }
        ReportsCommand::Erase { list: Some(list), username, reason, .. } => {
            repeat_erasures(store, &list, username, reason).await
        }
        ReportsCommand::Erase { reports, reason, username, list: None } => {
            let targets = targets(reports, &reason.unwrap_or_default());
            moderate(store, ModerationAction::Erase, targets, username).await
        }
        ReportsCommand::Waiting => waiting(store).await,
        ReportsCommand::Log => log(store).await,
    }
}

async fn moderate(
    store: &dyn Store,
    action: ModerationAction,
    targets: Vec<ModerationTarget>,
    username: Option<String>,
) -> Result<(), Failure> {
    let by = actor(username);
    for target in targets {
        let report = target.report;
        let changed = store.moderate(&moderation(target, action, &by)).await?;
        writeln!(io::stdout(), "report {report} {}", outcome_text(action, changed))?;
    }
    Ok(())
}

/// Repeats the erasures in a log. Skips reports that are not in the store, or that differ from those erased.
async fn repeat_erasures(
    store: &dyn Store,
    list: &Path,
    username: Option<String>,
    reason: Option<String>,
) -> Result<(), Failure> {
    let failed = |error: String| format!("{}: {error}", list.display());
    let file = File::open(list).map_err(|error| failed(error.to_string()))?;
    let entries = read_moderation_log(file).map_err(failed)?;
    let by = actor(username);
    for entry in entries.into_iter().filter(|entry| entry.action == ModerationAction::Erase) {
        let (report, reason) = (entry.report, reason.clone().unwrap_or(entry.reason));
        let target = ModerationTarget { report, made_at: Some(entry.made_at), reason };
        let outcome = match store.moderate(&moderation(target, ModerationAction::Erase, &by)).await {
            Ok(changed) => outcome_text(ModerationAction::Erase, changed).to_owned(),
            Err(StoreError::NotFound { .. }) => "is not in the store".to_owned(),
            Err(StoreError::Conflict { what }) => format!("is left as it is: {what}"),
            Err(error) => return Err(error.into()),
        };
        writeln!(io::stdout(), "report {report} {outcome}")?;
    }
    Ok(())
}

fn moderation(target: ModerationTarget, action: ModerationAction, by: &Actor) -> Moderation {
    let ModerationTarget { report, made_at, reason } = target;
    Moderation { report, made_at, action, by: by.clone(), limit: AreaLimit::Everywhere, reason }
}

/// Returns the named person, or else the user of the system. With `sudo`, that is the user who has called `sudo`.
fn actor(username: Option<String>) -> Actor {
    let system_user = || ["SUDO_USER", "USER"].into_iter().find_map(|key| env::var(key).ok());
    let username = username.or_else(|| system_user().filter(|user| is_name(user)));
    Actor { subject: SUBJECT.to_owned(), username }
}

fn outcome_text(action: ModerationAction, changed: bool) -> &'static str {
    match (action, changed) {
        (ModerationAction::Hide, true) => "is hidden",
        (ModerationAction::Hide, false) => "was hidden already",
        (ModerationAction::Show, true) => "is shown",
        (ModerationAction::Show, false) => "was shown already",
        (ModerationAction::Erase, true) => "is erased",
        (ModerationAction::Erase, false) => "was erased already",
    }
}

async fn waiting(store: &dyn Store) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let query = WaitingQuery { most: MAX_WAITING, per_sender: MAX_WAITING };
    let WaitingReports { total, reports } = store.waiting_reports(query).await?;
    for WaitingReport { report, .. } in &reports {
        let ReportContent { created_at, disaster_type, location, text, image_url, .. } = &report.content;
        let position = location.coord();
        let photo = if image_url.is_some() { ", with a photo" } else { "" };
        // Escapes line breaks and control characters in texts.
        writeln!(
            out,
            "{}  {created_at}  {disaster_type}  {},{}{photo}  {text:?}",
            report.key, position.y, position.x
        )?;
    }
    match total.saturating_sub(reports.len() as u64) {
        _ if total == 0 => writeln!(out, "no report waits for review")?,
        0 => {}
        others => writeln!(out, "and {others} more")?,
    }
    Ok(())
}

/// Reads the log in pages, newest first, and writes it as CSV, oldest first.
async fn log(store: &dyn Store) -> Result<(), Failure> {
    let (mut entries, mut before) = (Vec::new(), None);
    loop {
        let page = store.moderation_log(ModerationQuery { after: 0, before, most: LOG_PAGE }).await?.value;
        let Some(oldest) = page.last() else { break };
        before = Some(oldest.number);
        entries.extend(page);
    }
    Ok(write_moderation_log(io::stdout().lock(), entries.iter().rev())?)
}
