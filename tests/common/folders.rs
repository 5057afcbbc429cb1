//! Data folders of tests.

use std::fmt::Display;
use std::fs;

use siaga::folder::{Dataset, FolderFile, FolderWriter};
use tempfile::TempDir;

pub(crate) fn folder_of(files: &[(FolderFile, impl AsRef<[u8]>)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, content) in files {
        fs::write(folder.path().join(file.name()), content).unwrap();
    }
    folder
}

pub(crate) fn written(dataset: &Dataset) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    dataset.save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
    folder
}

/// A file of features, the first of them on line 2.
pub(crate) fn collection(features: &[impl Display]) -> String {
    let features: Vec<_> = features.iter().map(ToString::to_string).collect();
    format!("{{\"type\":\"FeatureCollection\",\"features\":[\n{}\n]}}\n", features.join(",\n"))
}
