use std::collections::BTreeSet;

use chrono::Datelike;
use chrono_tz::Tz;
use serde_json::{Map, Value};

use super::Faults;
use super::files::Files;
use super::hazards::needed;
use super::messages::{self, is_time};
use super::tree::{Kind, Node};
use crate::model::{Hazards, Timestamp};

/// The texts in one language, in groups: one for each page, and those that pages share.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    code: String,
    /// Complete: texts that the language lacks are those of the country's first language.
    groups: Map<String, Value>,
    /// Whether the file of the language has the words of alerts.
    has_messages: bool,
}

/// The texts that there are: those in the first language of the country that is part of the program.
pub(super) struct Reference(Node);

impl Reference {
    /// Returns the texts for a country with these hazards.
    pub(super) fn with(hazards: &Hazards, faults: &mut Faults) -> Option<Self> {
        let mut known = node("texts/id.json", &Files::BuiltIn, faults)?;
        if let Kind::Group(groups) = &mut known.kind {
            groups.retain(|(name, _)| name != "hazards");
            groups.push(("hazards".to_owned(), needed(hazards)));
        }
        Some(Self(known))
    }
}

/// Reads a file of texts.
fn node(name: &str, files: &Files, faults: &mut Faults) -> Option<Node> {
    let text = files.text(name, faults)?;
    let read = Node::read(&text);
    read.map_err(|(line, reason)| faults.note(name, line, reason)).ok()
}

/// What is compared while a file is read.
struct Reading<'a> {
    file: String,
    /// Whether texts may be missing: not in the country's first language.
    partial: bool,
    faults: &'a mut Faults,
}

impl Texts {
    /// Reads the texts in a language. Texts that are missing are those of `first`, the country's first language.
    ///
    /// Notes unknown texts, missing texts of the first language, empty texts and wrong placeholders. Returns `None` only after a
    /// fault was noted.
    pub(super) fn read(
        code: &str,
        files: &Files,
        reference: &Reference,
        first: Option<&Self>,
        faults: &mut Faults,
    ) -> Option<Self> {
        let file = format!("texts/{code}.json");
        let own = node(&file, files, faults)?;
        let fallback = first.map(|first| Value::Object(first.groups.clone()));
        let mut reading = Reading { file, partial: first.is_some(), faults };
        let merged = reading.merged(&reference.0, Some(&own), fallback.as_ref(), own.line, "");
        let Some(Value::Object(groups)) = merged else { return None };
        let words = own.get(messages::GROUP);
        let texts = Self { code: code.to_owned(), groups, has_messages: words.is_some() };
        if let Some(words) = words {
            messages::check(&texts, words, |line, reason| reading.note(line, reason));
        }
        if !is_time(texts.text("time", "moment")) {
            let line = own.get("time").and_then(|time| time.get("moment")).map_or(1, |node| node.line);
            let must = "time.moment must be a pattern of strftime such as %-d {month} %Y, %H.%M %Z";
            reading.faults.note(&reading.file, line, must);
            return None;
        }
        Some(texts)
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
        self.groups.get(name).unwrap_or(&Value::Null)
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

impl Reading<'_> {
    /// Returns the texts of an entry and of those in it, each from the file or else from `fallback`. Returns `None` only after a
    /// fault was noted. `line` is that of the group around the entry.
    fn merged(
        &mut self,
        known: &Node,
        own: Option<&Node>,
        fallback: Option<&Value>,
        line: u64,
        path: &str,
    ) -> Option<Value> {
        let Some(own) = own else {
            // Words of alerts in two languages would mislead.
            let is_word = path.starts_with("messages.");
            if self.partial && !is_word && fallback.is_some() {
                return fallback.cloned();
            }
            self.note(line, format!("{path} is missing"));
            return None;
        };
        match (&known.kind, &own.kind) {
            (Kind::Group(members), Kind::Group(found)) => {
                for (name, node) in found {
                    if known.get(name).is_none() {
                        self.note(node.line, format!("{} is unknown", joined(path, name)));
                    }
                }
                let mut merged = Map::new();
                for (name, known) in members {
                    let fallback = fallback.and_then(|fallback| fallback.get(name));
                    let value = self.merged(known, own.get(name), fallback, own.line, &joined(path, name));
                    merged.extend(value.map(|value| (name.clone(), value)));
                }
                Some(Value::Object(merged))
            }
            (Kind::List(known), Kind::List(list)) if known.len() == list.len() => {
                for text in list {
                    self.check(own.line, path, text, "");
                }
                Some(list.clone().into())
            }
            (Kind::Text(known), Kind::Text(text)) => {
                self.check(own.line, path, text, known);
                Some(text.clone().into())
            }
            (known, _) => {
                let must = match known {
                    Kind::Group(_) => "an object".to_owned(),
                    Kind::List(known) => format!("a list of {} texts", known.len()),
                    Kind::Text(_) => "a text".to_owned(),
                };
                self.note(own.line, format!("{path} must be {must}"));
                None
            }
        }
    }

    /// Notes a fault if a text is empty, or has placeholders that the text of the reference does not have.
    fn check(&mut self, line: u64, path: &str, text: &str, known: &str) {
        if text.trim().is_empty() {
            self.note(line, format!("{path} must be a text that is not empty"));
        }
        let known = placeholders(known);
        let found = placeholders(text);
        let bare = found.iter().fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), ""));
        if bare.contains(['{', '}']) {
            self.note(line, format!("{path} has a brace that belongs to no placeholder"));
        }
        if let Some(unknown) = found.into_iter().find(|name| !known.contains(name)) {
            let known = known.into_iter().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(", ");
            self.note(line, format!("{path} has the placeholder {{{unknown}}}; allowed are [{known}]"));
        }
    }

    fn note(&mut self, line: u64, reason: String) {
        self.faults.note(&self.file, line, reason);
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Returns the names in braces.
fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0)).collect()
}
