//! The texts of alerts, by language.

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, Datelike};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::model::FloodState;
use crate::model::alerts::{Message, MessageType};

/// The longest `event`, in characters: Google shows no more.
const EVENT: usize = 34;

/// The longest headline without the names in it, in characters. With an area of 49 characters it has at most 140.
const HEADLINE: usize = 90;

/// The texts of alerts in one language: an `info` block of each message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// The language (RFC 5646), such as `id-ID`.
    pub language: String,
    /// CAP `event`, at most 34 characters.
    pub event: String,
    /// How `{time}` is written: a pattern of `strftime`, in which `{month}` is the name of the month.
    pub time: String,
    /// The names of the months.
    pub months: [String; 12],
    /// What stands before the headline and the description if the status is not `Actual`.
    pub exercise: String,
    /// The texts for state 1.
    pub(crate) unknown: Level,
    /// The texts for state 2.
    pub(crate) minor: Level,
    /// The texts for state 3.
    pub(crate) moderate: Level,
    /// The texts for state 4.
    pub(crate) severe: Level,
    /// The texts for a flood that is over.
    pub(crate) over: Over,
}

/// The texts for a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Level {
    /// How deep the water is.
    pub depth: String,
    /// CAP `headline`, at most 90 characters without the names in it.
    pub headline: Template,
    /// CAP `description`.
    pub description: Template,
    /// CAP `instruction`.
    pub instruction: String,
}

/// The texts for a flood that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Over {
    /// As [`Level::headline`].
    pub headline: Template,
    /// As [`Level::description`].
    pub description: Template,
    /// As [`Level::instruction`].
    pub instruction: String,
}

/// A text with the placeholders `{area}`, `{time}` and `{agency}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Template(String);

/// The values of the placeholders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) area: &'a str,
    pub(super) time: &'a str,
    pub(super) agency: &'a str,
}

/// The error for a text that is not a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a text with no other placeholders than {{area}}, {{time}} and {{agency}}")]
pub struct InvalidTemplate;

impl TryFrom<String> for Template {
    type Error = InvalidTemplate;

    fn try_from(text: String) -> Result<Self, InvalidTemplate> {
        let template = Self(text);
        let plain = template.filled(Names { area: "", time: "", agency: "" });
        if plain.trim().is_empty() || plain.contains(['{', '}']) {
            Err(InvalidTemplate)
        } else {
            Ok(template)
        }
    }
}

impl Template {
    /// Returns a text of the service itself, which is known to be right.
    pub(super) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the text with the names in place of the placeholders. Names may contain braces.
    pub(super) fn filled(&self, Names { area, time, agency }: Names<'_>) -> String {
        let mut text = String::new();
        let mut rest = self.0.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let known = [("area}", area), ("time}", time), ("agency}", agency)];
            let found = known.into_iter().find_map(|(key, name)| Some((after.strip_prefix(key)?, name)));
            rest = if let Some((after, name)) = found {
                text.push_str(name);
                after
            } else {
                text.push('{');
                after
            };
        }
        text + rest
    }
}

/// The texts of one message in one language, before the names are in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wording<'a> {
    /// `None` if the flood is over.
    pub(super) depth: Option<&'a str>,
    pub(super) headline: &'a Template,
    pub(super) description: &'a Template,
    pub(super) instruction: &'a str,
}

impl Texts {
    /// Returns the texts for a message.
    pub(super) fn wording(&self, message: &Message) -> Wording<'_> {
        let level = match message.state {
            FloodState::Unknown => &self.unknown,
            FloodState::Minor => &self.minor,
            FloodState::Moderate => &self.moderate,
            FloodState::Severe => &self.severe,
        };
        let Level { depth, headline, description, instruction } = level;
        let over = &self.over;
        if message.message_type == MessageType::Cancel {
            let Over { headline, description, instruction } = over;
            return Wording { depth: None, headline, description, instruction };
        }
        Wording { depth: Some(depth), headline, description, instruction }
    }

    /// Returns a moment as people write it.
    pub(super) fn time(&self, local: DateTime<Tz>) -> String {
        let month = self.months.get(local.month0() as usize).map(String::as_str).unwrap_or_default();
        local.format(&self.time).to_string().replace("{month}", month)
    }

    /// Checks the texts of all languages.
    ///
    /// # Errors
    ///
    /// The key within the list that is wrong, and what it must be.
    pub(super) fn check(all: &[Self]) -> Result<(), (String, String)> {
        if all.is_empty() {
            return Err((String::new(), "must have at least one language".to_owned()));
        }
        for (index, texts) in all.iter().enumerate() {
            let wrong = |key: &str, must: &str| Err((format!("{index}.{key}"), must.to_owned()));
            let language = &texts.language;
            let is_tag =
                |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if !language.split('-').all(is_tag) {
                return wrong("language", "must be a language such as id-ID");
            }
            if all[..index].iter().any(|other| other.language == *language) {
                return wrong("language", "is that of an earlier entry already");
            }
            if !(1..=EVENT).contains(&texts.event.chars().count()) {
                return wrong("event", "must have 1 to 34 characters");
            }
            if StrftimeItems::new(&texts.time).any(|item| item == Item::Error) {
                return wrong("time", "must be a pattern of strftime such as %-d {month} %Y, %H.%M %Z");
            }
            for (key, headline, instruction) in texts.all() {
                let bare = headline.filled(Names { area: "", time: "", agency: "" });
                if bare.chars().count() > HEADLINE
                    || headline.0.contains("{time}")
                    || headline.0.contains("{agency}")
                {
                    return wrong(
                        &format!("{key}.headline"),
                        "must have at most 90 characters, and no placeholder but {area}",
                    );
                }
                if instruction.trim().is_empty() {
                    return wrong(&format!("{key}.instruction"), "must be a text");
                }
            }
        }
        Ok(())
    }

    /// Returns the key, the headline and the instruction of each kind of message.
    fn all(&self) -> [(&'static str, &Template, &str); 5] {
        let Self { unknown, minor, moderate, severe, over, .. } = self;
        [
            ("unknown", &unknown.headline, &unknown.instruction),
            ("minor", &minor.headline, &minor.instruction),
            ("moderate", &moderate.headline, &moderate.instruction),
            ("severe", &severe.headline, &severe.instruction),
            ("over", &over.headline, &over.instruction),
        ]
    }
}
