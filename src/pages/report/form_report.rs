//! Parses a report from the form data.

use std::time::Duration;

use super::form_data::FormData;
use super::hazards::{card_data, field_of};
use super::places;
use crate::config::Config;
use crate::model::bodies::{CardReport, TimeWindow, check_card_data};
use crate::model::{AreaSet, CardId, Places, Position, ReportContent, Timestamp};

pub(super) const MAX_TEXT: usize = 500;

#[derive(Debug)]
pub(super) struct FormReport {
    pub(super) content: ReportContent,
    /// Whether the location is outside the covered areas. If so, the person has confirmed it.
    pub(super) is_outside: bool,
}

/// Returns when the report was made: the arrival of the report minus its age. The phone measures the age from the first press of
/// the button until it sends the report, so a wrong clock does not matter.
fn creation_time(window: TimeWindow, form: &FormData) -> Timestamp {
    let time = |name| form.get(name).and_then(|text| Timestamp::parse(text).ok());
    let age = time("sent_at").zip(time("created_at")).map_or(Duration::ZERO, |(sent, created)| {
        (sent.to_utc() - created.to_utc()).to_std().unwrap_or_default()
    });
    window.time_for_age(age)
}

/// Parses a report. Fails with the names of the wrong fields.
pub(super) fn parse_report(
    card: &CardId,
    form: &FormData,
    window: TimeWindow,
    places: &Places,
    config: &Config,
) -> Result<FormReport, Vec<String>> {
    let mut fields = Vec::new();
    let disaster =
        config.disaster_types().into_iter().find(|disaster| Some(disaster.name()) == form.get("disaster"));
    let card_data = disaster.map(|disaster| card_data(disaster, form, config)).unwrap_or_default();
    match disaster.map(|disaster| (disaster, check_card_data(&card_data, disaster, &config.cards))) {
        None => fields.push("disaster".to_owned()),
        Some((disaster, Err(faults))) => {
            fields.extend(faults.iter().map(|fault| field_of(disaster, &fault.path, config)));
        }
        Some((_, Ok(()))) => {}
    }
    let location = location(form, places.areas());
    if location.is_none() {
        fields.push("place".to_owned());
    }
    let text = form.get("text").unwrap_or_default();
    if text.chars().count() > MAX_TEXT {
        fields.push("text".to_owned());
    }
    let is_outside = location.is_some_and(|place| !places.covers(place));
    if is_outside && form.get("outside").is_none() {
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
        created_at: creation_time(window, form),
        location,
        text,
        is_training: false,
        partner_code: None,
    };
    Ok(FormReport { content: report.content(card, &config.cards), is_outside })
}

/// Returns the location: of the chosen area, or the coordinates. A page without a script sends both if its address had coordinates.
fn location(form: &FormData, areas: &AreaSet) -> Option<Position> {
    match form.get("area") {
        Some(area) => places::find(areas, area),
        None => coordinates(form.get("lng")?, form.get("lat")?),
    }
}

pub(super) fn coordinates(lng: &str, lat: &str) -> Option<Position> {
    Position::new(lng.parse().ok()?, lat.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_report_is_its_arrival_minus_its_age_for_any_clock_of_the_phone() {
        let at = |text| Timestamp::parse(text).unwrap();
        let window = TimeWindow::new(at("2016-12-19T16:00:00Z"), Some(at("2016-12-19T00:00:00Z")));
        for (created, sent, expected) in [
            ("2016-12-19T05:58:00Z", "2016-12-19T15:58:00Z", "2016-12-19T06:00:00Z"),
            ("2016-12-20T05:58:00Z", "2016-12-20T15:58:00Z", "2016-12-19T06:00:00Z"),
            // The report was sent at once, although the page was opened long before.
            ("2016-12-19T15:58:00Z", "2016-12-19T15:58:00Z", "2016-12-19T16:00:00Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:10:00Z", "2016-12-19T15:50:00Z"),
            ("2016-12-19T15:58:00Z", "2016-12-19T05:58:00Z", "2016-12-19T16:00:00Z"),
            ("2016-12-17T15:58:00Z", "2016-12-19T15:58:00Z", "2016-12-19T00:00:00Z"),
            ("soon", "2016-12-19T15:58:00Z", "2016-12-19T16:00:00Z"),
        ] {
            let mut form = FormData::default();
            form.set("created_at", created);
            form.set("sent_at", sent);
            assert_eq!(creation_time(window, &form), at(expected), "{created} {sent}");
        }
    }
}
