//! Country-specific data: the languages and texts of pages, hazards and regions, from a folder.
//!
//! | file | content |
//! |---|---|
//! | `country.toml` | the languages, the country's own first |
//! | `hazards.toml` | the topics of reports: disasters, types of reports, attributes |
//! | `regions.csv` | the cities and provinces that requests can select |
//! | `texts/<language>.json` | the texts of pages and alerts, in groups |
//!
//! The folder `country/id` is compiled in, and used unless `country.folder` is set. Its texts define the texts of all languages.

mod diagnostics;
mod files;
mod hazards;
mod messages;
mod regions;
mod settings;
mod translations;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chrono_tz::Tz;
use serde::Deserialize;
use toml::Spanned;

use self::diagnostics::CountryDiagnostics;
use self::files::{Files, Toml, built_in};
pub(crate) use self::settings::CountrySettings;
pub(crate) use self::translations::Translations;

use crate::model::{Hazards, Regions};

const MAX_LANGUAGES: usize = 20;

/// Deprecated language codes and their replacements (BCP 47). Old phones still send the deprecated codes.
const OLD_CODES: [(&str, &str); 5] = [("in", "id"), ("iw", "he"), ("ji", "yi"), ("jw", "jv"), ("mo", "ro")];

/// The files and subfolders of a country's folder.
const FILES: [&str; 4] = ["country.toml", "hazards.toml", "regions.csv", "texts"];

#[derive(Clone, Debug)]
pub(crate) struct Country {
    /// At least one. The country's own language is first.
    languages: Vec<Arc<Translations>>,
    /// Further codes, in lower case, with the code of the language.
    aliases: BTreeMap<String, String>,
    abbreviations: BTreeMap<String, String>,
    time_zone: Tz,
    emergency: Option<String>,
    hazards: Hazards,
    regions: Regions,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct General {
    languages: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    aliases: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    abbreviations: BTreeMap<String, Spanned<String>>,
    time_zone: Spanned<String>,
    emergency: Option<Spanned<String>>,
}

impl General {
    fn check(&self, toml: &mut Toml<'_>) -> Option<Tz> {
        let zone = self.time_zone.get_ref().parse().ok();
        let reason = "time_zone must be a time zone of the IANA's such as Asia/Jakarta";
        toml.check(zone.is_some(), self.time_zone.span(), reason);
        if let Some(number) = &self.emergency {
            let reason = "emergency must be a number of 2 to 15 digits";
            toml.check(is_number(number.get_ref()), number.span(), reason);
        }
        let languages = self.languages.get_ref();
        let is_right = (1..=MAX_LANGUAGES).contains(&languages.len());
        let reason = format!("languages must have 1 to {MAX_LANGUAGES} languages such as \"en\"");
        toml.check(is_right, self.languages.span(), reason);
        for (index, language) in languages.iter().enumerate() {
            let (code, is_new) = (language.get_ref(), !languages[..index].contains(language));
            toml.check(
                is_language(code),
                language.span(),
                format!("{code:?} must be a language such as \"en\""),
            );
            toml.check(is_new, language.span(), format!("{code:?} occurs twice"));
        }
        for (alias, code) in &self.aliases {
            let is_own = languages.iter().any(|own| own.get_ref() == alias);
            let is_right = is_language(alias) && !is_own && languages.contains(code);
            let reason = "must be another code of one of the languages, such as fil = \"tl\"";
            toml.check(is_right, code.span(), format!("aliases.{alias} {reason}"));
        }
        for (word, full) in &self.abbreviations {
            let is_word = |text: &str| text.chars().all(|char| char.is_alphabetic() && !char.is_uppercase());
            let is_right =
                (1..=20).contains(&word.len()) && is_word(word) && full.get_ref().split(' ').all(is_word);
            let reason = "must be lower-case letters, such as kp = \"kampung\"";
            toml.check(is_right, full.span(), format!("abbreviations.{word} {reason}"));
        }
        zone
    }
}

impl Country {
    /// Returns the built-in country. Costs about a millisecond.
    pub(crate) fn built_in() -> Self {
        built_in(Self::read_files)
    }

    pub(crate) fn read(folder: &Path) -> Result<Self, Vec<String>> {
        let mut diagnostics = CountryDiagnostics::default();
        match Self::read_files(&Files::Folder(folder.to_owned()), &mut diagnostics) {
            Some(country) if diagnostics.count() == 0 => Ok(country),
            _ => Err(diagnostics.into_sorted()),
        }
    }

    /// Reads the files of the folder. The result is valid only if no fault was recorded.
    fn read_files(files: &Files, diagnostics: &mut CountryDiagnostics) -> Option<Self> {
        let (general, mut toml) = files.toml::<General>("country.toml", diagnostics)?;
        let time_zone = general.check(&mut toml);
        let codes = general.languages.into_inner().into_iter().map(Spanned::into_inner);
        let codes: Vec<String> = codes.filter(|code| is_language(code)).collect();
        let reason = "is not a file that Siaga reads from the folder of a country: rename or remove it";
        files.note_unknown("", &FILES.map(str::to_owned), reason, diagnostics);
        let texts: Vec<_> = codes.iter().map(|code| format!("{code}.json")).collect();
        files.note_unknown("texts/", &texts, "is not a language of country.toml", diagnostics);
        let regions = regions::read(files, diagnostics);
        let before = diagnostics.count();
        // Checks texts only if the hazards have no faults, because the required texts depend on the hazards.
        let hazards = hazards::read(files, diagnostics).filter(|_| diagnostics.count() == before)?;
        let reference = translations::reference(&hazards, diagnostics)?;
        let mut languages: Vec<Arc<Translations>> = Vec::new();
        for code in codes {
            let first = languages.first().map(Arc::as_ref);
            languages.push(Arc::new(Translations::read(&code, files, &reference, first, diagnostics)?));
        }
        let (time_zone, regions) = (time_zone?, regions?);
        let aliases = general.aliases.into_iter().map(|(alias, code)| (alias, code.into_inner())).collect();
        let abbreviations =
            general.abbreviations.into_iter().map(|(word, full)| (word, full.into_inner())).collect();
        let emergency = general.emergency.map(Spanned::into_inner);
        Some(Self { languages, aliases, abbreviations, time_zone, emergency, hazards, regions })
    }

    /// Returns the abbreviations in names that people search for, and what they stand for: empty for words such as "kelurahan", which
    /// are in no name.
    pub(crate) fn abbreviations(&self) -> &BTreeMap<String, String> {
        &self.abbreviations
    }

    pub(crate) fn hazards(&self) -> &Hazards {
        &self.hazards
    }

    pub(crate) fn regions(&self) -> &Regions {
        &self.regions
    }

    pub(crate) fn time_zone(&self) -> Tz {
        self.time_zone
    }

    pub(crate) fn emergency(&self) -> Option<&str> {
        self.emergency.as_deref()
    }

    /// Returns all languages. The country's own language is first.
    pub(crate) fn languages(&self) -> &[Arc<Translations>] {
        &self.languages
    }

    /// Finds a language by a tag from a phone or network: `id`, `id-ID`, `id_ID`, a deprecated code such as `in`, or an alias.
    pub(crate) fn language(&self, tag: &str) -> Option<&Arc<Translations>> {
        let code = tag.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let find = |code: &str| self.languages.iter().find(|texts| texts.code() == code);
        let by_alias = || find(self.aliases.get(&code)?);
        let by_old_code = || find(OLD_CODES.iter().find(|(old, _)| *old == code)?.1);
        find(&code).or_else(by_alias).or_else(by_old_code)
    }

    /// Returns the country's own language.
    pub(crate) fn main(&self) -> &Arc<Translations> {
        &self.languages[0]
    }
}

fn is_number(text: &str) -> bool {
    (2..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is the code of a language without a region: two to eight lower-case letters.
fn is_language(text: &str) -> bool {
    (2..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_built_in_country_has_no_faults() {
        let mut diagnostics = CountryDiagnostics::default();
        let country = Country::read_files(&Files::BuiltIn, &mut diagnostics).unwrap();
        let codes: Vec<_> = country.languages().iter().map(|texts| texts.code()).collect();
        assert_eq!(codes, ["id", "en"]);
        let reference = translations::reference(country.hazards(), &mut diagnostics).unwrap();
        for code in codes {
            Translations::read(code, &Files::BuiltIn, &reference, None, &mut diagnostics);
        }
        assert!(diagnostics.count() == 0, "{diagnostics:?}");
    }

    #[test]
    fn the_german_texts_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("texts")).unwrap();
        for file in ["id/hazards.toml", "id/regions.csv", "id/texts/en.json", "de/texts/de.json"] {
            let (_, to) = file.split_once('/').unwrap();
            fs::copy(Path::new("country").join(file), folder.path().join(to)).unwrap();
        }
        let settings = fs::read_to_string("country/id/country.toml").unwrap();
        let settings = settings.replace("[\"id\", \"en\"]", "[\"de\", \"en\"]");
        fs::write(folder.path().join("country.toml"), settings).unwrap();
        let country = Country::read(folder.path()).unwrap();
        assert_eq!(country.main().code(), "de");
    }

    #[test]
    fn a_language_is_found_by_all_tags_of_phones_and_networks() {
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
