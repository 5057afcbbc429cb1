//! Makes a report from what a person has filled in.

use std::time::Duration;

use super::form_data::FormData;
use super::hazards::{card_data, field_of};
use crate::config::Config;
use crate::model::bodies::{CardReport, TimeWindow, check_card_data};
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
fn made(window: TimeWindow, filled: &FormData) -> Timestamp {
    let time = |name| filled.get(name).and_then(|text| Timestamp::parse(text).ok());
    let age = time("sent_at").zip(time("created_at")).map_or(Duration::ZERO, |(sent, created)| {
        (sent.to_utc() - created.to_utc()).to_std().unwrap_or_default()
    });
    window.time_for_age(age)
}

/// Reads the report of a card.
///
/// # Errors
///
/// The fields that are wrong.
pub(super) fn read(
    card: &CardId,
    filled: &FormData,
    window: TimeWindow,
    places: &Places,
    config: &Config,
) -> Result<FormReport, Vec<String>> {
    let mut fields = Vec::new();
    let disaster =
        config.disaster_types().into_iter().find(|known| Some(known.name()) == filled.get("disaster"));
    let card_data = disaster.map(|disaster| card_data(disaster, filled, config)).unwrap_or_default();
    match disaster.map(|disaster| (disaster, check_card_data(&card_data, disaster, &config.cards))) {
        None => fields.push("disaster".to_owned()),
        Some((disaster, Err(faults))) => {
            fields.extend(faults.iter().map(|fault| field_of(disaster, &fault.path, config)));
        }
        Some((_, Ok(()))) => {}
    }
    let location = place(filled, places.areas());
    if location.is_none() {
        fields.push("place".to_owned());
    }
    let text = filled.get("text").unwrap_or_default();
    if text.chars().count() > LONGEST_TEXT {
        fields.push("text".to_owned());
    }
    let is_outside = location.is_some_and(|place| !places.covers(place));
    if is_outside && filled.get("outside").is_none() {
        fields.push("outside".to_owned());
    }
    let (Some(disaster), Some(location), true) = (disaster, location, fields.is_empty()) else {
        fields.sort_unstable();
        fields.dedup();
        return Err(fields);
    };
    let report = CardReport {
        disaster,
        card_data: &card_data,
        created_at: made(window, filled),
        location,
        text,
        is_training: false,
        partner_code: None,
    };
    Ok(FormReport { content: report.content(card, &config.cards), is_outside })
}

/// Returns the place of the pin, or else one in the chosen area.
fn place(filled: &FormData, areas: &AreaSet) -> Option<Position> {
    let number = |name| filled.get(name).and_then(|text| text.parse::<f64>().ok());
    if let Some((lng, lat)) = number("lng").zip(number("lat")) {
        return Position::new(lng, lat);
    }
    let area: AreaId = filled.get("area")?.parse().ok()?;
    let [lng, lat] = areas.label(areas.position(area)?)?;
    Position::new(lng, lat)
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
            let mut filled = FormData::default();
            filled.put("created_at", created);
            filled.put("sent_at", sent);
            assert_eq!(made(window, &filled), at(expected), "{created} {sent}");
        }
    }
}
