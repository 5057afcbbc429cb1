//! The tables of the page.

use crate::keys::expanded;

const PAGE: &str = include_str!("../../docs/configuration.md");

/// A documented key with its default as it is written; a key that must be given has an empty one.
#[derive(Debug, PartialEq)]
pub(crate) struct Documented {
    pub(crate) key: String,
    pub(crate) default: String,
}

/// The pattern of a row, and its example as it is written.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) pattern: &'static str,
    pub(crate) text: &'static str,
}

/// The heading that parts the keys of the service from those of Rocket that the page lists.
const ROCKET: &str = "\n## Rocket's keys\n";

/// The keys of the service's own tables.
pub(crate) fn of_the_service() -> Vec<Documented> {
    rows(PAGE.split_once(ROCKET).unwrap().0)
}

/// The keys of Rocket's tables.
pub(crate) fn of_rocket() -> Vec<Documented> {
    rows(PAGE.split_once(ROCKET).unwrap().1)
}

fn rows(part: &str) -> Vec<Documented> {
    lines(part).flat_map(row).collect()
}

fn lines(part: &str) -> impl Iterator<Item = &str> {
    let tables = part.split("\n| key | example | default | meaning |\n|---|---|---|---|\n").skip(1);
    tables.flat_map(|table| table.lines().take_while(|line| line.starts_with('|')))
}

/// The examples of all rows.
pub(crate) fn examples() -> Vec<Example> {
    let example = |line: &'static str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", key, text, _, _, ""] = cells[..] else { panic!("no row of four: {line}") };
        Example { pattern: key.trim_matches('`'), text }
    };
    lines(PAGE).map(example).collect()
}

/// The keys of a row, whose last cells are their default and what they mean.
pub(crate) fn row(line: &str) -> Vec<Documented> {
    let cells: Vec<&str> = line.strip_prefix('|').unwrap().split('|').map(str::trim).collect();
    let [patterns, .., default, meaning, ""] = cells[..] else {
        panic!("no row with a default and a meaning: {line}")
    };
    assert!(!meaning.is_empty(), "{line}");
    let keys: Vec<String> = patterns
        .split(", ")
        .flat_map(|pattern| {
            let key = pattern.strip_prefix('`').and_then(|pattern| pattern.strip_suffix('`'));
            expanded(key.unwrap_or_else(|| panic!("no key: {pattern}")))
        })
        .collect();
    // One default for each key; fewer are those of the last parts of keys, of which others come before.
    let defaults: Vec<&str> = default.split("; ").collect();
    assert_eq!(keys.len() % defaults.len(), 0, "{line}");
    let defaults = defaults.into_iter().cycle();
    keys.into_iter()
        .zip(defaults)
        .map(|(key, default)| Documented { key, default: default.to_owned() })
        .collect()
}
