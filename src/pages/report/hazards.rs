//! The questions of the form for each hazard: the country defines them, the group `hazards` has their texts.

use serde_json::{Map, Value, json};

use super::form_data::FormData;
use crate::config::Config;
use crate::data::country::Translations;
use crate::model::bodies::{Accepts, Object, is_required, report_type_names};
use crate::model::{Attribute, DisasterType, Hazard};

/// The member of `card_data` that has the report type, and the suffix of its field.
const TYPE: &str = "report_type";
/// The icon of a disaster without hazard data.
const ICON: &str = "M12 3 1.5 21h21zm-1 6h2v6h-2zm0 7.5h2v2h-2z";

/// The questions of the form about one hazard.
struct HazardQuestion<'a> {
    disaster: DisasterType,
    /// `None` if only the configuration has the disaster.
    hazard: Option<&'a Hazard>,
    /// The report types. The form has a field for the type only if there are several.
    types: Vec<&'a str>,
    /// Each attribute once, with the report types that have it.
    attributes: Vec<(&'a Attribute, Vec<&'a str>)>,
}

/// Calls `each` for every hazard, in the order of the form.
fn map_hazards<T>(config: &Config, mut each: impl FnMut(HazardQuestion<'_>) -> T) -> Vec<T> {
    let disasters = config.disaster_types().into_iter().filter(|disaster| *disaster != DisasterType::Prep);
    disasters
        .map(|disaster| {
            let hazards = &config.cards.hazards;
            let hazard = hazards.get(disaster);
            let report_types = hazard.map(|hazard| hazard.report_types.as_slice()).unwrap_or_default();
            let mut attributes: Vec<(&Attribute, Vec<&str>)> = Vec::new();
            for (report_type, name) in report_types
                .iter()
                .flat_map(|report_type| report_type.attributes.iter().map(move |name| (report_type, name)))
            {
                let Some(attribute) = hazards.attribute(name).filter(|attribute| attribute.is_asked) else {
                    continue;
                };
                match attributes.iter_mut().find(|(existing, _)| existing.name == *name) {
                    Some((_, types)) => types.push(&report_type.name),
                    None => attributes.push((attribute, vec![&report_type.name])),
                }
            }
            each(HazardQuestion {
                disaster,
                hazard,
                types: report_type_names(&disaster, &config.cards),
                attributes,
            })
        })
        .collect()
}

/// Returns the name of the field for a member of `card_data`. Each hazard has its own fields.
fn field(disaster: DisasterType, member: &str) -> String {
    format!("{}.{member}", disaster.name())
}

pub(super) fn fields(config: &Config) -> Vec<String> {
    let map = |question: HazardQuestion<'_>| {
        let attributes = question.attributes.iter().map(|(attribute, _)| attribute.name.as_str());
        [TYPE].into_iter().chain(attributes).map(|name| field(question.disaster, name)).collect::<Vec<_>>()
    };
    map_hazards(config, map).concat()
}

pub(super) fn hazards(config: &Config, texts: &Translations) -> Value {
    map_hazards(config, |question| question.to_json(texts)).into()
}

pub(super) fn card_data(disaster: DisasterType, form: &FormData, config: &Config) -> Object {
    let map =
        |question: HazardQuestion<'_>| (question.disaster == disaster).then(|| question.card_data(form));
    map_hazards(config, map).into_iter().flatten().next().unwrap_or_default()
}

/// Returns the field for a faulty member of the card data, or the field of the disaster if the form has no such field.
pub(super) fn field_of(disaster: DisasterType, member: &str, config: &Config) -> String {
    let name = field(disaster, member);
    if fields(config).contains(&name) { name } else { "disaster".to_owned() }
}

/// Returns the message for an invalid field. The name of a field about a hazard begins with the name of the hazard and a dot.
pub(super) fn fault_text(field: &str, texts: &Translations, config: &Config) -> String {
    let faults = &texts.group("form")["faults"];
    let text = |name: &str| faults[name].as_str().or(faults["other"].as_str()).unwrap_or_default().to_owned();
    match field.split_once('.') {
        None => text(field),
        Some((_, TYPE)) => text(TYPE),
        Some((_, name)) => match config.cards.hazards.attribute(name).map(|attribute| attribute.accepts) {
            Some(Accepts::Depth(highest)) => text("depth").replace("{highest}", &highest.to_string()),
            _ => text("other"),
        },
    }
}

/// Returns the messages for the fields that the script checks before it shows the next step.
pub(super) fn step_faults(texts: &Translations, config: &Config) -> Value {
    let names = ["disaster", "place"].map(str::to_owned).into_iter().chain(fields(config));
    let texts = names.map(|name| (name.clone(), fault_text(&name, texts, config).into()));
    texts.collect::<Map<_, _>>().into()
}

impl HazardQuestion<'_> {
    fn to_json(&self, texts: &Translations) -> Value {
        let words = texts.group("hazards");
        let name = self.disaster.name();
        let types = self.types.iter().map(|name| json!({ "name": name, "label": words["types"][name] }));
        let types: Vec<_> = if self.types.len() > 1 { types.collect() } else { Vec::new() };
        let attributes = self.attributes.iter().map(|(Attribute { name, accepts, .. }, types)| {
            let words = &words["attributes"][name];
            let (kind, unit) = match accepts {
                Accepts::Depth(_) => ("depth", "cm"),
                Accepts::Measure | Accepts::Radius => ("number", "m"),
                Accepts::Codes(_) => ("several", ""),
                Accepts::Code(_) | Accepts::Truth | Accepts::Place => ("one", ""),
            };
            json!({
                "field": field(self.disaster, name), "label": words["ask"], "types": types.join(" "),
                "required": is_required(self.disaster, name), "kind": kind, "unit": unit, "highest": max_depth(*accepts), "choices": choices(*accepts, words, texts),
            })
        });
        json!({
            "name": name,
            "label": words["names"][name].as_str().unwrap_or(name),
            "icon": self.hazard.map_or(ICON, |hazard| &hazard.icon),
            "type": field(self.disaster, TYPE),
            "types": types,
            "attributes": attributes.collect::<Vec<_>>(),
        })
    }

    /// Returns type and attributes as the data of a card; empty if no type is chosen. Ignores attributes of other types.
    fn card_data(&self, form: &FormData) -> Object {
        let report_type = match self.types[..] {
            [only] => Some(only),
            _ => form.get(&field(self.disaster, TYPE)),
        };
        let mut data = Object::new();
        let Some(report_type) = report_type else { return data };
        data.insert(TYPE.to_owned(), report_type.into());
        for (Attribute { name, accepts, .. }, _) in
            self.attributes.iter().filter(|(_, types)| types.contains(&report_type))
        {
            let mut values: Vec<Value> = form.all(&field(self.disaster, name)).map(parse_value).collect();
            let value = match accepts {
                _ if values.is_empty() => continue,
                Accepts::Codes(_) => values.into(),
                _ => values.swap_remove(0),
            };
            data.insert(name.clone(), value);
        }
        data
    }
}

fn max_depth(accepts: Accepts) -> Option<u32> {
    if let Accepts::Depth(highest) = accepts { Some(highest) } else { None }
}

/// Returns the choices. If several codes have the same text, only the first is a choice.
fn choices(accepts: Accepts, words: &Value, texts: &Translations) -> Value {
    let codes = match accepts {
        Accepts::Code(highest) | Accepts::Codes(highest) => 0..=highest,
        Accepts::Truth => {
            let choice = |value: &str, name| json!({ "value": value, "label": texts.text("words", name) });
            return json!([choice("true", "yes"), choice("false", "no")]);
        }
        _ => return json!([]),
    };
    let mut choices: Vec<Value> = Vec::new();
    for code in codes.map(|code| code.to_string()) {
        let label = &words[&code];
        if choices.iter().all(|choice| choice["label"] != *label) {
            choices.push(json!({ "value": code, "label": label }));
        }
    }
    choices.into()
}

/// Parses a number (also with a decimal comma) or a boolean. Returns any other text unchanged, to be validated later.
fn parse_value(text: &str) -> Value {
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
    fn only_the_attributes_of_the_report_type_are_sent() {
        let mut form = FormData::default();
        for (name, text) in [
            ("flood.flood_depth", " 40,5 "),
            ("earthquake.report_type", "road"),
            ("earthquake.accessabilityFailure", "2"),
            ("earthquake.structureFailure", "1"),
            ("volcano.volcanicSigns", "3"),
            ("volcano.evacuationArea", "true"),
            ("fire.fireRadius", "wide"),
        ] {
            form.set(name, text);
        }
        for (disaster, expected) in [
            ("flood", json!({ "report_type": "flood", "flood_depth": 40.5 })),
            ("earthquake", json!({ "report_type": "road", "accessabilityFailure": 2 })),
            ("volcano", json!({ "report_type": "volcano", "volcanicSigns": [3], "evacuationArea": true })),
            ("fire", json!({ "report_type": "fire", "fireRadius": "wide" })),
            ("typhoon", json!({})),
        ] {
            let data = card_data(disaster.parse().unwrap(), &form, &Config::default());
            assert_eq!(Value::from(data), expected);
        }
    }

    #[test]
    fn codes_with_the_same_text_are_one_choice_and_unasked_attributes_have_no_field() {
        let config = Config::default();
        let shown = hazards(&config, &config.country.data().languages()[1]);
        let road = &shown[1]["attributes"][0];
        let values = road["choices"].as_array().unwrap().iter().map(|choice| &choice["value"]);
        assert_eq!(values.collect::<Vec<_>>(), ["0", "1", "2", "4"]);
        assert_eq!(road["field"], "earthquake.accessabilityFailure");
        let fields = fields(&config);
        assert!(fields.contains(&"fire.fireRadius".to_owned()));
        assert!(!fields.iter().any(|field| field.ends_with(".condition") || field.ends_with("Location")));
    }
}
