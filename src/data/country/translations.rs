use std::collections::BTreeSet;
use std::fmt;

use chrono::Datelike;
use chrono_tz::Tz;
use serde_json::Value;

use super::CountryDiagnostics;
use super::files::Files;
use super::hazards::required_texts;
use super::messages::{self, is_time};
use crate::model::{Hazards, Members, Timestamp};

/// The texts in one language, in groups. Each page has a group, and some groups are shared.
#[derive(Clone, Debug)]
pub(crate) struct Translations {
    code: String,
    /// Complete: texts that are missing in this language are copied from the country's first language.
    groups: Value,
    has_messages: bool,
}

/// Returns all texts that a language of a country with these hazards can have, with the allowed placeholders.
pub(super) fn reference(hazards: &Hazards, diagnostics: &mut CountryDiagnostics) -> Option<Value> {
    let mut reference = json("texts/id.json", &Files::BuiltIn, diagnostics)?;
    reference["hazards"] = required_texts(hazards);
    Some(reference)
}

/// Reads a JSON file, and records a fault for each member that occurs twice.
fn json(file: &str, files: &Files, diagnostics: &mut CountryDiagnostics) -> Option<Value> {
    let text = files.text(file, diagnostics)?;
    match serde_json::from_str(&text) {
        Ok(value) => {
            note_duplicates(&text, "", &mut |path| {
                diagnostics.note(file, None, format!("{path} occurs twice"));
            });
            Some(value)
        }
        Err(error) => {
            diagnostics.note(file, Some(error.line() as u64), format!("is not JSON: {error}"));
            None
        }
    }
}

/// Records paths that occur more than once, because only the last text would be used.
fn note_duplicates(json: &str, path: &str, note: &mut dyn FnMut(String)) {
    let Ok(members) = serde_json::from_str::<Members<'_>>(json) else { return };
    members.duplicates.iter().for_each(|name| note(join_path(path, name)));
    for (name, value) in &members.list {
        note_duplicates(value.get(), &join_path(path, name), note);
    }
}

struct TranslationsReader<'a> {
    file: String,
    diagnostics: &'a mut CountryDiagnostics,
}

impl Translations {
    /// Reads the texts in a language; missing ones come from `first`, the country's first language.
    ///
    /// Records unknown texts, missing texts of the first language, empty texts and wrong placeholders. Returns `None` only after
    /// a fault was recorded.
    pub(super) fn read(
        code: &str,
        files: &Files,
        reference: &Value,
        first: Option<&Self>,
        diagnostics: &mut CountryDiagnostics,
    ) -> Option<Self> {
        let file = format!("texts/{code}.json");
        let own = json(&file, files, diagnostics)?;
        let mut reader = TranslationsReader { file, diagnostics };
        let groups = reader.merge(reference, Some(&own), first.map(|first| &first.groups), "")?;
        let words = own.get(messages::GROUP);
        if let Some(words) = words {
            messages::check(code, words, |path, reason| reader.note(path, reason));
        }
        if own["time"]["moment"].as_str().is_some_and(|pattern| !is_time(pattern)) {
            let reason = "must be a pattern of strftime such as %-d {month} %Y, %H.%M %Z";
            reader.note("time.moment", reason);
        }
        Some(Self { code: code.to_owned(), groups, has_messages: words.is_some() })
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn name(&self) -> &str {
        self.text("language", "name")
    }

    /// Returns a group of texts as an object; null if there is no such group.
    pub(crate) fn group(&self, name: &str) -> &Value {
        &self.groups[name]
    }

    /// Returns a text, empty if there is none.
    pub(crate) fn text(&self, group: &str, key: &str) -> &str {
        self.group(group)[key].as_str().unwrap_or_default()
    }

    pub(crate) fn has_messages(&self) -> bool {
        self.has_messages
    }

    /// Formats a time for readers in a time zone.
    pub(crate) fn moment(&self, moment: Timestamp, zone: Tz) -> String {
        self.format_time(self.text("time", "moment"), moment, zone)
    }

    /// Formats a time by a pattern of `strftime`, in which `{month}` is the name of the month.
    pub(crate) fn format_time(&self, pattern: &str, moment: Timestamp, zone: Tz) -> String {
        let local = moment.to_utc().with_timezone(&zone);
        let month = self.group("time")["months"][local.month0() as usize].as_str().unwrap_or_default();
        local.format(pattern).to_string().replace("{month}", month)
    }
}

impl TranslationsReader<'_> {
    /// Returns the texts at a path: those of `own`, and missing ones from `fallback`. `None` only after recording a fault.
    fn merge(
        &mut self,
        known: &Value,
        own: Option<&Value>,
        fallback: Option<&Value>,
        path: &str,
    ) -> Option<Value> {
        let Some(own) = own else {
            // The words of alerts have no fallback, because an alert in two languages would mislead.
            let fallback = fallback.filter(|_| !path.starts_with("messages."));
            if fallback.is_none() {
                self.note(path, "is missing");
            }
            return fallback.cloned();
        };
        match (known, own) {
            (Value::Object(known), Value::Object(found)) => {
                for name in found.keys().filter(|name| !known.contains_key(*name)) {
                    self.note(&join_path(path, name), "is unknown");
                }
                let merged = known.iter().filter_map(|(name, known)| {
                    let fallback = fallback.and_then(|fallback| fallback.get(name));
                    let value = self.merge(known, found.get(name), fallback, &join_path(path, name))?;
                    Some((name.clone(), value))
                });
                Some(merged.collect())
            }
            (Value::Array(known), Value::Array(list)) if known.len() == list.len() => {
                let texts = known.iter().zip(list).enumerate();
                let merged = texts.filter_map(|(index, (known, own))| {
                    self.merge(known, Some(own), None, &join_path(path, &index.to_string()))
                });
                Some(merged.collect())
            }
            (Value::String(known), Value::String(text)) => {
                self.check(path, text, known);
                Some(own.clone())
            }
            _ => {
                let expected = match known {
                    Value::Object(_) => "an object".to_owned(),
                    Value::Array(known) => format!("a list of {} texts", known.len()),
                    _ => "a text".to_owned(),
                };
                let found: String = own.to_string().chars().take(40).collect();
                self.note(path, format!("must be {expected}, not {found}"));
                None
            }
        }
    }

    /// Records a fault if a text is empty, has a stray brace, or has a placeholder that the reference does not have.
    fn check(&mut self, path: &str, text: &str, reference: &str) {
        if text.trim().is_empty() {
            self.note(path, "must be a text that is not empty");
        }
        let valid = placeholders(reference);
        let used = placeholders(text);
        let plain = used.iter().fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), ""));
        if plain.contains(['{', '}']) {
            self.note(path, "has a brace that belongs to no placeholder");
        }
        if let Some(unknown) = used.into_iter().find(|name| !valid.contains(name)) {
            let valid = valid.into_iter().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(", ");
            self.note(path, format!("has the placeholder {{{unknown}}}; allowed are [{valid}]"));
        }
    }

    fn note(&mut self, path: &str, reason: impl fmt::Display) {
        self.diagnostics.note(&self.file, None, format!("{path} {reason}").trim_start());
    }
}

fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0)).collect()
}
