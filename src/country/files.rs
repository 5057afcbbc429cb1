use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;

use serde::de::DeserializeOwned;

use super::Faults;

/// The largest file, in bytes.
const LARGEST: u64 = 1 << 20;

/// The files of the country that is part of the program.
const BUILT_IN: [(&str, &str); 5] = [
    ("country.toml", include_str!("../../country/id/country.toml")),
    ("hazards.toml", include_str!("../../country/id/hazards.toml")),
    ("regions.csv", include_str!("../../country/id/regions.csv")),
    ("texts/id.json", include_str!("../../country/id/texts/id.json")),
    ("texts/en.json", include_str!("../../country/id/texts/en.json")),
];

/// Where the files of a country are.
#[derive(Debug)]
pub(super) enum Files {
    /// In the program.
    BuiltIn,
    /// In a folder.
    Folder(PathBuf),
}

impl Files {
    /// Returns the text of a file. Notes a fault if it cannot be read.
    pub(super) fn text(&self, name: &str, faults: &mut Faults) -> Option<Cow<'static, str>> {
        let text = self.read(name);
        if let Err(error) = &text {
            let reason = match error.kind() {
                io::ErrorKind::NotFound => "the file is missing".to_owned(),
                io::ErrorKind::InvalidData => "the file is not UTF-8".to_owned(),
                _ => format!("the file cannot be read: {error}"),
            };
            faults.note(name, 1, reason);
        }
        text.ok()
    }

    fn read(&self, name: &str) -> io::Result<Cow<'static, str>> {
        let Self::Folder(folder) = self else {
            let found = BUILT_IN.iter().find(|(known, _)| *known == name);
            return found.map(|(_, text)| Cow::Borrowed(*text)).ok_or_else(|| io::ErrorKind::NotFound.into());
        };
        let mut text = String::new();
        File::open(folder.join(name))?.take(LARGEST + 1).read_to_string(&mut text)?;
        if text.len() as u64 > LARGEST {
            return Err(io::Error::other(format!("it has more than {LARGEST} bytes")));
        }
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        Ok(Cow::Owned(text))
    }

    /// Reads a file in TOML, and returns its text as well. Notes a fault if it is wrong.
    pub(super) fn toml<T: DeserializeOwned>(
        &self,
        name: &str,
        faults: &mut Faults,
    ) -> Option<(T, Cow<'static, str>)> {
        let text = self.text(name, faults)?;
        match toml::from_str(&text) {
            Ok(value) => Some((value, text)),
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(&text, span.start));
                faults.note(name, line, error.message());
                None
            }
        }
    }

    /// Returns the names of the files in a subfolder that are not `known`.
    pub(super) fn strangers(&self, subfolder: &str, known: &[String]) -> Vec<String> {
        let Self::Folder(folder) = self else { return Vec::new() };
        let entries = fs::read_dir(folder.join(subfolder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> =
            names.filter(|name| !name.starts_with('.') && !known.contains(name)).collect();
        names.sort_unstable();
        names
    }
}

/// Returns the line of an offset in a text, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> u64 {
    1 + text.get(..offset).unwrap_or(text).matches('\n').count() as u64
}
