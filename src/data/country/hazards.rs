//! Reads `hazards.toml`.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use toml::Spanned;

use super::CountryDiagnostics;
use super::files::{Files, Toml, built_in};
use super::translations::Translations;
use crate::model::bodies::Accepts;
use crate::model::{Attribute, DisasterType, Hazard, Hazards, ReportType};

const FILE: &str = "hazards.toml";

/// The maximum number of hazards, of attributes, and of the report types of a hazard.
const MAX_ENTRIES: usize = 100;
/// The maximum length of an icon in characters.
const MAX_ICON: usize = 2_000;
const HIGHEST_CODE: u32 = 99;
/// The maximum `window`: the same as the limit of the parameter `timeperiod` of `/reports`.
const MAX_WINDOW: Duration = Duration::from_hours(7 * 24);
const KEY: &str = "must be a name of 1 to 64 letters, digits and _";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    hazard: Vec<HazardEntry>,
    #[serde(default)]
    attribute: Vec<AttributeEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HazardEntry {
    name: Spanned<String>,
    colour: Spanned<String>,
    window: Spanned<String>,
    icon: Spanned<String>,
    report: Vec<ReportEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportEntry {
    name: Spanned<String>,
    #[serde(default)]
    attributes: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttributeEntry {
    name: Spanned<String>,
    kind: Spanned<String>,
    highest: Option<Spanned<u32>>,
    asked: Option<Spanned<bool>>,
}

/// Reads the file. The result is valid only if no fault was recorded.
pub(super) fn read(files: &Files, diagnostics: &mut CountryDiagnostics) -> Option<Hazards> {
    let (File { hazard, attribute }, mut toml) = files.toml::<File>(FILE, diagnostics)?;
    let is_right = (1..=MAX_ENTRIES).contains(&hazard.len()) && attribute.len() <= MAX_ENTRIES;
    toml.check(
        is_right,
        0..0,
        format!("must have 1 to {MAX_ENTRIES} hazards and at most {MAX_ENTRIES} attributes"),
    );
    let (mut names, mut attributes) = (HashSet::new(), Vec::new());
    for entry in attribute {
        let (name, is_new) = (&entry.name, names.insert(entry.name.get_ref().clone()));
        toml.check(is_key(name.get_ref()), name.span(), KEY);
        toml.check(is_new, name.span(), format!("the attribute {name} occurs twice"));
        let (accepts, is_asked) = (entry.accepts(&mut toml), entry.is_asked(&mut toml));
        attributes.extend(accepts.map(|accepts| Attribute {
            name: name.get_ref().clone(),
            accepts,
            is_asked,
        }));
    }
    let mut list = Vec::new();
    for entry in hazard {
        list.extend(entry.read(&list, &names, &mut toml));
    }
    Some(Hazards { list, attributes })
}

impl AttributeEntry {
    /// Returns the kind of values that the attribute accepts. Records a fault if `kind` or `highest` is wrong.
    fn accepts(&self, toml: &mut Toml<'_>) -> Option<Accepts> {
        let (kind, highest) = (&self.kind, self.highest.as_ref().map(|highest| *highest.get_ref()));
        let codes = highest.unwrap_or_default().into();
        let kinds = [
            Accepts::Depth(highest.unwrap_or_default()),
            Accepts::Code(codes),
            Accepts::Codes(codes),
            Accepts::Measure,
            Accepts::Place,
            Accepts::Radius,
            Accepts::Truth,
        ];
        let Some(accepts) = kinds.into_iter().find(|accepts| accepts.name() == kind.get_ref()) else {
            let names = kinds.map(Accepts::name).join(", ");
            toml.note(kind.span(), format!("kind must be one of [{names}], not {:?}", kind.get_ref()));
            return None;
        };
        let is_code = matches!(accepts, Accepts::Code(_) | Accepts::Codes(_));
        let needs = is_code || matches!(accepts, Accepts::Depth(_));
        if let Some(highest) = &self.highest {
            let has_none = format!("an attribute of the kind {kind} has no \"highest\"");
            toml.check(needs, highest.span(), has_none);
            let is_right = !is_code || *highest.get_ref() <= HIGHEST_CODE;
            toml.check(is_right, highest.span(), format!("must be at most {HIGHEST_CODE}"));
        } else {
            toml.check(!needs, kind.span(), format!("an attribute of the kind {kind} needs \"highest\""));
        }
        Some(accepts)
    }

    /// Whether the report form asks for the attribute. Never for a place: the form has a separate field for places.
    fn is_asked(&self, toml: &mut Toml<'_>) -> bool {
        let is_place = self.kind.get_ref() == "place";
        if let Some(asked) = &self.asked {
            let is_right = !is_place || !asked.get_ref();
            toml.check(is_right, asked.span(), "an attribute of the kind place is never asked");
        }
        !is_place && self.asked.as_ref().is_none_or(|asked| *asked.get_ref())
    }
}

impl HazardEntry {
    /// Returns the hazard; `None` if its name is no disaster type. `others` are the earlier hazards in the file.
    fn read(self, others: &[Hazard], attributes: &HashSet<String>, toml: &mut Toml<'_>) -> Option<Hazard> {
        let Self { name, colour, window, icon, report } = self;
        let disaster = name.get_ref().parse::<DisasterType>();
        if let Err(error) = &disaster {
            toml.note(name.span(), format!("{:?} {error}", name.get_ref()));
        }
        let disaster = disaster.ok();
        let prep = "prep needs no entry: its types are the key cards.prep_types of the configuration";
        toml.check(disaster != Some(DisasterType::Prep), name.span(), prep);
        let is_new = others.iter().all(|other| Some(other.disaster) != disaster);
        toml.check(is_new, name.span(), format!("the hazard {name} occurs twice"));
        let is_right = is_colour(colour.get_ref());
        toml.check(is_right, colour.span(), "colour must be # and six hexadecimal digits");
        let reason = format!(
            "icon must be the data of an SVG path of at most {MAX_ICON} characters: commands and numbers"
        );
        toml.check(is_path(icon.get_ref()), icon.span(), reason);
        let duration = humantime::parse_duration(window.get_ref()).unwrap_or_default();
        let is_right = (Duration::from_secs(1)..=MAX_WINDOW).contains(&duration);
        toml.check(is_right, window.span(), "window must be a time from 1s to 7d, such as 6h");
        let reason = format!("the hazard must have 1 to {MAX_ENTRIES} types of reports");
        toml.check((1..=MAX_ENTRIES).contains(&report.len()), name.span(), reason);
        let mut report_types: Vec<ReportType> = Vec::new();
        for ReportEntry { name: key, attributes: names } in report {
            let is_new = report_types.iter().all(|other| other.name != *key.get_ref());
            toml.check(is_key(key.get_ref()), key.span(), KEY);
            toml.check(is_new, key.span(), format!("the report type {key} occurs twice in {name}"));
            for attribute in &names {
                let is_known = attributes.contains(attribute.get_ref());
                let reason = format!("there is no attribute {:?}", attribute.get_ref());
                toml.check(is_known, attribute.span(), reason);
            }
            let attributes = names.into_iter().map(Spanned::into_inner).collect();
            report_types.push(ReportType { name: key.into_inner(), attributes });
        }
        let (icon, colour) = (icon.into_inner(), colour.into_inner());
        Some(Hazard { disaster: disaster?, report_types, icon, colour, window: duration })
    }
}

fn is_key(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_colour(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_path(text: &str) -> bool {
    let allowed = |byte: u8| b"MmLlHhVvCcSsQqTtAaZz".contains(&byte) || b"0123456789 .,+-".contains(&byte);
    (2..=MAX_ICON).contains(&text.len()) && text.starts_with(['M', 'm']) && text.bytes().all(allowed)
}

/// Returns the names of all texts that these hazards need in each language: the group `hazards`, with empty texts.
pub(super) fn required_texts(hazards: &Hazards) -> Value {
    let empty_texts = |names: Vec<String>| names.into_iter().map(|name| (name, "")).collect::<Value>();
    let names = hazards.disasters().map(|disaster| disaster.name().to_owned());
    let types = hazards
        .list
        .iter()
        .flat_map(|hazard| &hazard.report_types)
        .map(|report_type| report_type.name.clone());
    let attributes = hazards.attributes.iter().map(|Attribute { name, accepts, is_asked }| {
        let mut words = vec!["name".to_owned()];
        words.extend(is_asked.then(|| "ask".to_owned()));
        if let Accepts::Code(highest) | Accepts::Codes(highest) = *accepts {
            words.extend((0..=highest).map(|code| code.to_string()));
        }
        (name.clone(), empty_texts(words))
    });
    json!({
        "names": empty_texts(names.collect()),
        "types": empty_texts(types.collect()),
        "attributes": attributes.collect::<Value>(),
    })
}

impl Default for Hazards {
    fn default() -> Self {
        built_in(read)
    }
}

impl Translations {
    /// Returns the hazards for the script of a page, in this language. Each hazard has name, colour, icon, window in seconds and
    /// types; each attribute has name, kind and words.
    pub(crate) fn hazards(&self, hazards: &Hazards) -> Value {
        let words = self.group("hazards");
        let hazard = |Hazard { disaster, report_types, icon, colour, window }: &Hazard| {
            let types = report_types.iter().map(|ReportType { name, attributes }| {
                (name.clone(), json!({ "name": words["types"][name], "attributes": attributes }))
            });
            let value = json!({
                "name": words["names"][disaster.name()], "colour": colour, "icon": icon,
                "window": window.as_secs(), "types": types.collect::<Value>(),
            });
            (disaster.name().to_owned(), value)
        };
        let prep =
            json!({ "name": words["names"]["prep"], "colour": "#5b2a86", "window": 3600, "types": {} });
        let all = hazards.list.iter().map(hazard).chain([("prep".to_owned(), prep)]);
        let attributes = hazards.attributes.iter().map(|Attribute { name, accepts, .. }| {
            let mut value = words["attributes"][name].clone();
            value.as_object_mut().map(|words| words.remove("ask"));
            value["kind"] = accepts.name().into();
            (name.clone(), value)
        });
        json!({ "hazards": all.collect::<Value>(), "attributes": attributes.collect::<Value>() })
    }

    /// Returns the name of a report's type. Falls back to the name of its disaster, then to the code of the disaster.
    pub(crate) fn report_type_name(&self, disaster: DisasterType, data: &Value) -> String {
        let words = self.group("hazards");
        let disaster_name = words["names"][disaster.name()].as_str().unwrap_or(disaster.name());
        // The configuration defines the types of `prep`, so no language names them: an equal name is the type of a hazard.
        if disaster == DisasterType::Prep {
            return disaster_name.to_owned();
        }
        let type_name = data["report_type"].as_str().and_then(|name| words["types"][name].as_str());
        type_name.unwrap_or(disaster_name).to_owned()
    }

    /// Describes a report of a card, with one text for each attribute of its report type: "Road: motorcycles only".
    pub(crate) fn facts(&self, hazards: &Hazards, disaster: DisasterType, data: &Value) -> Vec<String> {
        let report_types =
            hazards.get(disaster).map(|hazard| hazard.report_types.as_slice()).unwrap_or_default();
        let Some(report_type) = report_types.iter().find(|known| data["report_type"] == known.name) else {
            return Vec::new();
        };
        let fact = |name: &String| {
            let value = self.value_text(hazards.attribute(name)?, &data[name])?;
            let label = self.group("hazards")["attributes"][name]["name"].as_str()?;
            Some(format!("{label}: {value}"))
        };
        report_type.attributes.iter().filter_map(fact).collect()
    }

    /// Describes the value of an attribute; `None` if the value has the wrong type, or the kind has no description.
    fn value_text(&self, attribute: &Attribute, value: &Value) -> Option<String> {
        let words = &self.group("hazards")["attributes"][&attribute.name];
        let code = |value: &Value| Some(words[&value.as_u64()?.to_string()].as_str()?.to_owned());
        let with_unit = |unit| Some(format!("{} {unit}", value.as_f64()?.round()));
        match attribute.accepts {
            Accepts::Depth(_) => with_unit("cm"),
            Accepts::Measure => with_unit("m"),
            Accepts::Code(_) => code(value),
            Accepts::Codes(_) => {
                let all: Vec<_> = value.as_array()?.iter().filter_map(code).collect();
                (!all.is_empty()).then(|| all.join(", "))
            }
            Accepts::Truth => {
                Some(self.text("words", if value.as_bool()? { "yes" } else { "no" }).to_owned())
            }
            Accepts::Place | Accepts::Radius => None,
        }
    }
}
