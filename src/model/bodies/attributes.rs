//! Rules for reports from cards: the report types of each disaster, and the values of attributes.

use geo::Coord;
use serde_json::{Value, json};

use super::CardRules;
use super::fields::{Fields, Object, POSITION, position, whole};
use crate::model::{Attribute, DisasterType, Hazards, Position};

/// Returns the report types of a disaster. A disaster defined by the installation has one report type, with the same name.
pub(crate) fn report_type_names<'a>(disaster: &'a DisasterType, rules: &'a CardRules) -> Vec<&'a str> {
    if *disaster == DisasterType::Prep {
        return rules.prep_types.iter().map(String::as_str).collect();
    }
    match rules.hazards.get(*disaster) {
        Some(hazard) => hazard.report_types.iter().map(|report_type| report_type.name.as_str()).collect(),
        None => vec![disaster.name()],
    }
}

/// Returns the report types of all disasters, each once. Types that only `prep` has come last.
pub(crate) fn all_report_type_names<'a>(disasters: &'a [DisasterType], rules: &'a CardRules) -> Vec<&'a str> {
    let mut all = Vec::new();
    let (prep, others): (Vec<_>, Vec<_>) =
        disasters.iter().partition(|disaster| **disaster == DisasterType::Prep);
    for report_type in others.into_iter().chain(prep).flat_map(|disaster| report_type_names(disaster, rules))
    {
        if !all.contains(&report_type) {
            all.push(report_type);
        }
    }
    all
}

/// Returns the disasters that a report without a disaster type can be about: the first built-in disaster with the report type,
/// otherwise all other disasters with it. Returns preparedness only if no other disaster has the report type.
pub(crate) fn disasters_of(
    report_type: &str,
    disasters: &[DisasterType],
    rules: &CardRules,
) -> Vec<DisasterType> {
    let has_type = |disaster: &&DisasterType| report_type_names(disaster, rules).contains(&report_type);
    let (prep, others): (Vec<_>, Vec<_>) =
        disasters.iter().filter(has_type).copied().partition(|disaster| *disaster == DisasterType::Prep);
    let built_in = others.iter().find(|disaster| DisasterType::OWN.contains(disaster)).copied();
    match built_in {
        Some(disaster) => vec![disaster],
        None if others.is_empty() => prep,
        None => others,
    }
}

/// The accepted values of an attribute. In responses, the attribute always has the same JSON type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    /// Centimetres from 0 to this number; shown as a whole number, halves rounded up.
    Depth(u32),
    Code(i64),
    /// A whole number from 0 to this number, or an array of such numbers; shown as an array.
    Codes(i64),
    Measure,
    Place,
    /// A place on a circle, or the radius of the circle in metres; shown as a place on the circle.
    Radius,
    Truth,
}

impl Accepts {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Depth(_) => "depth",
            Self::Code(_) => "code",
            Self::Codes(_) => "codes",
            Self::Measure => "measure",
            Self::Place => "place",
            Self::Radius => "radius",
            Self::Truth => "truth",
        }
    }

    fn matches_value(&self, value: &Value) -> bool {
        let code = |value: &Value, highest| whole(value).is_some_and(|code| (0..=highest).contains(&code));
        let measure =
            |value: &Value, highest| value.as_f64().is_some_and(|measure| (0.0..=highest).contains(&measure));
        match *self {
            Self::Depth(deepest) => measure(value, deepest.into()),
            Self::Code(highest) => code(value, highest),
            Self::Codes(highest) => match value {
                Value::Array(codes) => codes.iter().all(|value| code(value, highest)),
                value => code(value, highest),
            },
            Self::Measure => measure(value, f64::INFINITY),
            Self::Place => position(value).is_some(),
            Self::Radius => measure(value, f64::INFINITY) || position(value).is_some(),
            Self::Truth => value.is_boolean(),
        }
    }

    fn response_value(&self, value: &Value) -> Option<Value> {
        let code = |value: &Value| whole(value).map(Value::from);
        match self {
            Self::Depth(_) => value.as_f64().map(|depth| (depth.round() as i64).into()),
            Self::Code(_) => code(value),
            Self::Codes(_) => match value {
                Value::Array(codes) => codes.iter().map(code).collect(),
                value => code(value).map(|code| json!([code])),
            },
            Self::Measure => value.is_number().then(|| value.clone()),
            Self::Place => position(value).map(|_| value.clone()),
            Self::Radius => Self::Measure.response_value(value).or_else(|| Self::Place.response_value(value)),
            Self::Truth => value.is_boolean().then(|| value.clone()),
        }
    }

    fn must(&self) -> String {
        match self {
            Self::Depth(deepest) => format!("must be a number from 0 to {deepest}"),
            Self::Code(highest) => format!("must be a whole number from 0 to {highest}"),
            Self::Codes(highest) => {
                format!("must be a whole number from 0 to {highest} or an array of them")
            }
            Self::Measure => "must be a number of 0 or more".to_owned(),
            Self::Place => POSITION.to_owned(),
            Self::Radius => "must be a number of 0 or more or an object with lat and lng".to_owned(),
            Self::Truth => "must be true or false".to_owned(),
        }
    }
}

/// Returns the place at this distance from the centre, along the meridian towards the equator and at most to a pole.
fn on_circle(centre: Position, metres: f64) -> Value {
    /// Metres per degree of latitude on a sphere of the Earth's mean radius.
    const METRES_A_DEGREE: f64 = 111_195.0;
    let Coord { x: lng, y: lat } = centre.coord();
    let degrees = metres / METRES_A_DEGREE;
    let lat = if lat > 0.0 { lat - degrees } else { lat + degrees }.clamp(-90.0, 90.0);
    // Rounded to a centimetre, to keep the text short.
    json!({ "lat": (lat * 1e7).round() / 1e7, "lng": lng })
}

pub(super) fn check(card_data: &Fields<'_>, hazards: &Hazards) {
    for Attribute { name, accepts, .. } in &hazards.attributes {
        card_data.convert(name, accepts.must(), |value| accepts.matches_value(value).then_some(()));
    }
}

/// Returns the card data for responses about a report at `place`. Drops attributes with a wrong type, including null, because
/// typed clients cannot read them. Members that are not attributes stay unchanged.
pub(crate) fn shown_card_data(card_data: &Object, place: Position, hazards: &Hazards) -> Object {
    let centre = card_data.get("fireLocation").and_then(position).unwrap_or(place);
    let response_value = |(name, value): (&String, &Value)| {
        let value = match hazards.attribute(name) {
            None => value.clone(),
            Some(Attribute { accepts, .. }) => match (accepts.response_value(value)?, accepts) {
                (Value::Number(metres), Accepts::Radius) => on_circle(centre, metres.as_f64()?),
                (value, _) => value,
            },
        };
        Some((name.clone(), value))
    };
    card_data.iter().filter_map(response_value).collect()
}
