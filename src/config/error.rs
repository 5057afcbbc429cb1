use std::fmt;

use figment::error::{Actual, Error, Kind};

use super::Config;
use super::unread::is_rocket_key;
use crate::model::unknown_key;

/// Errors of the configuration, shown in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(Vec<String>);

impl ConfigError {
    pub(crate) fn new(key: &str, reason: impl fmt::Display) -> Self {
        Self(vec![format!("{key}: {reason}")])
    }

    pub(super) fn removed(key: &str, instead: impl fmt::Display) -> Self {
        Self(vec![format!("{key} is no longer read; remove it: {instead}")])
    }

    pub(crate) fn from_country(faults: Vec<String>) -> Self {
        Self(faults)
    }

    pub(crate) fn faults(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl std::error::Error for ConfigError {}

impl From<Error> for ConfigError {
    fn from(error: Error) -> Self {
        Self(error.into_iter().map(|error| line(&error)).collect())
    }
}

/// Prefixes of keys whose wrong values may be secrets, and are not shown.
const SECRET: [&str; 5] = [
    "siaga.auth",
    "siaga.webhooks",
    "siaga.images.signing_key",
    "siaga.images.options",
    "siaga.metrics.token",
];

/// Joins lines without the excerpts of files, which may contain secrets.
fn without_excerpt(text: &str) -> String {
    let is_excerpt =
        |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
    text.lines().filter(|line| !is_excerpt(line)).map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Formats one error: full key, what is wrong, what is allowed, and where it was set.
fn line(error: &Error) -> String {
    let mut path = error.path.clone();
    // Figment may have added the name to the path already, depending on how it read the value.
    if let Kind::UnknownField(name, _) = &error.kind
        && path.last() != Some(name)
    {
        path.push(name.clone());
    }
    if let Kind::MissingField(name) = &error.kind {
        path.push(name.to_string());
    }
    let path = path.join(".");
    let reason = match &error.kind {
        Kind::UnknownField(name, _) if path == format!("{}.{name}", Config::KEY) && is_rocket_key(name) => {
            let variable = name.to_ascii_uppercase();
            format!("this key is one of Rocket's: write ROCKET_{variable}=…, or {name} = … under [default]")
        }
        Kind::UnknownField(name, allowed) => unknown_key(name, allowed),
        Kind::MissingField(_) => "missing".to_owned(),
        Kind::UnknownVariant(name, allowed) => {
            format!("must be one of [{}], not {name}", allowed.join(", "))
        }
        Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected)
            if SECRET.iter().any(|secret| path.starts_with(secret)) =>
        {
            format!("must be {expected}, as the documentation shows it")
        }
        Kind::InvalidType(found, expected) | Kind::InvalidValue(found, expected) => {
            format!("must be {}, not {found}{}", words(expected), hint(found, expected))
        }
        other => without_excerpt(&other.to_string())
            .replace("invalid basic string", "the text that begins here does not end on its line"),
    };
    let source = error.metadata.as_ref().map(|metadata| match &metadata.source {
        Some(source) => format!(" ({source})"),
        None => format!(" ({})", metadata.name),
    });
    let separator = if path.is_empty() { "" } else { ": " };
    format!("{path}{separator}{reason}{}", source.unwrap_or_default())
}

/// Replaces the names of types of Rust.
fn words(expected: &str) -> &str {
    match expected {
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "a string" => "a text",
        expected => expected,
    }
}

/// Returns how to write the value that was found.
fn hint(found: &Actual, expected: &str) -> String {
    match (found, expected) {
        (Actual::Str(text), "a sequence") => format!(": write [{text:?}]"),
        (Actual::Str(text), "a boolean") if text == "true" || text == "false" => {
            ": write it without quotes".to_owned()
        }
        (Actual::Signed(number), "a string") => format!(": write \"{number}\""),
        (Actual::Bool(value), "a string") => format!(": write \"{value}\""),
        _ => String::new(),
    }
}
