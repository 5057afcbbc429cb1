//! What distinguishes a country: the languages and texts of its pages, from a folder.
//!
//! | file | content |
//! |---|---|
//! | `country.toml` | the languages, the country's own first |
//! | `hazards.toml` | what reports are about: disasters, types of reports, attributes |
//! | `regions.csv` | cities and provinces by which requests can select |
//! | `texts/<language>.json` | the texts of pages and alerts, in groups |
//!
//! The folder `country/id` is part of the program, and used unless `country.folder` names another. It is also the reference: it
//! defines which texts there are.

mod fault;
mod files;
mod hazards;
mod messages;
mod regions;
mod settings;
mod texts;
mod tree;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chrono_tz::Tz;
use serde::Deserialize;
use toml::Spanned;

pub(crate) use self::fault::CountryFault;
use self::fault::Faults;
use self::files::{Files, line_of};
pub(crate) use self::settings::CountrySettings;
use self::texts::Reference;
pub(crate) use self::texts::Texts;

use crate::model::{Hazards, Regions};

/// The most languages that a country may have.
const MOST_LANGUAGES: usize = 20;

/// Codes of languages that others have replaced, and those (BCP 47). Old phones still write them.
const OLD_CODES: [(&str, &str); 5] = [("in", "id"), ("iw", "he"), ("ji", "yi"), ("jw", "jv"), ("mo", "ro")];

/// What a folder holds.
const FILES: [&str; 4] = ["country.toml", "hazards.toml", "regions.csv", "texts"];

/// What distinguishes a country.
#[derive(Clone, Debug)]
pub(crate) struct Country {
    /// At least one; the country's own comes first.
    languages: Vec<Arc<Texts>>,
    /// Further codes of these languages, in lower case.
    aliases: BTreeMap<String, String>,
    time_zone: Tz,
    emergency: Option<String>,
    hazards: Hazards,
    regions: Regions,
}

/// `country.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct General {
    languages: Vec<Spanned<String>>,
    #[serde(default)]
    aliases: BTreeMap<String, Spanned<String>>,
    time_zone: Spanned<String>,
    emergency: Option<Spanned<String>>,
}

impl Country {
    /// Returns the country that is part of the program. Costs about a millisecond.
    ///
    /// # Panics
    ///
    /// If its files are wrong, which a test excludes.
    pub(crate) fn built_in() -> Self {
        match Self::of(&Files::BuiltIn) {
            Ok(country) => country,
            Err(faults) => unreachable!("the country that is part of the program: {faults:?}"),
        }
    }

    /// Reads a folder.
    ///
    /// # Errors
    ///
    /// Every wrong, missing and unknown entry, by file and line.
    pub(crate) fn read(folder: &Path) -> Result<Self, Vec<CountryFault>> {
        Self::of(&Files::Folder(folder.to_owned()))
    }

    fn of(files: &Files) -> Result<Self, Vec<CountryFault>> {
        let mut faults = Faults::default();
        let country = Self::noting(files, &mut faults);
        match country {
            Some(country) if faults.is_empty() => Ok(country),
            _ => Err(faults.into_sorted()),
        }
    }

    /// Reads the files. Returns `None` only after a fault was noted.
    fn noting(files: &Files, faults: &mut Faults) -> Option<Self> {
        let (General { languages, aliases, time_zone, emergency }, text) =
            files.toml("country.toml", faults)?;
        let zone = time_zone.get_ref().parse().map_err(|_| {
            let must = "time_zone must be a time zone of the IANA's such as Asia/Jakarta";
            faults.note("country.toml", line_of(&text, time_zone.span().start), must);
        });
        if let Some(number) = emergency.as_ref().filter(|number| !is_number(number.get_ref())) {
            let must = "emergency must be a number of 2 to 15 digits";
            faults.note("country.toml", line_of(&text, number.span().start), must);
        }
        let codes = languages.iter().map(|code| code.get_ref().as_str());
        let (regions, hazards) = (regions::read(files, faults), hazards::read(files, faults));
        let (regions, hazards) = (regions?, hazards?);
        if !faults.is_empty() {
            // The texts follow the hazards.
            return None;
        }
        let reference = Reference::with(&hazards, faults)?;
        if languages.is_empty() || languages.len() > MOST_LANGUAGES {
            let must = format!("languages must have 1 to {MOST_LANGUAGES} languages such as \"en\"");
            faults.note("country.toml", 1, must);
        }
        for (index, code) in languages.iter().enumerate() {
            let (line, code) = (line_of(&text, code.span().start), code.get_ref());
            if !is_language(code) {
                faults.note("country.toml", line, format!("{code:?} must be a language such as \"en\""));
                return None;
            }
            if languages[..index].iter().any(|other| other.get_ref() == code) {
                faults.note("country.toml", line, format!("{code:?} occurs twice"));
            }
        }
        for (alias, code) in &aliases {
            let is_own = |code: &str| languages.iter().any(|own| own.get_ref() == code);
            if !is_language(alias) || is_own(alias) || !is_own(code.get_ref()) {
                let must = "must be another code of one of the languages, such as fil = \"tl\"";
                faults.note(
                    "country.toml",
                    line_of(&text, code.span().start),
                    format!("aliases.{alias} {must}"),
                );
            }
        }
        for name in files.strangers("", &FILES.map(str::to_owned)) {
            faults.note(
                &name,
                1,
                "is not a file that Siaga reads from the folder of a country: rename or remove it",
            );
        }
        let texts: Vec<_> = codes.clone().map(|code| format!("{code}.json")).collect();
        for name in files.strangers("texts", &texts) {
            faults.note(&format!("texts/{name}"), 1, "is not a language of country.toml");
        }
        let mut read: Vec<Arc<Texts>> = Vec::new();
        for code in codes {
            let first = read.first().map(Arc::as_ref);
            let texts = Texts::read(code, files, &reference, first, faults)?;
            read.push(Arc::new(texts));
        }
        let emergency = emergency.map(Spanned::into_inner);
        let aliases = aliases.into_iter().map(|(alias, code)| (alias, code.into_inner())).collect();
        (!read.is_empty()).then_some(Self {
            languages: read,
            aliases,
            time_zone: zone.ok()?,
            emergency,
            hazards,
            regions,
        })
    }

    /// Returns what reports are about.
    pub(crate) fn hazards(&self) -> &Hazards {
        &self.hazards
    }

    /// Returns the cities and provinces by which requests can select.
    pub(crate) fn regions(&self) -> &Regions {
        &self.regions
    }

    /// Returns the time zone of times for people.
    pub(crate) fn time_zone(&self) -> Tz {
        self.time_zone
    }

    /// Returns the number for emergencies.
    pub(crate) fn emergency(&self) -> Option<&str> {
        self.emergency.as_deref()
    }

    /// Returns the texts in each language, the country's own first.
    pub(crate) fn languages(&self) -> &[Arc<Texts>] {
        &self.languages
    }

    /// Returns the texts in a language as phones and networks name it: `id`, `ID`, `id-ID`, `id_ID`, by an old code such as
    /// `in`, or by an alias of the country; `None` if the country does not have it.
    pub(crate) fn language(&self, tag: &str) -> Option<&Arc<Texts>> {
        let code = tag.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let own = |code: &str| self.languages.iter().find(|texts| texts.code() == code);
        let alias = || own(self.aliases.get(&code)?);
        let old = || own(OLD_CODES.iter().find(|(old, _)| *old == code)?.1);
        own(&code).or_else(alias).or_else(old)
    }

    /// Returns the texts in the country's own language.
    pub(crate) fn main(&self) -> &Arc<Texts> {
        &self.languages[0]
    }
}

/// Returns whether a text is the number of a telephone, as people dial it.
fn is_number(text: &str) -> bool {
    (2..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a text is the code of a language, without a region: two to eight lower-case letters.
fn is_language(text: &str) -> bool {
    (2..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_country_that_is_part_of_the_program_has_no_faults() {
        let country = Country::built_in();
        let codes: Vec<_> = country.languages().iter().map(|texts| texts.code()).collect();
        assert_eq!(codes, ["id", "en"]);
        // Each of its languages has all texts.
        for code in codes {
            let mut faults = Faults::default();
            let reference = Reference::with(country.hazards(), &mut faults).unwrap();
            Texts::read(code, &Files::BuiltIn, &reference, None, &mut faults);
            assert_eq!(faults.into_sorted(), [], "{code}");
        }
    }

    #[test]
    fn a_language_is_found_by_any_code_that_phones_and_networks_write() {
        let country = Country::built_in();
        let code = |tag: &str| country.language(tag).map(|texts| texts.code().to_owned());
        for tag in ["id", "ID", "id-ID", "id_ID", "id-Latn-ID", "in", "in-ID", "in_ID", "IN", " in "] {
            assert_eq!(code(tag).as_deref(), Some("id"), "{tag}");
        }
        for tag in ["en", "en-US", "en_GB", "EN"] {
            assert_eq!(code(tag).as_deref(), Some("en"), "{tag}");
        }
        for tag in ["", "-", "i", "idn", "ms", "tl", "fil", "iw", "indo", "inn", "ind"] {
            assert_eq!(code(tag), None, "{tag}");
        }
    }

    #[test]
    fn a_moment_is_written_in_local_time() {
        let moment = crate::model::Timestamp::parse("2016-12-31T18:05:52.274Z").unwrap();
        let country = Country::built_in();
        let written = country.languages().iter().map(|texts| texts.moment(moment, Tz::Asia__Jakarta));
        assert!(written.eq(["1 Januari 2017 pukul 01.05 WIB", "1 January 2017, 01:05 WIB"]));
    }
}
