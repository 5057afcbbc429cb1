//! SECURITY.md tells the truth: each of its threats names tests, and they are there.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../SECURITY.md");

/// The names of all functions in the files below a folder that are marked as tests or behaviours of a suite.
fn tests(folder: &Path, found: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut lines = text.lines().map(str::trim);
            while let Some(line) = lines.next() {
                if line == "#[test]" {
                    let name = lines.next().and_then(|line| line.strip_prefix("fn ")?.split('(').next());
                    found.extend(name.map(str::to_owned));
                }
            }
        }
    }
}

/// The rows of the table: asset, attack, defence, tests.
fn rows() -> Vec<Vec<&'static str>> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

#[test]
fn every_test_that_the_threats_name_is_there() {
    let mut found = HashSet::new();
    for folder in ["tests", "src"] {
        tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    assert!(found.contains("every_test_that_the_threats_name_is_there"));
    let rows = rows();
    assert!(rows.len() > 40, "{}", rows.len());
    for row in rows {
        assert_eq!(row.len(), 4, "{row:?}");
        let named = row[3].split('`').skip(1).step_by(2).filter(|name| !name.contains(['.', '/']));
        for name in named {
            assert!(found.contains(name), "{name} of {:?}", row[1]);
        }
    }
}
