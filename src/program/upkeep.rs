//! Commands that maintain the store.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Failure;
use crate::Builder;
use crate::archive::Archive;
use crate::config::{EventKind, SourceSettings};
use crate::data::folder::{Folder, FolderFile, FolderWriter};
use crate::model::{Clock, SourceStatus, SystemClock, Timestamp};
use crate::stores::{
    AppliedMigration, ImportSummary, MigrationSummary, RemovedRows, Replace, RowCounts, Status,
};
use crate::{push, webhooks};
use indicatif::{ProgressBar, ProgressStyle};

pub(super) async fn migrate(builder: &Builder) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let MigrationSummary { from, to, applied } = upkeep.migrate(&settings).await?;
    let mut output = io::stdout();
    for AppliedMigration { number, name, took } in &applied {
        writeln!(output, "Applied migration {number}, {name}, in {}.", format_duration(*took))?;
    }
    let summary = if applied.is_empty() { "nothing to do" } else { &format!("it was at version {from}") };
    Ok(writeln!(output, "The schema is at version {to}; {summary}.")?)
}

pub(super) async fn import(
    builder: &Builder,
    folder: PathBuf,
    replace: Replace,
    repair: bool,
) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let folder = Folder::open(folder)?.with_rules(settings.rules.clone()).with_now(settings.clock.now());
    let folder = if repair { folder.with_repair() } else { folder };
    // The bar is drawn only on a terminal.
    let bar = ProgressBar::new(folder.size()).with_style(ProgressStyle::with_template(
        "{wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} to go",
    )?);
    let progress = bar.clone();
    let folder = folder.with_progress(move |bytes| progress.inc(bytes));
    let begun = Instant::now();
    let imported = upkeep.import(&settings, &folder, replace).await;
    bar.finish_and_clear();
    if let Ok(imported) = &imported {
        skip_imported(builder, imported).await?;
    }
    Ok(io::stdout().write_all(summary(&imported?, &folder, begun.elapsed()).as_bytes())?)
}

/// Makes webhooks and push messages skip imported data, because they send only current events.
async fn skip_imported(builder: &Builder, imported: &ImportSummary) -> Result<(), Failure> {
    let has_added = |file| imported.files.get(&file).is_some_and(|rows| rows.added > 0);
    let kinds = [
        (EventKind::Report, has_added(FolderFile::Reports)),
        (EventKind::State, has_added(FolderFile::FloodStates)),
    ];
    let added: Vec<_> = kinds.into_iter().filter(|(_, added)| *added).map(|(kind, _)| kind).collect();
    if added.is_empty() {
        return Ok(());
    }
    let store = builder.open_shared().await?;
    let skipped = async {
        if added.contains(&EventKind::State) {
            push::skip_imported(&*store).await?;
        }
        webhooks::skip_imported(&*store, &added, SystemClock.now()).await
    };
    let skipped = skipped.await;
    store.close().await;
    Ok(skipped?)
}

fn summary(imported: &ImportSummary, folder: &Folder, took: Duration) -> String {
    let counts_line = |name: &str, rows: &RowCounts| {
        let (RowCounts { read, added, replaced }, skipped) = (rows, rows.skipped());
        format!("{name:22}{read:>9} rows: {added} added, {replaced} replaced, {skipped} skipped")
    };
    let file_line = |(file, rows): (&FolderFile, &RowCounts)| counts_line(file.name(), rows);
    let total = imported.files.values().fold(RowCounts::default(), |total, rows| RowCounts {
        read: total.read + rows.read,
        added: total.added + rows.added,
        replaced: total.replaced + rows.replaced,
    });
    let RemovedRows { areas, changes } = imported.removed;
    let removed = format!("{areas} areas were removed, with {changes} entries of the log");
    let relocated = imported.relocated;
    let moved =
        format!("{relocated} stored reports and pieces of infrastructure are in another area or city now");
    let rewritten = imported.rewritten;
    let older = format!(
        "{rewritten} areas got older changes: alerts about them may differ from those that were sent"
    );
    let ignored = format!("ignored, no part of a data set: {}", folder.unknown_files().join(", "));
    let mut lines: Vec<String> = imported.files.iter().map(file_line).collect();
    lines.push(format!("{}, in {}", counts_line("together", &total), format_duration(took)));
    lines.extend((areas > 0).then_some(removed));
    lines.extend((relocated > 0).then_some(moved));
    lines.extend((rewritten > 0).then_some(older));
    lines.extend(folder.notes());
    let basemap = FolderFile::Basemap;
    let advice = "map.basemap.file names it to each server";
    lines.extend(folder.has(basemap).then(|| format!("{basemap} is not part of the database: {advice}")));
    lines.extend((!folder.unknown_files().is_empty()).then_some(ignored));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub(super) async fn export(builder: &Builder, folder: PathBuf) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    upkeep.export(&settings, FolderWriter::create(folder.clone())?).await?;
    Ok(writeln!(io::stdout(), "All stored data is in {}.", folder.display())?)
}

pub(super) async fn publish(builder: &Builder, folder: PathBuf) -> Result<(), Failure> {
    let config = builder.checked_without_templates()?;
    let store = builder.open_any().await?;
    let clock = Arc::clone(&builder.clock);
    let written = Archive::new(&store, &clock, &config, folder.clone()).write_all().await;
    store.close().await;
    let months = written.map_err(|error| format!("{}: {error}", folder.display()))?;
    let months = if months == 1 { "1 month".to_owned() } else { format!("{months} months") };
    Ok(writeln!(io::stdout(), "The areas and {months} are in {}.", folder.display())?)
}

pub(super) async fn status(builder: &Builder) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let status = upkeep.status(&settings).await?;
    let config = builder.checked_without_templates()?;
    Ok(io::stdout().write_all(status_lines(&status, &config.sources, settings.clock.now()).as_bytes())?)
}

/// Formats the status as lines of names and values.
fn status_lines(status: &Status, sources: &BTreeMap<String, SourceSettings>, now: Timestamp) -> String {
    let Status { schema, needed, rows, newest, last_heard: heard, free, last_backup } = status;
    let advice = match schema.cmp(needed) {
        Ordering::Less => "; run siaga migrate",
        Ordering::Equal => "",
        Ordering::Greater => "; a newer version of the service has made it",
    };
    let mut lines = vec![("schema", format!("{schema} of {needed}{advice}"))];
    lines.extend(rows.iter().map(|(name, count)| (*name, count.to_string())));
    let age = |at: &Timestamp| {
        format!("{} ago, {at}", format_millis((now.to_utc() - at.to_utc()).num_milliseconds() / 1000 * 1000))
    };
    let age_or_none = |at: Option<&Timestamp>| at.map_or_else(|| "none".to_owned(), age);
    lines.extend(newest.iter().map(|(name, at)| (*name, age_or_none(at.as_ref()))));
    lines.extend(sources.iter().map(|(name, source)| {
        let last_heard = heard.get(name);
        let is_silent =
            SourceStatus::from_last_heard(last_heard.copied(), source.every, now) == SourceStatus::Silent;
        ("source", format!("{name}: {}{}", age_or_none(last_heard), if is_silent { ", silent" } else { "" }))
    }));
    lines.extend(free.map(|free| ("free on disk", format!("{} MiB", free >> 20))));
    lines.extend(last_backup.as_ref().map(|at| ("last backup", age_or_none(at.as_ref()))));
    lines.iter().map(|(name, value)| format!("{name:16}{value}\n")).collect()
}

fn format_duration(duration: Duration) -> String {
    format_millis(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).max(1))
}

/// Formats milliseconds in common units, such as `3m 12s`.
fn format_millis(milliseconds: i64) -> String {
    humantime::format_duration(Duration::from_millis(milliseconds.max(0).cast_unsigned())).to_string()
}
