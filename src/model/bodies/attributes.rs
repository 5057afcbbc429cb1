//! The rules for reports from cards: the report types of each disaster, and the attributes.

use geo::Coord;
use serde_json::{Value, json};

use super::CardRules;
use super::fields::{Fields, Object, POSITION, position, whole};
use crate::model::{DisasterType, Position};

/// The report types of each disaster except preparedness, whose types are configured.
const REPORT_TYPES: [(DisasterType, &[&str]); 6] = [
    (DisasterType::Flood, &["flood"]),
    (DisasterType::Earthquake, &["road", "structure"]),
    (DisasterType::Wind, &["wind"]),
    (DisasterType::Haze, &["haze"]),
    (DisasterType::Fire, &["fire"]),
    (DisasterType::Volcano, &["volcano"]),
];

/// Returns the report types of a disaster that an installation knows. A type that only this installation knows has one
/// report type with the same name.
pub(crate) fn report_types<'a>(disaster: &'a DisasterType, rules: &'a CardRules) -> Vec<&'a str> {
    match disaster {
        DisasterType::Prep => rules.prep_types.iter().map(String::as_str).collect(),
        DisasterType::Other(_) => vec![disaster.name()],
        own => {
            let types = REPORT_TYPES.iter().filter(|(known, _)| known == own);
            types.flat_map(|(_, types)| types.iter().copied()).collect()
        }
    }
}

/// Returns the report types of all `disasters`, each once.
pub(crate) fn all_report_types<'a>(disasters: &'a [DisasterType], rules: &'a CardRules) -> Vec<&'a str> {
    let mut all = Vec::new();
    // Types of preparedness come last.
    let (prep, others): (Vec<_>, Vec<_>) = disasters.iter().partition(|known| **known == DisasterType::Prep);
    for report_type in others.into_iter().chain(prep).flat_map(|known| report_types(known, rules)) {
        if !all.contains(&report_type) {
            all.push(report_type);
        }
    }
    all
}

/// Returns the disaster that a report type belongs to; preparedness only if no other disaster has it.
pub(super) fn disaster_of(
    report_type: &str,
    disasters: &[DisasterType],
    rules: &CardRules,
) -> Option<DisasterType> {
    let has = |known: &&DisasterType| report_types(known, rules).contains(&report_type);
    let another = disasters.iter().filter(|known| **known != DisasterType::Prep).find(has);
    another.or_else(|| disasters.iter().find(has)).copied()
}

/// Which values an attribute may have, and how responses show it: always as the same type.
pub(crate) enum Accepts {
    /// A number of centimetres; shown as a whole number, halves rounded up.
    Depth,
    /// A whole number from 0 to this one.
    Code(i64),
    /// A whole number from 0 to this one, or an array of such numbers; shown as an array.
    Codes(i64),
    /// A number that is not negative.
    Measure,
    /// A place.
    Place,
    /// A place on a circle, or the radius of the circle in metres; shown as a place on it.
    Radius,
    /// True or false.
    Truth,
}

/// The deepest flood, in centimetres.
pub(crate) const DEEPEST: f64 = 10_000.0;

/// The attributes of reports. Other members are kept unchanged.
pub(crate) const ATTRIBUTES: [(&str, Accepts); 14] = [
    ("flood_depth", Accepts::Depth),
    ("accessabilityFailure", Accepts::Code(4)),
    ("condition", Accepts::Code(4)),
    ("structureFailure", Accepts::Code(2)),
    ("impact", Accepts::Code(2)),
    ("visibility", Accepts::Code(2)),
    ("airQuality", Accepts::Code(4)),
    ("evacuationNumber", Accepts::Code(7)),
    ("fireRadius", Accepts::Radius),
    ("fireDistance", Accepts::Measure),
    ("fireLocation", Accepts::Place),
    ("personLocation", Accepts::Place),
    ("volcanicSigns", Accepts::Codes(4)),
    ("evacuationArea", Accepts::Truth),
];

impl Accepts {
    fn takes(&self, value: &Value) -> bool {
        let code = |value: &Value, highest| whole(value).is_some_and(|code| (0..=highest).contains(&code));
        let measure =
            |value: &Value, highest| value.as_f64().is_some_and(|measure| (0.0..=highest).contains(&measure));
        match *self {
            Self::Depth => measure(value, DEEPEST),
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

    /// Returns the value as clients read it, even if it is too large; `None` if it has another type. For a radius, a
    /// number stays a number.
    fn shown(&self, value: &Value) -> Option<Value> {
        let code = |value: &Value| whole(value).map(Value::from);
        match self {
            Self::Depth => value.as_f64().map(|depth| (depth.round() as i64).into()),
            Self::Code(_) => code(value),
            Self::Codes(_) => match value {
                Value::Array(codes) => codes.iter().map(code).collect(),
                value => code(value).map(|code| json!([code])),
            },
            Self::Measure => value.is_number().then(|| value.clone()),
            Self::Place => position(value).map(|_| value.clone()),
            Self::Radius => Self::Measure.shown(value).or_else(|| Self::Place.shown(value)),
            Self::Truth => value.is_boolean().then(|| value.clone()),
        }
    }

    fn must(&self) -> String {
        match self {
            Self::Depth => format!("must be a number from 0 to {DEEPEST}"),
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

/// Returns the place at this distance from the centre, along its meridian towards the equator, so that it stays on the Earth.
fn on_circle(centre: Position, metres: f64) -> Value {
    /// The length of a degree of latitude on a sphere of the Earth's mean radius.
    const METRES_A_DEGREE: f64 = 111_195.0;
    let Coord { x: lng, y: lat } = centre.coord();
    let degrees = metres / METRES_A_DEGREE;
    let lat = if lat > 0.0 { lat - degrees } else { lat + degrees }.clamp(-90.0, 90.0);
    // Rounded to a centimetre, so that the text is short.
    json!({ "lat": (lat * 1e7).round() / 1e7, "lng": lng })
}

/// Notes a fault for every attribute of `card_data` with a wrong value.
pub(super) fn check(card_data: &Fields<'_>) {
    for (name, accepts) in &ATTRIBUTES {
        card_data.convert(name, accepts.must(), |value| accepts.takes(value).then_some(()));
    }
}

/// Returns the card data as clients read it, for a report made at a place. It leaves out attributes of another type,
/// including null, because typed clients cannot read them. Members that are not attributes stay unchanged.
pub(crate) fn shown_card_data(card_data: &Object, place: Position) -> Object {
    let centre = card_data.get("fireLocation").and_then(position).unwrap_or(place);
    let shown = |(name, value): (&String, &Value)| {
        let attribute = ATTRIBUTES.iter().find(|(attribute, _)| attribute == name);
        let value = match attribute {
            None => value.clone(),
            Some((_, accepts)) => match (accepts.shown(value)?, accepts) {
                (Value::Number(metres), Accepts::Radius) => on_circle(centre, metres.as_f64()?),
                (value, _) => value,
            },
        };
        Some((name.clone(), value))
    };
    card_data.iter().filter_map(shown).collect()
}
