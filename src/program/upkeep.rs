//! What an operator does with the store beside serving it.

use std::path::PathBuf;

use super::Failure;
use crate::Builder;
use crate::datasets::{Folder, FolderWriter};
use indicatif::{ProgressBar, ProgressStyle};

pub(super) async fn migrate(builder: &Builder) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    upkeep.migrate(&settings).await
}

pub(super) async fn import(builder: &Builder, folder: PathBuf) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let folder = Folder::open(folder)?.by(settings.rules.clone());
    // Drawn on a terminal only.
    let bar = ProgressBar::new(folder.size()).with_style(ProgressStyle::with_template(
        "{wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} to go",
    )?);
    let progress = bar.clone();
    let imported = upkeep.import(&settings, folder.watched(move |bytes| progress.inc(bytes))).await;
    bar.finish_and_clear();
    imported
}

pub(super) async fn export(builder: &Builder, folder: PathBuf) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    upkeep.export(&settings, FolderWriter::create(folder)?).await
}
