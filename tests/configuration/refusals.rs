//! What a key cannot be is refused.

use serde_json::{Value, json};

use crate::minimal::{extracted, tables};
use crate::page;

/// The configuration with a value at a key, whose placeholders are the names and places of the tables there are.
fn with(key: &str, value: Value) -> Value {
    let mut values = tables();
    let mut at = &mut values;
    for part in key.split('.') {
        at = match (part, at) {
            ("<>", Value::Array(list)) => &mut list[0],
            ("<>", table) => &mut table["x"],
            (part, table) => &mut table[part],
        };
    }
    *at = value;
    values
}

#[test]
fn a_value_of_another_kind_is_refused_with_the_full_path_of_its_key() {
    for row in page::of_the_service() {
        let is_list = row.key.starts_with("auth.api_keys.");
        let path = row.key.replace("<>", if is_list { "0" } else { "x" });
        let wrong = with(&row.key, json!([[["neither text nor number"]]]));
        let error = extracted(&wrong).map(drop).unwrap_err().to_string();
        assert!(error.starts_with(&format!("siaga.{path}")), "{path}: {error}");
        assert!(error.contains("must be"), "{path}: {error}");
    }
}
