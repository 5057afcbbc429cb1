//! The words of alerts: the group `messages` of the texts.

use chrono::format::{Item, StrftimeItems};
use serde_json::Value;

use super::texts::Texts;
use super::tree::Node;

/// The longest `event`, in characters: Google shows no more.
const EVENT: usize = 34;
/// The longest headline without the area in it, in characters. With an area of 49 characters it has at most 140.
const HEADLINE: usize = 90;

/// The group of the words of alerts. A language has all of them, or none: then alerts are not in this language.
pub(super) const GROUP: &str = "messages";

/// Checks the words of alerts in a language of its own file; `note` gets the line and what is wrong.
pub(super) fn check(texts: &Texts, own: &Node, mut note: impl FnMut(u64, String)) {
    let words = texts.group(GROUP);
    let line = |path: &[&str]| path.iter().try_fold(own, |node, name| node.get(name)).map_or(1, |of| of.line);
    let language = words["language"].as_str().unwrap_or_default();
    let (first, rest) =
        language.split_once('-').map_or((language, None), |(first, rest)| (first, Some(rest)));
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if first != texts.code() || !rest.is_none_or(|rest| rest.split('-').all(is_part)) {
        let code = texts.code();
        let must = format!("messages.language must be {code}, or {code}- with a region such as {code}-ID");
        note(line(&["language"]), must);
    }
    if words["event"].as_str().is_some_and(|event| event.chars().count() > EVENT) {
        note(line(&["event"]), format!("messages.event must have at most {EVENT} characters"));
    }
    if !is_time(words["time"].as_str().unwrap_or_default()) {
        note(line(&["time"]), "messages.time must be a pattern of strftime such as %H:%M %Z".to_owned());
    }
    for (name, message) in words.as_object().into_iter().flatten() {
        let Some(headline) = message["headline"].as_str() else { continue };
        if headline.replace("{area}", "").chars().count() > HEADLINE {
            let must =
                format!("messages.{name}.headline must have at most {HEADLINE} characters without {{area}}");
            note(line(&[name, "headline"]), must);
        }
    }
}

/// Returns whether a text is a pattern of `strftime`.
pub(super) fn is_time(pattern: &str) -> bool {
    StrftimeItems::new(pattern).all(|item| item != Item::Error)
}

impl Texts {
    /// Returns the words of alerts: `language`, `event`, `exercise`, and those of each message by its name.
    pub(crate) fn messages(&self) -> &Value {
        self.group(GROUP)
    }
}
