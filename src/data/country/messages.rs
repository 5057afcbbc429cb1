//! The words of alerts: the group `messages` of the texts.

use chrono::format::{Item, StrftimeItems};
use serde_json::Value;

use super::translations::Translations;

/// The maximum length of the text `event` in characters. Google truncates longer ones.
const MAX_EVENT: usize = 34;
/// The maximum length of a headline without the area's name, in characters. With a name of 49 characters: 140.
const MAX_HEADLINE: usize = 90;

/// The group with the words of alerts. A language has all of these words or none; alerts skip languages without them.
pub(super) const GROUP: &str = "messages";

pub(super) fn check(code: &str, words: &Value, mut note: impl FnMut(&str, String)) {
    let language = words["language"].as_str().unwrap_or_default();
    let mut parts = language.split('-');
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if parts.next() != Some(code) || !parts.all(is_part) {
        note("messages.language", format!("must be {code}, or {code}- with a region such as {code}-ID"));
    }
    if words["event"].as_str().is_some_and(|event| event.chars().count() > MAX_EVENT) {
        note("messages.event", format!("must have at most {MAX_EVENT} characters"));
    }
    if !is_time(words["time"].as_str().unwrap_or_default()) {
        note("messages.time", "must be a pattern of strftime such as %H:%M %Z".to_owned());
    }
    for (name, message) in words.as_object().into_iter().flatten() {
        let Some(headline) = message["headline"].as_str() else { continue };
        if headline.replace("{area}", "").chars().count() > MAX_HEADLINE {
            let reason = format!("must have at most {MAX_HEADLINE} characters without {{area}}");
            note(&format!("messages.{name}.headline"), reason);
        }
    }
}

/// Whether a text is a valid pattern for `strftime`.
pub(super) fn is_time(pattern: &str) -> bool {
    StrftimeItems::new(pattern).all(|item| item != Item::Error)
}

impl Translations {
    /// Returns the words of alerts: `language`, `event`, `exercise`, and a group for each message.
    pub(crate) fn messages(&self) -> &Value {
        self.group(GROUP)
    }
}
