//! What an operator does with the store beside serving it.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use siaga::Siaga;
use siaga::datasets::{Folder, FolderWriter};

use crate::Failure;

pub(crate) async fn migrate() -> Result<(), Failure> {
    let builder = Siaga::builder();
    let (upkeep, settings) = builder.upkeep()?;
    upkeep.migrate(&settings).await
}

pub(crate) async fn import(folder: PathBuf) -> Result<(), Failure> {
    let builder = Siaga::builder();
    let (upkeep, settings) = builder.upkeep()?;
    let folder = Folder::open(folder)?;
    // Drawn on a terminal only.
    let bar = ProgressBar::new(folder.size()).with_style(ProgressStyle::with_template(
        "{wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} to go",
    )?);
    let progress = bar.clone();
    let imported = upkeep.import(&settings, folder.watched(move |bytes| progress.inc(bytes))).await;
    bar.finish_and_clear();
    imported
}

pub(crate) async fn export(folder: PathBuf) -> Result<(), Failure> {
    let builder = Siaga::builder();
    let (upkeep, settings) = builder.upkeep()?;
    upkeep.export(&settings, FolderWriter::create(folder)?).await
}
