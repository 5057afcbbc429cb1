//! The tables of the page.

use siaga::model::LayerKind;

const PAGE: &str = include_str!("../../docs/configuration.md");

/// A documented key with its default as written; empty for a required key.
#[derive(Debug, PartialEq)]
pub(crate) struct Documented {
    pub(crate) key: String,
    pub(crate) default: String,
}

/// The heading between the keys of the service and Rocket's.
const ROCKET: &str = "\n## Rocket's keys\n";

/// The keys of the service's own tables.
pub(crate) fn of_the_service() -> Vec<Documented> {
    rows(PAGE.split_once(ROCKET).unwrap().0)
}

/// The keys of Rocket's tables.
pub(crate) fn of_rocket() -> Vec<Documented> {
    rows(PAGE.split_once(ROCKET).unwrap().1)
}

/// The keys in all tables of a page.
pub(crate) fn rows(part: &str) -> Vec<Documented> {
    lines(part).flat_map(row).collect()
}

fn lines(part: &str) -> impl Iterator<Item = &str> {
    let tables = part.split("\n| key | ").skip(1);
    tables.flat_map(|table| table.lines().skip(2).take_while(|line| line.starts_with('|')))
}

/// The pattern of each row, and its example.
pub(crate) fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    lines(PAGE).map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", key, text, _, _, ""] = cells[..] else { panic!("no row of four: {line}") };
        (key.trim_matches('`'), text)
    })
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
    // One default per key; fewer belong to the last keys.
    let defaults: Vec<&str> = default.split("; ").collect();
    assert_eq!(keys.len() % defaults.len(), 0, "{line}");
    let defaults = defaults.into_iter().cycle();
    keys.into_iter()
        .zip(defaults)
        .map(|(key, default)| Documented { key, default: default.to_owned() })
        .collect()
}

/// The keys that a pattern such as `limits.{body,chunk}` stands for, in their order, with `<>` for every `<…>` but those whose
/// values the page lists.
pub(crate) fn expanded(pattern: &str) -> Vec<String> {
    let pattern = pattern.replace("<resource>", &format!("{{{}}}", LayerKind::NAMES.join(",")));
    if let Some((before, rest)) = pattern.split_once('{') {
        let (parts, after) = rest.split_once('}').unwrap_or_else(|| panic!("{pattern}"));
        return parts.split(',').flat_map(|part| expanded(&format!("{before}{part}{after}"))).collect();
    }
    match pattern.split_once('<') {
        Some((before, rest)) => {
            let after = rest.split_once('>').unwrap_or_else(|| panic!("{pattern}")).1;
            // What follows has placeholders of its own.
            let after = expanded(after).remove(0);
            vec![format!("{before}<>{after}")]
        }
        None => vec![pattern],
    }
}
