//! What an operator does with the store, apart from running a server on it.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Failure;
use crate::Builder;
use crate::folder::{Folder, FolderFile, FolderWriter};
use crate::model::Timestamp;
use crate::stores::{AppliedMigration, Imported, Migrated, Removed, Replace, Rows, Status};
use indicatif::{ProgressBar, ProgressStyle};

pub(super) async fn migrate(builder: &Builder) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let Migrated { from, to, applied } = upkeep.migrate(&settings).await?;
    let mut output = io::stdout();
    for AppliedMigration { number, name, took } in &applied {
        writeln!(output, "Applied migration {number}, {name}, in {}.", lasted(*took))?;
    }
    let done = if applied.is_empty() { "nothing to do" } else { &format!("it was at version {from}") };
    Ok(writeln!(output, "The schema is at version {to}; {done}.")?)
}

pub(super) async fn import(
    builder: &Builder,
    folder: PathBuf,
    replace: Replace,
    repair: bool,
) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let folder = Folder::open(folder)?.by(settings.rules.clone());
    let folder = if repair { folder.repairing() } else { folder };
    // The progress bar is drawn only on a terminal.
    let bar = ProgressBar::new(folder.size()).with_style(ProgressStyle::with_template(
        "{wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} to go",
    )?);
    let progress = bar.clone();
    let folder = folder.watched(move |bytes| progress.inc(bytes));
    let begun = Instant::now();
    let imported = upkeep.import(&settings, &folder, replace).await;
    bar.finish_and_clear();
    Ok(io::stdout().write_all(said_of(&imported?, &folder, begun.elapsed()).as_bytes())?)
}

/// Returns lines that say what an import did and what it left out.
fn said_of(imported: &Imported, folder: &Folder, took: Duration) -> String {
    let line = |name: &str, rows: &Rows| {
        let (Rows { read, added, replaced }, skipped) = (rows, rows.skipped());
        format!("{name:22}{read:>9} rows: {added} added, {replaced} replaced, {skipped} skipped")
    };
    let file = |(file, rows): (&FolderFile, &Rows)| line(file.name(), rows);
    let all = imported.files.values().fold(Rows::default(), |all, rows| Rows {
        read: all.read + rows.read,
        added: all.added + rows.added,
        replaced: all.replaced + rows.replaced,
    });
    let Removed { areas, changes } = imported.removed;
    let removed = format!("{areas} areas were removed, with {changes} entries of the log");
    let relocated = imported.relocated;
    let moved =
        format!("{relocated} stored reports and pieces of infrastructure are in another area or city now");
    let rewritten = imported.rewritten;
    let older = format!(
        "{rewritten} areas got older changes: alerts about them may differ from those that were sent"
    );
    let ignored = format!("ignored, no part of a data set: {}", folder.strangers().join(", "));
    let mut lines: Vec<String> = imported.files.iter().map(file).collect();
    lines.push(format!("{}, in {}", line("together", &all), lasted(took)));
    lines.extend((areas > 0).then_some(removed));
    lines.extend((relocated > 0).then_some(moved));
    lines.extend((rewritten > 0).then_some(older));
    lines.extend(folder.notes());
    lines.extend((!folder.strangers().is_empty()).then_some(ignored));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub(super) async fn export(builder: &Builder, folder: PathBuf) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    upkeep.export(&settings, FolderWriter::create(folder)?).await
}

pub(super) async fn status(builder: &Builder) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let status = upkeep.status(&settings).await?;
    Ok(io::stdout().write_all(lines_of(&status, settings.clock.now()).as_bytes())?)
}

/// Returns lines of names and values that say what a store contains.
fn lines_of(status: &Status, now: Timestamp) -> String {
    let Status { schema, needed, rows, newest, replica, .. } = status;
    let advice = match schema.cmp(needed) {
        Ordering::Less => "; run siaga migrate",
        Ordering::Equal => "",
        Ordering::Greater => "; a newer version of the service has made it",
    };
    let mut lines = vec![("schema", format!("{schema} of {needed}{advice}"))];
    lines.extend(rows.iter().map(|(name, count)| (*name, count.to_string())));
    lines.extend(newest.iter().map(|(name, at)| {
        let age = |at: &Timestamp| {
            format!("{} ago, {at}", told((now.to_utc() - at.to_utc()).num_milliseconds() / 1000 * 1000))
        };
        (*name, at.as_ref().map_or_else(|| "none".to_owned(), age))
    }));
    lines.extend(replica.iter().map(|behind| {
        let behind = match behind {
            Ok(behind) => format!("{} behind", told(behind.as_millis() as i64)),
            Err(error) => format!("not known: {error}"),
        };
        ("replica", behind)
    }));
    lines.iter().map(|(name, value)| format!("{name:16}{value}\n")).collect()
}

/// Formats a duration in common units, to the millisecond.
fn lasted(duration: Duration) -> String {
    told(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).max(1))
}

/// Formats milliseconds in common units, such as `3m 12s`.
fn told(milliseconds: i64) -> String {
    humantime::format_duration(Duration::from_millis(milliseconds.max(0).cast_unsigned())).to_string()
}
