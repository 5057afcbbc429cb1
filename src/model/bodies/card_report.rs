use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use super::attributes::{self, all_report_type_names, disasters_of, report_type_names};
use super::fields::{Fault, Fields, Object, read};
use crate::model::Number;
use crate::model::{
    CARD_SOURCE, Card, CardId, DisasterType, Hazards, InvalidCardId, Position, ReportContent, Timestamp,
    duration,
};

/// The rules for reports from cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CardRules {
    /// The types of preparedness reports. **Default: `drain`, `desilting`, `canalrepair`, `treeclearing`, `flood`, `damage`,
    /// `power`**
    pub prep_types: Vec<String>,
    /// The maximum length of a card identifier, for cards of a previous installation: 14 to 36 characters. **Default: 14**
    pub max_id_length: MaxIdLength,
    /// Whether callers without a credential may report with the identifier of a card, as long as the card has no report.
    /// **Default: `false`; `true` for the demo**
    pub open: bool,
    /// For how long after the card's creation `open` applies. **Default: `24h`**
    #[serde(with = "duration")]
    pub open_for: Duration,
    /// Whether holders of credentials may send the photo before the report. **Default: `false`**
    pub photo_first: bool,
    /// How long after creation a card without a report is erased. `0`: never. **Default: `7d`**
    #[serde(with = "duration")]
    pub keep: Duration,
    #[serde(skip)]
    pub(crate) hazards: Arc<Hazards>,
}

impl Default for CardRules {
    fn default() -> Self {
        let types = ["drain", "desilting", "canalrepair", "treeclearing", "flood", "damage", "power"];
        Self {
            prep_types: types.map(str::to_owned).to_vec(),
            max_id_length: MaxIdLength::default(),
            open: false,
            open_for: Duration::from_hours(24),
            photo_first: false,
            keep: Duration::from_hours(7 * 24),
            hazards: Arc::default(),
        }
    }
}

impl CardRules {
    /// Returns whether a caller without a credential may report with the card, if the card has no report yet.
    pub(crate) fn is_open(&self, card: &Card, now: Timestamp) -> bool {
        self.open && card.created_at.is_some_and(|made| now < made.saturating_add(self.open_for))
    }
}

/// The maximum length of a card identifier, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number")]
pub struct MaxIdLength(usize);

/// Error for a number that is not a [`MaxIdLength`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from {} to {}", CardId::NEW_LENGTH, CardId::LONGEST)]
pub struct InvalidMaxIdLength;

impl Default for MaxIdLength {
    fn default() -> Self {
        Self(CardId::NEW_LENGTH)
    }
}

impl MaxIdLength {
    /// Returns the number of characters.
    #[must_use]
    pub fn get(self) -> usize {
        self.0
    }

    /// Parses a card identifier.
    ///
    /// # Errors
    ///
    /// If the text is not an identifier, or is too long.
    pub fn read(self, text: &str) -> Result<CardId, InvalidCardId> {
        let id = text.parse().ok().filter(|id: &CardId| id.as_str().chars().count() <= self.0);
        id.ok_or(InvalidCardId { longest: self.0 })
    }
}

impl TryFrom<Number> for MaxIdLength {
    type Error = InvalidMaxIdLength;

    fn try_from(number: Number) -> Result<Self, InvalidMaxIdLength> {
        let length =
            number.get().and_then(|number| usize::try_from(number).ok()).ok_or(InvalidMaxIdLength)?;
        let allowed = CardId::NEW_LENGTH..=CardId::LONGEST;
        if allowed.contains(&length) { Ok(Self(length)) } else { Err(InvalidMaxIdLength) }
    }
}

pub(crate) struct CardReport<'a> {
    pub(crate) disaster: DisasterType,
    pub(crate) card_data: &'a Object,
    pub(crate) created_at: Timestamp,
    pub(crate) location: Position,
    pub(crate) text: &'a str,
    pub(crate) is_training: bool,
    pub(crate) partner_code: Option<&'a str>,
}

impl CardReport<'_> {
    /// Returns the report to store: without an image, and with the card's data as responses contain them.
    pub(crate) fn content(self, card: &CardId, rules: &CardRules) -> ReportContent {
        let shown = attributes::shown_card_data(self.card_data, self.location, &rules.hazards);
        ReportContent {
            created_at: self.created_at,
            source: CARD_SOURCE.into(),
            url: Some(card.as_str().into()),
            image_url: None,
            disaster_type: self.disaster,
            report_data: to_raw_value(&shown).ok(),
            title: "".into(),
            text: self.text.into(),
            location: self.location,
            is_training: self.is_training,
            partner_code: self.partner_code.map(Box::from),
            partner_icon: None,
        }
    }
}

/// Reads a report made with a card. If the body has no disaster type, derives it from the report type.
pub(crate) fn read_card_report(
    card: &CardId,
    body: &Object,
    disasters: &[DisasterType],
    rules: &CardRules,
) -> Result<ReportContent, Vec<Fault>> {
    read(body, |fields| {
        let named = fields.one_of("disaster_type", disasters).copied();
        let card_data = fields.required("card_data", |fields, key| {
            fields.object(key, |data| {
                let disaster = disaster(data, fields, named, disasters, rules);
                Some((data.require_storable()?, disaster?))
            })
        });
        let created_at = fields.required("created_at", Fields::moment);
        let location = fields.required("location", Fields::position);
        let text = fields.text("text").unwrap_or_default();
        fields.text("image_id");
        let is_training = fields.boolean("is_training");
        // Clients' forms send `partnerCode`, which takes precedence over `partner_code`, the name in responses.
        let partner_codes = ["partnerCode", "partner_code"].map(|key| fields.name_or_empty(key));
        let (card_data, disaster) = card_data?;
        let report = CardReport {
            disaster,
            card_data,
            created_at: created_at?,
            location: location?,
            text,
            is_training,
            partner_code: partner_codes.into_iter().flatten().next(),
        };
        Some(report.content(card, rules))
    })
}

pub(crate) fn check_card_data(
    card_data: &Object,
    disaster: DisasterType,
    rules: &CardRules,
) -> Result<(), Vec<Fault>> {
    read(card_data, |data| {
        report_type(data, &report_type_names(&disaster, rules), rules);
        check_depth(data, disaster);
        Some(())
    })
}

/// Checks `card_data`, and returns the disaster: the named disaster, or else the disaster to which the report type belongs.
fn disaster(
    data: &Fields<'_>,
    body: &Fields<'_>,
    named: Option<DisasterType>,
    disasters: &[DisasterType],
    rules: &CardRules,
) -> Option<DisasterType> {
    // A wrong disaster is a separate fault. Then the report types of all disasters are allowed here.
    let types = match &named {
        Some(named) => report_type_names(named, rules),
        None => all_report_type_names(disasters, rules),
    };
    let report_type = report_type(data, &types, rules);
    let disaster = match body.get("disaster_type") {
        Some(_) => named,
        None => report_type.and_then(|name| match disasters_of(name, disasters, rules)[..] {
            [disaster] => Some(disaster),
            ref several => {
                let several: Vec<_> = several.iter().map(DisasterType::name).collect();
                let must = format!("must be one of [{}] with the report_type {name}", several.join(", "));
                body.fault("disaster_type", must);
                None
            }
        }),
    };
    check_depth(data, disaster?);
    disaster
}

/// Checks the attributes, and returns the report type, which must be one of `types`.
fn report_type<'a>(data: &Fields<'a>, types: &[&str], rules: &CardRules) -> Option<&'a str> {
    attributes::check(data, &rules.hazards);
    data.required("report_type", |data, key| {
        let must = format!("must be one of [{}]", types.join(", "));
        data.convert(key, must, |value| value.as_str().filter(|name| types.contains(name)))
    })
}

fn check_depth(data: &Fields<'_>, disaster: DisasterType) {
    if is_required(disaster, DEPTH) {
        data.required(DEPTH, |_, _| Some(()));
    }
}

const DEPTH: &str = "flood_depth";

/// Returns whether each report of a disaster must have an attribute.
pub(crate) fn is_required(disaster: DisasterType, attribute: &str) -> bool {
    disaster == DisasterType::Flood && attribute == DEPTH
}
