//! Configurations with no more than is needed.

use figment::Figment;
use figment::providers::Serialized;
use serde_json::{Value, json};
use siaga::config::{Config, ConfigError};

/// The tables that are there only when something in them is given, with what must be.
pub(crate) fn tables() -> Value {
    json!({
        "auth": {
            "api_keys": [{ "name": "a", "sha256": "0".repeat(64), "scopes": [] }],
            "jwt": { "secret": "a secret" },
        },
        "sources": { "x": { "subject": "a", "every": "10m" } },
        "webhooks": { "x": { "url": "https://a.example/", "event": "report" } },
        "formats": {
            "cap": { "agencies": { "x": { "sender": "a", "sender_name": "a" } } },
            "template": { "x": { "file": "x", "media_type": "text/plain", "layers": ["floods"] } },
        },
    })
}

/// What a service of these values is configured with, and nothing from files or the environment.
pub(crate) fn extracted(values: &Value) -> Result<Config, ConfigError> {
    Config::extract(&Figment::from(Serialized::default(Config::KEY, values)))
}

/// The value a key has, with `x` and the first for its placeholders.
pub(crate) fn value<'v>(of: &'v Value, key: &str) -> Option<&'v Value> {
    key.split('.').try_fold(of, |value, part| match (part, value) {
        ("<>", Value::Array(list)) => list.first(),
        ("<>", table) => table.get("x"),
        _ => value.get(part),
    })
}

/// The place of a key, likewise.
pub(crate) fn place<'v>(of: &'v mut Value, key: &str) -> &'v mut Value {
    key.split('.').fold(of, |value, part| match (part, value) {
        ("<>", Value::Array(list)) => &mut list[0],
        ("<>", table) => &mut table["x"],
        (part, table) => &mut table[part],
    })
}
