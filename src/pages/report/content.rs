//! Makes a report from what a person has filled in.

use std::time::Duration;

use serde_json::{Map, json};

use super::form::Filled;
use super::hazards::{card_data, field_of};
use crate::config::Config;
use crate::model::bodies::{Fault, TimeWindow, read_card_report};
use crate::model::{AreaId, AreaSet, CardId, Places, Position, ReportContent, Timestamp};

/// The longest text of a report of the form, in characters.
pub(super) const LONGEST_TEXT: usize = 500;

/// What a person has reported.
#[derive(Debug)]
pub(super) struct FormReport {
    pub(super) content: ReportContent,
    /// Whether the place is outside all that the service covers. The person has said that it is right.
    pub(super) is_outside: bool,
}

/// Returns when the report was made: as long before its arrival as passed by the clock of the phone between the first press of the
/// button and the sending, so that a wrong clock does no harm.
fn made(window: TimeWindow, filled: &Filled) -> Timestamp {
    let time = |name| filled.get(name).and_then(|text| Timestamp::parse(text).ok());
    let age = time("sent_at").zip(time("created_at")).map_or(Duration::ZERO, |(sent, created)| {
        (sent.to_utc() - created.to_utc()).to_std().unwrap_or_default()
    });
    window.made_before_arrival(age)
}

/// Reads the report of a card.
///
/// # Errors
///
/// The fields that are wrong.
pub(super) fn read(
    card: &CardId,
    filled: &Filled,
    window: TimeWindow,
    places: &Places,
    config: &Config,
) -> Result<FormReport, Vec<String>> {
    let disaster = filled.get("disaster").unwrap_or_default();
    let mut body = Map::new();
    body.insert("disaster_type".to_owned(), disaster.into());
    body.insert("card_data".to_owned(), card_data(disaster, filled, config));
    body.insert("created_at".to_owned(), made(window, filled).to_string().into());
    if let Some(text) = filled.get("text") {
        body.insert("text".to_owned(), text.into());
    }
    let place = place(filled, places.areas());
    if let Some([lng, lat]) = place {
        body.insert("location".to_owned(), json!({ "lat": lat, "lng": lng }));
    }
    let (content, faults) = match read_card_report(card, &body, &config.disaster_types(), &config.cards) {
        Ok(content) => (Some(content), Vec::new()),
        Err(faults) => (None, faults),
    };
    let mut fields: Vec<_> = faults.iter().map(|fault| field(fault, disaster, config)).collect();
    if filled.get("text").is_some_and(|text| text.chars().count() > LONGEST_TEXT) {
        fields.push("text".to_owned());
    }
    let place = place.and_then(|[lng, lat]| Position::new(lng, lat));
    let is_outside = place.is_some_and(|place| !places.covers(place));
    if is_outside && filled.get("outside").is_none() {
        fields.push("outside".to_owned());
    }
    fields.sort_unstable();
    fields.dedup();
    content.filter(|_| fields.is_empty()).map(|content| FormReport { content, is_outside }).ok_or(fields)
}

/// Returns the longitude and latitude of the pin, or else of a place in the chosen area.
fn place(filled: &Filled, areas: &AreaSet) -> Option<[f64; 2]> {
    let number = |name| filled.get(name).and_then(|text| text.parse::<f64>().ok());
    if let Some((lng, lat)) = number("lng").zip(number("lat")) {
        return Some([lng, lat]);
    }
    let area: AreaId = filled.get("area")?.parse().ok()?;
    areas.label(areas.position(area)?)
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
        let window = TimeWindow::new(at("2016-12-19T16:00:00Z"), Some(at("2016-12-19T00:00:00Z")));
        for (created, sent, expected) in [
            ("2016-12-19T05:58:00Z", "2016-12-19T15:58:00Z", "2016-12-19T06:00:00Z"),
            ("2016-12-20T05:58:00Z", "2016-12-20T15:58:00Z", "2016-12-19T06:00:00Z"),
            // At once, though the page was opened long before.
            ("2016-12-19T15:58:00Z", "2016-12-19T15:58:00Z", "2016-12-19T16:00:00Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:10:00Z", "2016-12-19T15:50:00Z"),
            ("2016-12-19T15:58:00Z", "2016-12-19T05:58:00Z", "2016-12-19T16:00:00Z"),
            ("2016-12-17T15:58:00Z", "2016-12-19T15:58:00Z", "2016-12-19T00:00:00Z"),
            ("soon", "2016-12-19T15:58:00Z", "2016-12-19T16:00:00Z"),
        ] {
            let mut filled = Filled::default();
            filled.put("created_at", created);
            filled.put("sent_at", sent);
            assert_eq!(made(window, &filled), at(expected), "{created} {sent}");
        }
    }
}
