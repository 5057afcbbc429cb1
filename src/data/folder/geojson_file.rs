use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::feature::Feature;
use super::notes::FileNotes;
use super::source::Source;
use super::{Folder, FolderFile, FolderRow};
use crate::data::folder::DatasetError;

const COLLECTION: &str = "FeatureCollection";

/// Reads each feature of the file in order, converts it with `make` and passes it to `each`. Does nothing if there is no file.
///
/// `make` returns an error with the reason if the feature is wrong; the returned error also names the feature. Notes properties
/// that `make` does not read. Keeps one feature at a time in memory.
pub(super) fn read<T, E: From<DatasetError>>(
    folder: &Folder,
    file: FolderFile,
    mut make: impl FnMut(&Feature<'_>) -> Result<T, String>,
    mut each: impl FnMut(FolderRow<T>) -> Result<(), E>,
) -> Result<(), E> {
    let Some(source) = folder.source(file)? else { return Ok(()) };
    let line = Cell::new(1);
    let notes = RefCell::new(FileNotes::default());
    let mut number = 0;
    let take = |item: Item<'_>| {
        let (line, raw) = match item {
            Item::Type(kind) if kind != COLLECTION => {
                let reason = format!("type must be {COLLECTION}, not {kind:?}");
                return Ok(folder.skip_fault(folder.fault(file, 1, reason))?);
            }
            Item::Type(_) => return Ok(()),
            Item::Feature(line, raw) => (line, raw),
        };
        number += 1;
        let fault = |label: String, reason: String| folder.fault(file, line, format!("{label}: {reason}"));
        let feature = match Feature::read(line, number, raw, &notes, folder.repair) {
            Ok(feature) => feature,
            Err(reason) => return Ok(folder.skip_fault(fault(format!("feature {number}"), reason))?),
        };
        match make(&feature) {
            Ok(value) => {
                feature.note_unread();
                each(FolderRow { line, value })
            }
            Err(reason) => Ok(folder.skip_fault(fault(feature.label(file.identifier()), reason))?),
        }
    };
    let mut json = serde_json::Deserializer::from_reader(LineCounter { source, line: &line });
    let mut items = Items { take, error: None, line: &line };
    let read = json.deserialize_map(&mut items).and_then(|()| json.end());
    match (items.error, read) {
        (Some(stopped), _) => Err(stopped),
        (None, Ok(())) => {
            folder.note(file, notes.into_inner());
            Ok(())
        }
        (None, Err(error)) if error.is_io() => Err(folder.unreadable(file, error.into()).into()),
        (None, Err(error)) => {
            let reason = error.to_string();
            Ok(folder.skip_fault(folder.fault(file, (error.line() as u64).max(1), reason))?)
        }
    }
}

enum Item<'a> {
    Type(&'a str),
    /// The first line of a feature, and its text. The text is parsed later, so that a fault can be reported with this line.
    Feature(u64, &'a RawValue),
}

/// Passes the items of a feature collection to `take` in the order of the file.
struct Items<'l, F, E> {
    take: F,
    /// The error of `take`. It is stored here because an error of the parser can contain only text.
    error: Option<E>,
    line: &'l Cell<u64>,
}

impl<F: FnMut(Item<'_>) -> Result<(), E>, E> Items<'_, F, E> {
    fn take<D: Error>(&mut self, item: Item<'_>) -> Result<(), D> {
        (self.take)(item).map_err(|error| {
            self.error = Some(error);
            D::custom("stopped")
        })
    }
}

impl<'de, F: FnMut(Item<'_>) -> Result<(), E>, E> Visitor<'de> for &mut Items<'_, F, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {COLLECTION}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut kind, mut features) = (false, false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "type" if kind => return Err(A::Error::duplicate_field("type")),
                "type" => {
                    kind = true;
                    let name: String = map.next_value()?;
                    self.take(Item::Type(&name))?;
                }
                "features" if features => return Err(A::Error::duplicate_field("features")),
                "features" => {
                    features = true;
                    map.next_value_seed(Features(&mut *self))?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match (kind, features) {
            (false, _) => Err(A::Error::missing_field("type")),
            (true, false) => Err(A::Error::missing_field("features")),
            (true, true) => Ok(()),
        }
    }
}

struct Features<'i, 'l, F, E>(&'i mut Items<'l, F, E>);

impl<'de, F: FnMut(Item<'_>) -> Result<(), E>, E> DeserializeSeed<'de> for Features<'_, '_, F, E> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, features: D) -> Result<(), D::Error> {
        features.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Item<'_>) -> Result<(), E>, E> Visitor<'de> for Features<'_, '_, F, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut features: A) -> Result<(), A::Error> {
        while let Some((line, raw)) = features.next_element_seed(Numbered(self.0.line))? {
            self.0.take(Item::Feature(line, &raw))?;
        }
        Ok(())
    }
}

/// Deserializes a value with the number of its first line.
struct Numbered<'l>(&'l Cell<u64>);

impl<'de> DeserializeSeed<'de> for Numbered<'_> {
    type Value = (u64, Box<RawValue>);

    fn deserialize<D: serde::Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
        // At this point, the parser has read only up to the first byte of the value.
        let line = self.0.get();
        serde::Deserialize::deserialize(value).map(|raw| (line, raw))
    }
}

/// Passes bytes to the parser one by one, and counts their lines.
struct LineCounter<'f, 'l> {
    source: Source<'f>,
    line: &'l Cell<u64>,
}

impl Read for LineCounter<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (Some(out), Some(&byte)) = (out.first_mut(), self.source.fill_buf()?.first()) else {
            return Ok(0);
        };
        *out = byte;
        self.source.consume(1);
        if byte == b'\n' {
            self.line.set(self.line.get() + 1);
        }
        Ok(1)
    }
}
