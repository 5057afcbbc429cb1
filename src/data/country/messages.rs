//! The words of alerts: the group `messages` of the texts.

use chrono::format::{Item, StrftimeItems};
use serde_json::Value;

use super::translations::Translations;

/// The longest `event`, in characters: Google shows no more.
const EVENT: usize = 34;
/// The longest headline without the area in it, in characters. With an area of 49 characters it has at most 140.
const HEADLINE: usize = 90;

/// The group of the words of alerts. A language has all of them, or none: then alerts are not in this language.
pub(super) const GROUP: &str = "messages";

/// Checks the words of alerts in the file of a language; `note` gets the path of a wrong one, and what it must be.
pub(super) fn check(code: &str, words: &Value, mut note: impl FnMut(&str, String)) {
    let language = words["language"].as_str().unwrap_or_default();
    let mut parts = language.split('-');
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if parts.next() != Some(code) || !parts.all(is_part) {
        note("messages.language", format!("must be {code}, or {code}- with a region such as {code}-ID"));
    }
    if words["event"].as_str().is_some_and(|event| event.chars().count() > EVENT) {
        note("messages.event", format!("must have at most {EVENT} characters"));
    }
    if !is_time(words["time"].as_str().unwrap_or_default()) {
        note("messages.time", "must be a pattern of strftime such as %H:%M %Z".to_owned());
    }
    for (name, message) in words.as_object().into_iter().flatten() {
        let Some(headline) = message["headline"].as_str() else { continue };
        if headline.replace("{area}", "").chars().count() > HEADLINE {
            let must = format!("must have at most {HEADLINE} characters without {{area}}");
            note(&format!("messages.{name}.headline"), must);
        }
    }
}

/// Returns whether a text is a pattern of `strftime`.
pub(super) fn is_time(pattern: &str) -> bool {
    StrftimeItems::new(pattern).all(|item| item != Item::Error)
}

impl Translations {
    /// Returns the words of alerts: `language`, `event`, `exercise`, and those of each message by its name.
    pub(crate) fn messages(&self) -> &Value {
        self.group(GROUP)
    }
}
