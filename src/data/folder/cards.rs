use serde_json::value::RawValue;

use super::csv_file::{self, record};
use super::unique::Unique;
use super::{CsvWriter, Folder, FolderFile, FolderRow, FolderRules, FolderWriter, WriteError};
use crate::data::folder::DatasetError;
use crate::model::bodies::{Object, check_storable};
use crate::model::{Card, CardHolder, ReportKey, digits, without_zero_fraction};

record!(Line { card_id, pkey, username, network, language, network_data, report });

impl Folder {
    /// Reads the cards. Fails on duplicate identifiers or numbers. `each` must check that the reports of cards exist.
    pub fn cards<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<Card>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut ids, mut pkeys) = (Unique::new("card_id"), Unique::new("pkey"));
        let make = |row, line| {
            let card = card(row, &self.rules)?;
            ids.add(card.id.clone(), line)?;
            pkeys.add(card.pkey, line)?;
            Ok(card)
        };
        csv_file::read(self, FolderFile::Cards, make, each)
    }
}

fn card(row: Line, rules: &FolderRules) -> Result<Card, String> {
    let id = rules.card_id(&row.card_id)?;
    let holder = CardHolder {
        username: csv_file::text("username", row.username)?,
        network: csv_file::text("network", row.network)?,
        language: csv_file::text("language", row.language)?,
        network_data: network_data(&row.network_data)?,
    };
    let report = match row.report.trim() {
        "" => None,
        key => Some(csv_file::parse("report", key).map_err(|reason| format!("{reason} or empty"))?),
    };
    Ok(Card { pkey: pkey(row.pkey.trim())?, id, holder, report, created_at: None })
}

/// Parses the number of a card, which must fit into a signed 64-bit database column.
fn pkey(text: &str) -> Result<u64, String> {
    const ALLOWED: std::ops::RangeInclusive<u64> = 1..=ReportKey::MAX;
    let number = digits(without_zero_fraction(text)).filter(|number| ALLOWED.contains(number));
    number.ok_or_else(|| format!("pkey must be a whole number from 1 to {}", ReportKey::MAX))
}

fn network_data(text: &str) -> Result<Option<Box<RawValue>>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let invalid = |error| format!("network_data must be a JSON object or empty: {error}");
    let object: Object = serde_json::from_str(text).map_err(invalid)?;
    check_storable(&object).map_err(|unkeepable| format!("network_data {unkeepable}"))?;
    serde_json::from_str(text).map(Some).map_err(invalid)
}

impl FolderWriter {
    /// Starts writing `cards.csv`.
    pub fn cards(&self) -> Result<CsvWriter<Card>, WriteError> {
        self.rows::<_, Line>(FolderFile::Cards)
    }
}

impl CsvWriter<Card> {
    /// Writes the next card.
    pub fn write(&mut self, card: &Card) -> Result<(), WriteError> {
        let CardHolder { username, network, language, network_data } = &card.holder;
        let data = network_data.as_deref().map_or("", RawValue::get);
        let report = card.report.map_or_else(String::new, |report| report.to_string());
        self.record(&[card.id.as_str(), &card.pkey.to_string(), username, network, language, data, &report])
    }
}
