//! Minimal configurations.

use figment::Figment;
use figment::providers::Serialized;
use serde_json::{Value, json};
use siaga::config::{Config, ConfigError};

/// The optional tables, with their required keys.
pub(crate) fn tables() -> Value {
    json!({
        "auth": {
            "api_keys": [{ "name": "a", "sha256": "0".repeat(64), "scopes": [] }],
            "jwt": { "secret": "a secret" },
            "oidc": {
                "issuer": "https://id.example", "client_id": "siaga", "client_secret": "a secret",
                "grants": [{ "group": "bpbd", "scopes": ["floods:write"] }],
            },
        },
        "sources": { "x": { "subject": "a", "every": "10m" } },
        "webhooks": { "x": { "url": "https://a.example/", "event": "report" } },
        "formats": {
            "cap": { "agencies": { "x": { "sender": "a", "sender_name": "a" } } },
            "template": { "x": { "file": "x", "media_type": "text/plain", "layers": ["floods"] } },
        },
    })
}

/// The configuration of these values, without files or the environment.
pub(crate) fn extracted(values: &Value) -> Result<Config, ConfigError> {
    Config::extract(&Figment::from(Serialized::default(Config::KEY, values)))
}

/// The value of a key; `<>` stands for the entry `x` or the first of a list.
pub(crate) fn value<'v>(root: &'v Value, key: &str) -> Option<&'v Value> {
    key.split('.').try_fold(root, |value, part| match (part, value) {
        ("<>", Value::Array(list)) => list.first(),
        ("<>", table) => table.get("x"),
        _ => value.get(part),
    })
}

/// The same, mutable.
pub(crate) fn place<'v>(root: &'v mut Value, key: &str) -> &'v mut Value {
    key.split('.').fold(root, |value, part| match (part, value) {
        ("<>", Value::Array(list)) => &mut list[0],
        ("<>", table) => &mut table["x"],
        (part, table) => &mut table[part],
    })
}
