use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;

use serde::de::DeserializeOwned;

use super::CountryDiagnostics;

/// The maximum size of a file in bytes.
const MAX_BYTES: u64 = 1 << 20;

const BUILT_IN: [(&str, &str); 5] = [
    ("country.toml", include_str!("../../../country/id/country.toml")),
    ("hazards.toml", include_str!("../../../country/id/hazards.toml")),
    ("regions.csv", include_str!("../../../country/id/regions.csv")),
    ("texts/id.json", include_str!("../../../country/id/texts/id.json")),
    ("texts/en.json", include_str!("../../../country/id/texts/en.json")),
];

#[derive(Debug)]
pub(super) enum Files {
    BuiltIn,
    Folder(PathBuf),
}

impl Files {
    /// Returns the text of a file, and records a fault if it cannot be read.
    pub(super) fn text(&self, name: &str, diagnostics: &mut CountryDiagnostics) -> Option<Cow<'static, str>> {
        let text = self.read(name);
        if let Err(error) = &text {
            let reason = match error.kind() {
                io::ErrorKind::NotFound => "the file is missing".to_owned(),
                io::ErrorKind::InvalidData => "the file is not UTF-8".to_owned(),
                _ => format!("the file cannot be read: {error}"),
            };
            diagnostics.note(name, None, reason);
        }
        text.ok()
    }

    fn read(&self, name: &str) -> io::Result<Cow<'static, str>> {
        let Self::Folder(folder) = self else {
            let file = BUILT_IN.iter().find(|(known, _)| *known == name);
            return file.map(|(_, text)| Cow::Borrowed(*text)).ok_or_else(|| io::ErrorKind::NotFound.into());
        };
        let mut text = String::new();
        File::open(folder.join(name))?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
        }
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        Ok(Cow::Owned(text))
    }

    /// Parses a TOML file, whose entries the caller must check. Records a fault if the file is malformed.
    pub(super) fn toml<'f, T: DeserializeOwned>(
        &self,
        file: &'static str,
        diagnostics: &'f mut CountryDiagnostics,
    ) -> Option<(T, Toml<'f>)> {
        let text = self.text(file, diagnostics)?;
        let read = toml::from_str(&text);
        let mut toml = Toml { file, text, diagnostics };
        match read {
            Ok(value) => Some((value, toml)),
            Err(error) => {
                toml.note(error.span().unwrap_or_default(), error.message());
                None
            }
        }
    }

    /// Records a fault for each file in a subfolder that is not in `known`. Ignores hidden files.
    pub(super) fn note_unknown(
        &self,
        subfolder: &str,
        known: &[String],
        reason: &str,
        diagnostics: &mut CountryDiagnostics,
    ) {
        let Self::Folder(folder) = self else { return };
        let entries = fs::read_dir(folder.join(subfolder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        for name in names.filter(|name| !name.starts_with('.') && !known.contains(name)) {
            diagnostics.note(&format!("{subfolder}{name}"), None, reason);
        }
    }
}

/// Reads from the built-in country. Cannot fail, because a test checks that the built-in country is valid.
pub(super) fn built_in<T>(read: impl FnOnce(&Files, &mut CountryDiagnostics) -> Option<T>) -> T {
    let mut diagnostics = CountryDiagnostics::default();
    read(&Files::BuiltIn, &mut diagnostics)
        .unwrap_or_else(|| unreachable!("the country that is part of the program: {diagnostics:?}"))
}

pub(super) struct Toml<'f> {
    file: &'static str,
    text: Cow<'static, str>,
    diagnostics: &'f mut CountryDiagnostics,
}

impl Toml<'_> {
    /// Records a fault on the line where the span begins.
    pub(super) fn note(&mut self, span: Range<usize>, reason: impl fmt::Display) {
        let before = self.text.get(..span.start).unwrap_or_default();
        self.diagnostics.note(self.file, Some(1 + before.matches('\n').count() as u64), reason);
    }

    pub(super) fn check(&mut self, is_right: bool, span: Range<usize>, reason: impl fmt::Display) {
        if !is_right {
            self.note(span, reason);
        }
    }
}
