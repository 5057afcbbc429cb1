//! What the form asks about each disaster.

use serde_json::{Map, Value, json};

use super::form::Filled;
use crate::config::Config;
use crate::country::Texts;
use crate::model::bodies::Accepts;
use crate::model::{DisasterType, Hazards};

/// The names of all fields of the form but the photo.
pub(super) const FIELDS: [&str; 25] = [
    "token",
    "website",
    "created_at",
    "sent_at",
    "city",
    "parent",
    "disaster",
    "lat",
    "lng",
    "area",
    "text",
    "report_type",
    "flood_depth",
    "accessabilityFailure",
    "condition",
    "structureFailure",
    "impact",
    "visibility",
    "airQuality",
    "evacuationNumber",
    "fireRadius",
    "fireDistance",
    "volcanicSigns",
    "evacuationArea",
    "lang",
];

/// The attributes that the form asks for: of a disaster, and of one of its report types if that is named.
const ASKED: [(&str, Option<&str>, &[&str]); 7] = [
    ("flood", None, &["flood_depth"]),
    ("earthquake", Some("road"), &["accessabilityFailure"]),
    ("earthquake", Some("structure"), &["structureFailure"]),
    ("wind", None, &["impact"]),
    ("haze", None, &["visibility", "airQuality"]),
    ("fire", None, &["fireRadius"]),
    ("volcano", None, &["volcanicSigns", "evacuationNumber", "evacuationArea"]),
];

/// The disasters in the order of the form.
const ORDER: [DisasterType; 6] = [
    DisasterType::Flood,
    DisasterType::Earthquake,
    DisasterType::Wind,
    DisasterType::Haze,
    DisasterType::Fire,
    DisasterType::Volcano,
];

/// Returns the disasters that people can report, with their questions, in a language.
pub(super) fn hazards(config: &Config, texts: &Texts) -> Value {
    let known = config.disaster_types();
    let own = known.iter().copied().filter(|known| matches!(known, DisasterType::Other(_)));
    let asked = ORDER.into_iter().filter(|disaster| known.contains(disaster)).chain(own);
    asked.map(|disaster| hazard(disaster.name(), texts, &config.cards.hazards)).collect()
}

fn hazard(name: &str, texts: &Texts, hazards: &Hazards) -> Value {
    let words = &texts.group("form")["hazards"];
    let parts =
        ASKED.iter().filter(|(disaster, ..)| *disaster == name).map(|(_, report_type, attributes)| {
            let attributes: Vec<Value> =
                attributes.iter().map(|name| attribute(name, words, hazards)).collect();
            let label = report_type.map(|name| &words["types"][name]);
            json!({ "report_type": report_type, "label": label, "attributes": attributes })
        });
    let known = texts.group("hazards")["names"][name].as_str();
    let label = words["names"][name].as_str().or(known).unwrap_or(name);
    json!({ "name": name, "label": label, "parts": parts.collect::<Vec<_>>() })
}

fn attribute(name: &str, words: &Value, hazards: &Hazards) -> Value {
    let kind = match hazards.attribute(name).map(|attribute| attribute.accepts) {
        Some(Accepts::Depth(_)) => "depth",
        Some(Accepts::Codes(_)) => "codes",
        Some(Accepts::Radius | Accepts::Measure) => "measure",
        Some(Accepts::Truth) => "truth",
        Some(Accepts::Code(_) | Accepts::Place) | None => "code",
    };
    let words = &words["attributes"][name];
    json!({ "name": name, "kind": kind, "label": words["label"], "codes": words["codes"] })
}

/// Returns the member `card_data` of a report.
pub(super) fn card_data(disaster: &str, filled: &Filled) -> Value {
    let report_type = filled.get("report_type").filter(|_| disaster == "earthquake");
    let mut data = Map::new();
    if disaster != "earthquake" {
        data.insert("report_type".to_owned(), disaster.into());
    } else if let Some(report_type) = report_type {
        data.insert("report_type".to_owned(), report_type.into());
    }
    let asked =
        ASKED.iter().filter(|(of, part, _)| *of == disaster && (part.is_none() || *part == report_type));
    for name in asked.flat_map(|(.., attributes)| *attributes) {
        let mut values: Vec<Value> = filled.all(name).map(value).collect();
        let is_list = *name == "volcanicSigns";
        match values.pop() {
            None => {}
            Some(last) if is_list => {
                values.push(last);
                data.insert((*name).to_owned(), values.into());
            }
            Some(last) => drop(data.insert((*name).to_owned(), last)),
        }
    }
    data.into()
}

/// Returns what a text means: a number, also with a decimal comma, or true or false; anything else stays a text, which the rules
/// for reports refuse.
fn value(text: &str) -> Value {
    match text {
        "true" => true.into(),
        "false" => false.into(),
        text => serde_json::from_str::<serde_json::Number>(&text.replace(',', "."))
            .map_or_else(|_| text.into(), Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_attributes_of_the_disaster_are_sent() {
        let mut filled = Filled::default();
        for (name, text) in [
            ("flood_depth", " 40,5 "),
            ("report_type", "road"),
            ("accessabilityFailure", "2"),
            ("structureFailure", "1"),
            ("volcanicSigns", "3"),
            ("evacuationArea", "true"),
            ("fireRadius", "wide"),
        ] {
            filled.put(name, text);
        }
        for (disaster, expected) in [
            ("flood", json!({ "report_type": "flood", "flood_depth": 40.5 })),
            ("earthquake", json!({ "report_type": "road", "accessabilityFailure": 2 })),
            ("volcano", json!({ "report_type": "volcano", "volcanicSigns": [3], "evacuationArea": true })),
            ("fire", json!({ "report_type": "fire", "fireRadius": "wide" })),
            ("typhoon", json!({ "report_type": "typhoon" })),
        ] {
            assert_eq!(card_data(disaster, &filled), expected);
        }
    }
}
