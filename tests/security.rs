//! SECURITY.md tells the truth: each of its threats names tests, and they are there.

#[path = "common/named_tests.rs"]
mod named_tests;

use std::collections::HashSet;

const PAGE: &str = include_str!("../SECURITY.md");

/// The rows of the table: asset, attack, defence, tests.
fn rows() -> Vec<Vec<&'static str>> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

#[test]
fn every_test_that_the_threats_name_is_there() {
    let found: HashSet<String> = named_tests::named_tests().into_iter().map(|(name, _)| name).collect();
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
