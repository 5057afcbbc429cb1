//! What a card's report may say: the types of each disaster, and the attributes.

use serde_json::Value;

use super::CardRules;
use super::fields::{Fields, POSITION, position, whole};
use crate::model::DisasterType;

/// The report types of each disaster but preparedness, whose types are configured.
const REPORT_TYPES: [(DisasterType, &[&str]); 6] = [
    (DisasterType::Flood, &["flood"]),
    (DisasterType::Earthquake, &["road", "structure"]),
    (DisasterType::Wind, &["wind"]),
    (DisasterType::Haze, &["haze"]),
    (DisasterType::Fire, &["fire"]),
    (DisasterType::Volcano, &["volcano"]),
];

/// The report types of a disaster that an installation knows. A type that only this installation knows has one report
/// type, which has its name.
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

/// The report types of all `disasters`, each once.
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

/// The disaster a report type belongs to; a preparedness type only where no other disaster has it.
pub(super) fn disaster_of(
    report_type: &str,
    disasters: &[DisasterType],
    rules: &CardRules,
) -> Option<DisasterType> {
    let has = |known: &&DisasterType| report_types(known, rules).contains(&report_type);
    let another = disasters.iter().filter(|known| **known != DisasterType::Prep).find(has);
    another.or_else(|| disasters.iter().find(has)).copied()
}

/// What an attribute may be.
pub(crate) enum Accepts {
    /// A whole number from 0 to this one.
    Code(i64),
    /// A whole number from 0 to this one, or an array of them.
    Codes(i64),
    /// A number of 0 or more.
    Measure,
    /// A place.
    Place,
    /// A number of 0 or more, or a place on the circle of that radius.
    Radius,
    /// True or false.
    Truth,
}

/// The attributes a report may have. Others are kept as they are.
pub(crate) const ATTRIBUTES: [(&str, Accepts); 14] = [
    ("flood_depth", Accepts::Measure),
    ("accessabilityFailure", Accepts::Code(4)),
    ("condition", Accepts::Code(4)),
    ("structureFailure", Accepts::Code(2)),
    ("impact", Accepts::Code(2)),
    ("visibility", Accepts::Code(2)),
    ("airQuality", Accepts::Code(4)),
    ("evacuationNumber", Accepts::Code(2)),
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
        let measure = |value: &Value| value.as_f64().is_some_and(|measure| measure >= 0.0);
        match *self {
            Self::Code(highest) => code(value, highest),
            Self::Codes(highest) => match value {
                Value::Array(codes) => codes.iter().all(|value| code(value, highest)),
                value => code(value, highest),
            },
            Self::Measure => measure(value),
            Self::Place => position(value).is_some(),
            Self::Radius => measure(value) || position(value).is_some(),
            Self::Truth => value.is_boolean(),
        }
    }

    fn must(&self) -> String {
        match self {
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

/// Notes every attribute of `card_data` that is not as it must be.
pub(super) fn check(card_data: &Fields<'_>) {
    for (name, accepts) in &ATTRIBUTES {
        card_data.convert(name, accepts.must(), |value| accepts.takes(value).then_some(()));
    }
}
