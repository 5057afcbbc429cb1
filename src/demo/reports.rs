//! Reports by residents in the last hours: of every disaster, from cards and from the partner feed.

use std::collections::HashMap;
use std::time::Duration;

use geo::Centroid;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::LIVE;
use super::noise::noise;
use crate::model::bodies::PartnerReport;
use crate::model::{
    AreaId, AreaSet, CARD_SOURCE, Card, CardHolder, DisasterType, FloodChange, FloodState, Locator, Position,
    Report, ReportContent, ReportKey, Timestamp,
};

/// A card that has not been used yet.
const FRESH_CARD: &str = "abcdefg";

/// One flooded area in this many has a report, and the time between two of these reports.
const FLOODED_AREAS_PER_REPORT: usize = 6;
const BETWEEN_REPORTS: Duration = Duration::from_secs(150);
/// The time between two flood reports from now on.
const BETWEEN_COMING_REPORTS: Duration = Duration::from_mins(10);
/// After how long all other disasters are reported again.
const OTHERS_LAST: Duration = Duration::from_mins(50);

/// Returns the other reports: a disaster, its type and attributes, a place, how many minutes ago, and the reporter's words.
fn others() -> [(DisasterType, Value, f64, f64, u64, &'static str); 8] {
    use DisasterType::{Earthquake, Fire, Haze, Prep, Volcano, Wind};
    [
        (
            Earthquake,
            json!({"report_type": "structure", "structureFailure": 1}),
            106.85,
            -6.23,
            4,
            "Tembok retak",
        ),
        (
            Earthquake,
            json!({"report_type": "road", "accessabilityFailure": 2}),
            106.80,
            -6.25,
            17,
            "Jalan ambles",
        ),
        (Wind, json!({"report_type": "wind", "impact": 1}), 106.90, -6.16, 9, "Pohon tumbang"),
        (
            Haze,
            json!({"report_type": "haze", "visibility": 1, "airQuality": 2}),
            101.45,
            0.51,
            21,
            "Kabut asap",
        ),
        (
            Fire,
            json!({"report_type": "fire", "fireRadius": {"lat": -2.209, "lng": 113.92}}),
            113.92,
            -2.21,
            33,
            "Lahan terbakar",
        ),
        (
            Volcano,
            json!({"report_type": "volcano", "volcanicSigns": [3, 4], "evacuationArea": true}),
            110.44,
            -7.54,
            41,
            "Gemuruh",
        ),
        (Prep, json!({"report_type": "drain"}), 106.82, -6.20, 12, "Selokan tersumbat"),
        (Prep, json!({"report_type": "treeclearing"}), 106.78, -6.24, 50, "Pohon rawan tumbang"),
    ]
}

/// Returns the reports of the last hours, and those that will appear while the demo runs, in the order of their times.
pub(super) fn reports(
    areas: &AreaSet,
    log: &[FloodChange],
    locator: &Locator,
    now: Timestamp,
) -> Vec<Report> {
    let places = flooded(areas, log);
    let past = (1u32..)
        .zip(places.iter().step_by(FLOODED_AREAS_PER_REPORT))
        .map(|(number, place)| flood(number, *place, now.before(BETWEEN_REPORTS.saturating_mul(number))));
    let coming = (1u32..).zip(places.iter().cycle()).map(|(number, place)| {
        flood(number, *place, now.after(BETWEEN_COMING_REPORTS.saturating_mul(number)))
    });
    let coming = coming.take_while(|content| content.created_at <= now.after(LIVE));
    let rounds = (0u32..).map(|round| OTHERS_LAST.saturating_mul(round)).take_while(|shift| *shift <= LIVE);
    let of_others = rounds.flat_map(|shift| {
        others().into_iter().filter_map(move |(disaster, data, lng, lat, minutes, text)| {
            let at = now.after(shift).before(Duration::from_mins(minutes));
            let place = Position::new(lng, lat)?;
            Some(content(Sketch { disaster, data: Some(data), place, at, text }))
        })
    });
    let mut contents: Vec<ReportContent> = past.chain(coming).chain(of_others).collect();
    contents.sort_by_key(|content| content.created_at);
    let keys = std::iter::successors(Some(ReportKey::FIRST), |key| key.next());
    let report = |(key, content): (ReportKey, ReportContent)| {
        let by_card = &*content.source == CARD_SOURCE;
        let url = by_card.then(|| format!("demo-{:03}", key.number()).into());
        let content = ReportContent { url, ..content };
        Report { key, tags: locator.locate(content.location), content }
    };
    keys.zip(contents).map(report).collect()
}

/// Returns the cards: those the reports came from, and an unused one.
pub(super) fn cards(reports: &[Report]) -> Vec<Card> {
    let fresh = (FRESH_CARD, None);
    let used = reports.iter().filter_map(|report| Some((report.content.url.as_deref()?, Some(report.key))));
    let card = |(pkey, (id, report)): (u64, (&str, _))| {
        let holder = CardHolder {
            username: format!("resident {pkey}"),
            network: "website".to_owned(),
            language: "id".to_owned(),
            network_data: None,
        };
        Some(Card { pkey, id: id.parse().ok()?, holder, report, created_at: None })
    };
    (1..).zip(used.chain([fresh])).filter_map(card).collect()
}

/// Returns the centres of the areas that are flooded now.
fn flooded(areas: &AreaSet, log: &[FloodChange]) -> Vec<Position> {
    let states: HashMap<AreaId, _> = log.iter().map(|change| (change.area, change.state)).collect();
    areas
        .iter()
        .filter(|area| states.get(&area.id).copied().flatten().is_some())
        .filter_map(|area| {
            let middle = area.outline.centroid()?;
            Position::new(middle.x(), middle.y())
        })
        .collect()
}

/// Returns a flood report; every fourth is from the partner feed.
fn flood(number: u32, place: Position, at: Timestamp) -> ReportContent {
    let depth = (20.0 + 150.0 * noise([number.into(), 5, 5]).abs()).round();
    let from_card = !number.is_multiple_of(4);
    content(Sketch {
        disaster: DisasterType::Flood,
        data: from_card.then(|| json!({"report_type": "flood", "flood_depth": depth as u32})),
        place,
        at,
        text: &format!("Banjir {depth} cm ({})", FloodState::of_depth(depth).severity()),
    })
}

struct Sketch<'a> {
    disaster: DisasterType,
    /// The data from a card; none for the partner feed.
    data: Option<Value>,
    place: Position,
    at: Timestamp,
    text: &'a str,
}

fn content(Sketch { disaster, data, place, at, text }: Sketch<'_>) -> ReportContent {
    let source = if data.is_some() { CARD_SOURCE } else { PartnerReport::FEED };
    ReportContent {
        created_at: at,
        source: source.into(),
        url: None,
        image_url: None,
        disaster_type: disaster,
        report_data: data.and_then(|data| to_raw_value(&data).ok()),
        title: "".into(),
        text: text.into(),
        location: place,
        is_training: false,
        partner_code: None,
        partner_icon: None,
    }
}
