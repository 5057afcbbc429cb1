//! The tests there are, by their names in the sources.

use std::fs;
use std::path::Path;

/// The name of each function that is marked as a test or as a behaviour of a suite, and the text of its file.
pub(crate) fn named_tests() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["tests", "src"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    found
}

fn collect(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut lines = text.lines().map(str::trim);
            while let Some(line) = lines.next() {
                if line == "#[test]" {
                    let name = lines.next().and_then(|line| line.strip_prefix("fn ")?.split('(').next());
                    found.extend(name.map(|name| (name.to_owned(), text.clone())));
                }
            }
        }
    }
}
