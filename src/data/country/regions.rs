//! Reads `regions.csv`.

use std::collections::HashSet;

use csv::Position;

use super::CountryDiagnostics;
use super::files::{Files, built_in};
use crate::model::{Regions, is_name};

const FILE: &str = "regions.csv";
const COLUMNS: [&str; 4] = ["kind", "code", "mapped", "name"];

const MAX_REGIONS: usize = 10_000;

/// Reads the file. Returns `None` only after a fault was recorded.
pub(super) fn read(files: &Files, diagnostics: &mut CountryDiagnostics) -> Option<Regions> {
    let text = files.text(FILE, diagnostics)?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map(|header| header.iter().eq(COLUMNS));
    if !matches!(header, Ok(true)) {
        diagnostics.note(FILE, Some(1), format!("the first line must be {}", COLUMNS.join(",")));
        return None;
    }
    let (mut cities, mut provinces, mut mapped) = (Vec::new(), Vec::new(), Vec::new());
    let mut codes = HashSet::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                diagnostics.note(FILE, error.position().map(Position::line), "must have 4 fields");
                continue;
            }
        };
        let [kind, code, is_mapped, name] = [0, 1, 2, 3].map(|index| record.get(index).unwrap_or_default());
        let mut check = |is_right: bool, reason: &str| {
            if !is_right {
                diagnostics.note(FILE, record.position().map(Position::line), reason);
            }
        };
        let is_code = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_right = (1..=16).contains(&code.len()) && code.bytes().all(is_code);
        check(is_right, "code must be 1 to 16 letters, digits and -");
        check(codes.insert(code.to_owned()), &format!("the code {code} occurs twice"));
        check(is_name(name), "name must be a text of 1 to 255 characters");
        check(matches!(is_mapped, "yes" | "no"), &format!("mapped must be yes or no, not {is_mapped:?}"));
        let reason = format!("kind must be city or province, not {kind:?}");
        check(matches!(kind, "city" | "province"), &reason);
        if kind == "city" {
            cities.push(code.to_owned());
        } else {
            provinces.push(code.to_owned());
            mapped.extend((is_mapped == "yes").then(|| code.to_owned()));
        }
    }
    if codes.len() > MAX_REGIONS {
        diagnostics.note(FILE, None, format!("there are more than {MAX_REGIONS} regions"));
    }
    Some(Regions { cities, provinces, mapped, configured: Vec::new() })
}

impl Default for Regions {
    fn default() -> Self {
        built_in(read)
    }
}
