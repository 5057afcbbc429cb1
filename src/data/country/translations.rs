use std::collections::BTreeSet;
use std::fmt;

use chrono::Datelike;
use chrono_tz::Tz;
use serde_json::Value;

use super::CountryDiagnostics;
use super::files::Files;
use super::hazards::needed;
use super::messages::{self, is_time};
use crate::model::{Hazards, Members, Timestamp};

/// The texts in one language, in groups: one for each page, and those that pages share.
#[derive(Clone, Debug)]
pub(crate) struct Translations {
    code: String,
    /// Complete: texts that the language lacks are those of the country's first language.
    groups: Value,
    /// Whether the file of the language has the words of alerts.
    has_messages: bool,
}

/// Returns the texts that a country with these hazards has: those in the first language of the country that is part of the program.
pub(super) fn reference(hazards: &Hazards, faults: &mut CountryDiagnostics) -> Option<Value> {
    let mut reference = json("texts/id.json", &Files::BuiltIn, faults)?;
    reference["hazards"] = needed(hazards);
    Some(reference)
}

/// Reads a file in JSON.
fn json(file: &str, files: &Files, faults: &mut CountryDiagnostics) -> Option<Value> {
    let text = files.text(file, faults)?;
    match serde_json::from_str(&text) {
        Ok(value) => {
            note_twice(&text, "", &mut |path| faults.note(file, None, format!("{path} occurs twice")));
            Some(value)
        }
        Err(error) => {
            faults.note(file, Some(error.line() as u64), format!("is not JSON: {error}"));
            None
        }
    }
}

/// Notes the paths that occur twice in a value, because all but the last one would be lost.
fn note_twice(json: &str, path: &str, note: &mut dyn FnMut(String)) {
    let Ok(members) = serde_json::from_str::<Members<'_>>(json) else { return };
    members.duplicates.iter().for_each(|name| note(joined(path, name)));
    for (name, value) in &members.list {
        note_twice(value.get(), &joined(path, name), note);
    }
}

/// What is compared while a file is read.
struct TranslationsReader<'a> {
    file: String,
    faults: &'a mut CountryDiagnostics,
}

impl Translations {
    /// Reads the texts in a language. Texts that are missing are those of `first`, the country's first language.
    ///
    /// Notes unknown texts, missing texts of the first language, empty texts and wrong placeholders. Returns `None` only after a
    /// fault was noted.
    pub(super) fn read(
        code: &str,
        files: &Files,
        reference: &Value,
        first: Option<&Self>,
        faults: &mut CountryDiagnostics,
    ) -> Option<Self> {
        let file = format!("texts/{code}.json");
        let own = json(&file, files, faults)?;
        let mut reading = TranslationsReader { file, faults };
        let groups = reading.merged(reference, Some(&own), first.map(|first| &first.groups), "")?;
        let words = own.get(messages::GROUP);
        if let Some(words) = words {
            messages::check(code, words, |path, must| reading.note(path, must));
        }
        if own["time"]["moment"].as_str().is_some_and(|pattern| !is_time(pattern)) {
            let must = "must be a pattern of strftime such as %-d {month} %Y, %H.%M %Z";
            reading.note("time.moment", must);
        }
        Some(Self { code: code.to_owned(), groups, has_messages: words.is_some() })
    }

    /// Returns the code of the language (BCP 47).
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Returns the name of the language in itself.
    pub(crate) fn name(&self) -> &str {
        self.text("language", "name")
    }

    /// Returns a group of texts as an object; null if there is no such group.
    pub(crate) fn group(&self, name: &str) -> &Value {
        &self.groups[name]
    }

    /// Returns one text of a group; an empty text if there is none.
    pub(crate) fn text(&self, group: &str, key: &str) -> &str {
        self.group(group)[key].as_str().unwrap_or_default()
    }

    /// Returns whether alerts are in this language.
    pub(crate) fn has_messages(&self) -> bool {
        self.has_messages
    }

    /// Writes a moment for people, in the time of a place.
    pub(crate) fn moment(&self, moment: Timestamp, zone: Tz) -> String {
        self.written(self.text("time", "moment"), moment, zone)
    }

    /// Writes a moment by a pattern of `strftime`, in which `{month}` is the name of the month.
    pub(crate) fn written(&self, pattern: &str, moment: Timestamp, zone: Tz) -> String {
        let local = moment.to_utc().with_timezone(&zone);
        let month = self.group("time")["months"][local.month0() as usize].as_str().unwrap_or_default();
        local.format(pattern).to_string().replace("{month}", month)
    }
}

impl TranslationsReader<'_> {
    /// Returns the texts of an entry and of those in it, each from the file or else from `fallback`. Returns `None` only after a
    /// fault was noted.
    fn merged(
        &mut self,
        known: &Value,
        own: Option<&Value>,
        fallback: Option<&Value>,
        path: &str,
    ) -> Option<Value> {
        let Some(own) = own else {
            // Words of alerts in two languages would mislead.
            let fallback = fallback.filter(|_| !path.starts_with("messages."));
            if fallback.is_none() {
                self.note(path, "is missing");
            }
            return fallback.cloned();
        };
        match (known, own) {
            (Value::Object(known), Value::Object(found)) => {
                for name in found.keys().filter(|name| !known.contains_key(*name)) {
                    self.note(&joined(path, name), "is unknown");
                }
                let merged = known.iter().filter_map(|(name, known)| {
                    let fallback = fallback.and_then(|fallback| fallback.get(name));
                    let value = self.merged(known, found.get(name), fallback, &joined(path, name))?;
                    Some((name.clone(), value))
                });
                Some(merged.collect())
            }
            (Value::Array(known), Value::Array(list)) if known.len() == list.len() => {
                let texts = known.iter().zip(list).enumerate();
                let merged = texts.filter_map(|(index, (known, own))| {
                    self.merged(known, Some(own), None, &joined(path, &index.to_string()))
                });
                Some(merged.collect())
            }
            (Value::String(known), Value::String(text)) => {
                self.check(path, text, known);
                Some(own.clone())
            }
            _ => {
                let must = match known {
                    Value::Object(_) => "an object".to_owned(),
                    Value::Array(known) => format!("a list of {} texts", known.len()),
                    _ => "a text".to_owned(),
                };
                let found: String = own.to_string().chars().take(40).collect();
                self.note(path, format!("must be {must}, not {found}"));
                None
            }
        }
    }

    /// Notes a fault if a text is empty, or has placeholders that the text of the reference does not have.
    fn check(&mut self, path: &str, text: &str, known: &str) {
        if text.trim().is_empty() {
            self.note(path, "must be a text that is not empty");
        }
        let known = placeholders(known);
        let found = placeholders(text);
        let bare = found.iter().fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), ""));
        if bare.contains(['{', '}']) {
            self.note(path, "has a brace that belongs to no placeholder");
        }
        if let Some(unknown) = found.into_iter().find(|name| !known.contains(name)) {
            let known = known.into_iter().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(", ");
            self.note(path, format!("has the placeholder {{{unknown}}}; allowed are [{known}]"));
        }
    }

    fn note(&mut self, path: &str, reason: impl fmt::Display) {
        self.faults.note(&self.file, None, format!("{path} {reason}").trim_start());
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Returns the names in braces.
fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0)).collect()
}
