//! `regions.csv`.

use std::collections::HashSet;

use csv::StringRecord;

use super::Faults;
use super::files::Files;
use crate::model::{Regions, is_name};

const FILE: &str = "regions.csv";
const COLUMNS: [&str; 4] = ["kind", "code", "mapped", "name"];

/// The most regions.
const MOST: usize = 10_000;

/// Reads the regions. Returns `None` only after a fault was noted.
pub(super) fn read(files: &Files, faults: &mut Faults) -> Option<Regions> {
    let text = files.text(FILE, faults)?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map(|header| header.iter().eq(COLUMNS));
    if !matches!(header, Ok(true)) {
        faults.note(FILE, 1, format!("the first line must be {}", COLUMNS.join(",")));
        return None;
    }
    let (mut cities, mut provinces, mut mapped) = (Vec::new(), Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                faults.note(FILE, line, "must have 4 fields");
                continue;
            }
        };
        let line = record.position().map_or(1, csv::Position::line);
        let [kind, code, is_mapped, name] = fields(&record);
        let is_code = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !(1..=16).contains(&code.len()) || !code.bytes().all(is_code) {
            faults.note(FILE, line, "code must be 1 to 16 letters, digits and -");
        }
        if !known.insert(code.to_owned()) {
            faults.note(FILE, line, format!("the code {code} occurs twice"));
        }
        if !is_name(name) {
            faults.note(FILE, line, "name must be a text of 1 to 255 characters");
        }
        if !matches!(is_mapped, "yes" | "no") {
            faults.note(FILE, line, format!("mapped must be yes or no, not {is_mapped:?}"));
        }
        match kind {
            "city" => cities.push(code.to_owned()),
            "province" => {
                provinces.push(code.to_owned());
                mapped.extend((is_mapped == "yes").then(|| code.to_owned()));
            }
            _ => faults.note(FILE, line, format!("kind must be city or province, not {kind:?}")),
        }
        if known.len() > MOST {
            faults.note(FILE, line, format!("there are more than {MOST} regions"));
            return None;
        }
    }
    Some(Regions { cities, provinces, mapped, configured: Vec::new() })
}

fn fields(record: &StringRecord) -> [&str; 4] {
    [0, 1, 2, 3].map(|index| record.get(index).unwrap_or_default())
}

impl Default for Regions {
    /// Returns those of Indonesia.
    fn default() -> Self {
        let mut faults = Faults::default();
        read(&Files::BuiltIn, &mut faults)
            .unwrap_or_else(|| unreachable!("the regions of the program: {faults:?}"))
    }
}
