//! Makes a report from what a person has filled in.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::form::Filled;
use super::hazards::{card_data, field_of};
use crate::config::Config;
use crate::model::bodies::{Fault, read_card_report};
use crate::model::{AreaId, AreaSet, CardId, ReportContent, Timestamp};

/// The longest text of a report of the form, in characters.
pub(super) const LONGEST_TEXT: usize = 500;

/// Between which moments a report can have been made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) earliest: Timestamp,
    pub(super) arrival: Timestamp,
}

impl Times {
    /// Returns when the report was made: as long before its arrival as the clock of the phone says between both, so that a wrong
    /// clock does no harm.
    fn made(self, filled: &Filled) -> Timestamp {
        let time = |name| filled.get(name).and_then(|text| Timestamp::parse(text).ok());
        let age = time("sent_at").zip(time("created_at")).map_or(Duration::ZERO, |(sent, created)| {
            (sent.to_utc() - created.to_utc()).to_std().unwrap_or_default()
        });
        self.arrival.before(age).max(self.earliest).min(self.arrival)
    }
}

/// Reads the report of a card.
///
/// # Errors
///
/// The fields that are wrong.
pub(super) fn read(
    card: &CardId,
    filled: &Filled,
    times: Times,
    areas: &AreaSet,
    config: &Config,
) -> Result<ReportContent, Vec<String>> {
    let disaster = filled.get("disaster").unwrap_or_default();
    let mut body = Map::new();
    body.insert("disaster_type".to_owned(), disaster.into());
    body.insert("card_data".to_owned(), card_data(disaster, filled, config));
    body.insert("created_at".to_owned(), times.made(filled).to_string().into());
    if let Some(text) = filled.get("text") {
        body.insert("text".to_owned(), text.into());
    }
    if let Some(place) = place(filled, areas) {
        body.insert("location".to_owned(), place);
    }
    let is_long = filled.get("text").is_some_and(|text| text.chars().count() > LONGEST_TEXT);
    match read_card_report(card, &body, &config.disaster_types(), &config.cards) {
        Ok(content) if !is_long => Ok(content),
        Ok(_) => Err(vec!["text".to_owned()]),
        Err(faults) => {
            let mut fields: Vec<_> = faults.iter().map(|fault| field(fault, disaster, config)).collect();
            if is_long {
                fields.push("text".to_owned());
            }
            fields.sort_unstable();
            fields.dedup();
            Err(fields)
        }
    }
}

/// Returns the place: that of the pin, or else one in the chosen area.
fn place(filled: &Filled, areas: &AreaSet) -> Option<Value> {
    let number = |name| filled.get(name).and_then(|text| text.parse::<f64>().ok());
    if let Some((lat, lng)) = number("lat").zip(number("lng")) {
        return Some(json!({ "lat": lat, "lng": lng }));
    }
    let area: AreaId = filled.get("area")?.parse().ok()?;
    let [lng, lat] = areas.label(areas.position(area)?)?;
    Some(json!({ "lat": lat, "lng": lng }))
}

/// Returns the field of the form that a fault of the report is about.
fn field(fault: &Fault, disaster: &str, config: &Config) -> String {
    let path = fault.path.as_str();
    let member = path.strip_prefix("card_data.").and_then(|member| field_of(disaster, member, config));
    member.unwrap_or_else(|| {
        let named = if path.starts_with("location") { "place" } else { "disaster" };
        (if path == "text" { path } else { named }).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_report_is_its_arrival_less_its_age_on_the_phone_whatever_the_phones_clock() {
        let at = |text| Timestamp::parse(text).unwrap();
        let times = Times { earliest: at("2016-12-19T00:00:00Z"), arrival: at("2016-12-19T16:00:00Z") };
        for (created, sent, expected) in [
            ("2016-12-19T05:58:00Z", "2016-12-19T15:58:00Z", "2016-12-19T06:00:00Z"),
            ("2016-12-20T05:58:00Z", "2016-12-20T15:58:00Z", "2016-12-19T06:00:00Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:10:00Z", "2016-12-19T15:50:00Z"),
            ("2016-12-19T15:58:00Z", "2016-12-19T05:58:00Z", "2016-12-19T16:00:00Z"),
            ("2016-12-17T15:58:00Z", "2016-12-19T15:58:00Z", "2016-12-19T00:00:00Z"),
            ("soon", "2016-12-19T15:58:00Z", "2016-12-19T16:00:00Z"),
        ] {
            let mut filled = Filled::default();
            filled.put("created_at", created);
            filled.put("sent_at", sent);
            assert_eq!(times.made(&filled), at(expected), "{created} {sent}");
        }
    }
}
