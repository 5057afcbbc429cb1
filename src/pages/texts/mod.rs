//! The texts of the pages for people, in Indonesian and English. A page has an object of its own in each language.

use chrono::Datelike;
use chrono_tz::Tz;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::guards::Language;
use crate::model::Timestamp;

/// The texts in one language.
#[derive(Debug, Deserialize)]
pub(super) struct Texts {
    /// How a time is written: a pattern of `strftime`, in which `{month}` is the name of the month.
    time: String,
    months: [String; 12],
    /// The texts of the pages, and those that they share.
    #[serde(flatten)]
    pub(super) pages: Map<String, Value>,
}

impl Texts {
    /// Returns the texts in a language. Costs some microseconds.
    ///
    /// # Errors
    ///
    /// If the file that is part of the program cannot be read.
    pub(super) fn of(language: Language) -> serde_json::Result<Self> {
        serde_json::from_str(match language {
            Language::Indonesian => include_str!("id.json"),
            Language::English => include_str!("en.json"),
        })
    }

    /// Writes a moment for people, in the time of a place.
    pub(super) fn moment(&self, moment: Timestamp, zone: Tz) -> String {
        let local = moment.to_utc().with_timezone(&zone);
        let month = self.months.get(local.month0() as usize).map_or("", String::as_str);
        local.format(&self.time).to_string().replace("{month}", month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths of all texts.
    fn paths(value: &Value, path: &str) -> Vec<String> {
        match value {
            Value::Object(members) => {
                members.iter().flat_map(|(name, value)| paths(value, &format!("{path}.{name}"))).collect()
            }
            Value::String(text) if !text.trim().is_empty() => vec![path.to_owned()],
            other => panic!("{path}: {other}"),
        }
    }

    #[test]
    fn both_languages_have_the_same_texts() {
        let [indonesian, english] = [Language::Indonesian, Language::English].map(|language| {
            let Texts { pages, .. } = Texts::of(language).unwrap();
            paths(&pages.into(), "")
        });
        assert_eq!(indonesian, english);
        assert!(english.len() > 20);
    }

    #[test]
    fn a_moment_is_written_in_local_time() {
        let moment = Timestamp::parse("2016-12-31T18:05:52.274Z").unwrap();
        for (language, expected) in [
            (Language::Indonesian, "1 Januari 2017 pukul 01.05 WIB"),
            (Language::English, "1 January 2017, 01:05 WIB"),
        ] {
            assert_eq!(Texts::of(language).unwrap().moment(moment, Tz::Asia__Jakarta), expected);
        }
    }
}
