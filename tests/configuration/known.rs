//! Documented keys match the code.

use std::collections::BTreeSet;

use figment::Figment;
use serde_json::{Value, json};
use siaga::Builder;

use crate::minimal::extracted;
use crate::page;

/// A name that no key has.
const UNKNOWN: &str = "unheard_of";

/// A value at a key: `<>` is any name of a table, `<0>` the first of a list.
fn at(parts: &[&str], value: Value) -> Value {
    parts.iter().rev().fold(value, |value, &part| match part {
        "<>" => json!({ "x": value }),
        "<0>" => json!([value]),
        _ => json!({ part: value }),
    })
}

/// The allowed names in an error about an unknown key.
fn allowed(error: &str) -> Option<Vec<String>> {
    let (_, allowed) = error.split_once(&format!("{UNKNOWN}: unknown key; allowed are "))?;
    let allowed = allowed.split(" (").next()?;
    Some(allowed.split(", ").map(str::to_owned).collect())
}

/// The keys of the table at a path; `None` if it has no fixed keys.
fn table(parts: &[&str]) -> Option<Vec<String>> {
    let values = at(&[parts, &[UNKNOWN]].concat(), json!(1));
    allowed(&extracted(&values).err()?.to_string())
}

/// Every key at and below a path, from the service's own errors.
fn walk(parts: &[&str], found: &mut BTreeSet<String>) {
    if let Some(names) = table(parts) {
        for name in &names {
            let name = if name == "<name>" { "<>" } else { name };
            walk(&[parts, &[name]].concat(), found);
        }
        return;
    }
    let with = |part| [parts, &[part]].concat();
    let tables_of_any_name = table(&with("<>")).is_some();
    if tables_of_any_name {
        walk(&with("<>"), found);
        return;
    }
    // A list of tables is itself a key, because it may be empty.
    found.insert(parts.join(".").replace("<0>", "<>"));
    if table(&with("<0>")).is_some() {
        walk(&with("<0>"), found);
    }
}

fn known() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk(&[], &mut found);
    found
}

/// The keys of documented rows, none of them there twice.
fn keys(rows: Vec<page::Documented>) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for row in rows {
        assert!(!keys.contains(&row.key), "{} is documented twice", row.key);
        keys.insert(row.key);
    }
    keys
}

#[test]
fn the_page_lists_exactly_the_existing_keys() {
    let known = known();
    assert!(known.len() > 80, "{known:#?}");
    let documented = keys(page::of_the_service());
    let missing: Vec<_> = known.difference(&documented).collect();
    let unknown: Vec<_> = documented.difference(&known).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "undocumented: {missing:?}; unknown: {unknown:?}");
}

#[test]
fn the_page_lists_exactly_the_existing_keys_of_the_database() {
    let figment = Figment::from(rocket::Config::default())
        .merge(("siaga.store", "postgres"))
        .merge((format!("databases.siaga.{UNKNOWN}"), 1));
    let error = Builder::default().figment(figment).check().unwrap_err().to_string();
    let names = allowed(&error).unwrap_or_else(|| panic!("{error}"));
    let known: BTreeSet<_> = names.into_iter().map(|key| format!("databases.siaga.{key}")).collect();
    let documented = keys(page::of_rocket());
    let of_databases: BTreeSet<String> =
        documented.iter().filter(|key| key.starts_with("databases.")).cloned().collect();
    assert_eq!(of_databases, known);
    let others: Vec<_> = documented.difference(&known).collect();
    assert_eq!(others, ["ident", "ip_header"]);
}
