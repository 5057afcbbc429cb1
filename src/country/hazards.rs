//! `hazards.toml`.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toml::Spanned;

use super::Faults;
use super::files::{Files, line_of};
use super::texts::Texts;
use super::tree::{Kind, Node};
use crate::model::bodies::Accepts;
use crate::model::{Attribute, DisasterType, Hazard, Hazards, ReportType};

const FILE: &str = "hazards.toml";

/// The most entries of a list.
const MOST: usize = 100;
/// The kinds of attributes.
const KINDS: [&str; 7] = ["depth", "code", "codes", "measure", "place", "radius", "truth"];
/// The longest icon, in characters.
const LONGEST_ICON: usize = 2_000;
/// The highest code.
const HIGHEST_CODE: u32 = 99;
/// The longest window of the live map: what `timeperiod` of `/reports` allows.
const LONGEST_WINDOW: Duration = Duration::from_hours(7 * 24);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    hazard: Vec<Spanned<HazardEntry>>,
    #[serde(default)]
    attribute: Vec<Spanned<AttributeEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HazardEntry {
    name: Spanned<String>,
    colour: Spanned<String>,
    window: Spanned<String>,
    icon: Spanned<String>,
    report: Vec<Spanned<ReportEntry>>,
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

/// The file while it is read.
struct Reading<'a> {
    text: &'a str,
    faults: &'a mut Faults,
}

/// Reads the hazards. Returns `None` only after a fault was noted.
pub(super) fn read(files: &Files, faults: &mut Faults) -> Option<Hazards> {
    let (File { hazard, attribute }, text) = files.toml::<File>(FILE, faults)?;
    let mut reading = Reading { text: &text, faults };
    if !(1..=MOST).contains(&hazard.len()) || attribute.len() > MOST {
        reading.faults.note(FILE, 1, format!("must have 1 to {MOST} hazards and at most {MOST} attributes"));
        return None;
    }
    let (mut names, mut attributes) = (HashSet::new(), Vec::new());
    for entry in attribute.into_iter().map(Spanned::into_inner) {
        let name = entry.name.get_ref();
        if !is_key(name) {
            reading.note(&entry.name, "must be a name of 1 to 64 letters, digits and _");
        }
        if !names.insert(name.clone()) {
            reading.note(&entry.name, &format!("the attribute {name} occurs twice"));
        }
        let is_asked = reading.is_asked(&entry);
        if let Some(accepts) = reading.accepts(&entry) {
            attributes.push(Attribute { name: name.clone(), accepts, is_asked });
        }
    }
    let (mut disasters, mut list) = (HashSet::new(), Vec::new());
    for entry in hazard.into_iter().map(Spanned::into_inner) {
        list.extend(reading.hazard(entry, &names, &mut disasters));
    }
    Some(Hazards { list, attributes })
}

impl Reading<'_> {
    fn note<T>(&mut self, entry: &Spanned<T>, reason: &str) {
        self.faults.note(FILE, line_of(self.text, entry.span().start), reason);
    }

    fn accepts(&mut self, entry: &AttributeEntry) -> Option<Accepts> {
        let kind = entry.kind.get_ref().as_str();
        if !KINDS.contains(&kind) {
            self.note(&entry.kind, &format!("kind must be one of [{}], not {kind:?}", KINDS.join(", ")));
            return None;
        }
        let needs = matches!(kind, "depth" | "code" | "codes");
        let highest = match &entry.highest {
            None if needs => {
                self.note(&entry.kind, &format!("an attribute of the kind {kind} needs \"highest\""));
                return None;
            }
            Some(highest) if !needs => {
                self.note(highest, &format!("an attribute of the kind {kind} has no \"highest\""));
                return None;
            }
            highest => highest.as_ref().map(|highest| *highest.get_ref()).unwrap_or_default(),
        };
        if let Some(of) = entry.highest.as_ref().filter(|_| kind != "depth" && highest > HIGHEST_CODE) {
            self.note(of, &format!("must be at most {HIGHEST_CODE}"));
        }
        Some(match kind {
            "depth" => Accepts::Depth(highest),
            "code" => Accepts::Code(highest.into()),
            "codes" => Accepts::Codes(highest.into()),
            "measure" => Accepts::Measure,
            "place" => Accepts::Place,
            "radius" => Accepts::Radius,
            _ => Accepts::Truth,
        })
    }

    /// Returns whether the form asks for an attribute. It asks for no second place.
    fn is_asked(&mut self, entry: &AttributeEntry) -> bool {
        let is_place = entry.kind.get_ref() == "place";
        if let Some(asked) = entry.asked.as_ref().filter(|asked| is_place && *asked.get_ref()) {
            self.note(asked, "an attribute of the kind place is never asked");
        }
        !is_place && entry.asked.as_ref().is_none_or(|asked| *asked.get_ref())
    }

    fn hazard(
        &mut self,
        entry: HazardEntry,
        attributes: &HashSet<String>,
        disasters: &mut HashSet<DisasterType>,
    ) -> Option<Hazard> {
        let HazardEntry { name, colour, window, icon, report } = entry;
        let disaster = match name.get_ref().parse() {
            Ok(DisasterType::Prep) => {
                self.note(
                    &name,
                    "prep needs no entry: its types are the key cards.prep_types of the configuration",
                );
                return None;
            }
            Ok(disaster) => disaster,
            Err(error) => {
                self.note(&name, &format!("{:?} {error}", name.get_ref()));
                return None;
            }
        };
        if !disasters.insert(disaster) {
            self.note(&name, &format!("the hazard {disaster} occurs twice"));
        }
        if !is_colour(colour.get_ref()) {
            self.note(&colour, "colour must be # and six hexadecimal digits");
        }
        if !is_path(icon.get_ref()) {
            let must = format!(
                "icon must be the data of an SVG path of at most {LONGEST_ICON} characters: commands and numbers"
            );
            self.note(&icon, &must);
        }
        let allowed = Duration::from_secs(1)..=LONGEST_WINDOW;
        let window_of =
            humantime::parse_duration(window.get_ref()).ok().filter(|window| allowed.contains(window));
        if window_of.is_none() {
            self.note(&window, "window must be a time from 1s to 7d, such as 6h");
        }
        if !(1..=MOST).contains(&report.len()) {
            self.note(&name, &format!("the hazard must have 1 to {MOST} types of reports"));
        }
        let mut reports: Vec<ReportType> = Vec::new();
        for ReportEntry { name, attributes: of } in report.into_iter().map(Spanned::into_inner) {
            if !is_key(name.get_ref()) {
                self.note(&name, "must be a name of 1 to 64 letters, digits and _");
            }
            if reports.iter().any(|other| other.name == *name.get_ref()) {
                self.note(&name, &format!("the report type {} occurs twice in {disaster}", name.get_ref()));
            }
            for attribute in of.iter().filter(|attribute| !attributes.contains(attribute.get_ref())) {
                self.note(attribute, &format!("there is no attribute {:?}", attribute.get_ref()));
            }
            let attributes = of.into_iter().map(Spanned::into_inner).collect();
            reports.push(ReportType { name: name.into_inner(), attributes });
        }
        let (icon, colour) = (icon.into_inner(), colour.into_inner());
        Some(Hazard { disaster, reports, icon, colour, window: window_of? })
    }
}

fn is_key(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_colour(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a text is the data of an SVG path, as far as its characters show.
fn is_path(text: &str) -> bool {
    let allowed = |byte: u8| b"MmLlHhVvCcSsQqTtAaZz".contains(&byte) || b"0123456789 .,+-".contains(&byte);
    (2..=LONGEST_ICON).contains(&text.len()) && text.starts_with(['M', 'm']) && text.bytes().all(allowed)
}

/// Returns the texts that a country with these hazards needs: the group `hazards`.
pub(super) fn needed(hazards: &Hazards) -> Node {
    let text = || Node { line: 1, kind: Kind::Text(String::new()) };
    let group = |members: Vec<(String, Node)>| Node { line: 1, kind: Kind::Group(members) };
    let names = hazards.disasters().map(|disaster| (disaster.name().to_owned(), text())).collect();
    let mut types: Vec<(String, Node)> = Vec::new();
    for report in hazards.list.iter().flat_map(|hazard| &hazard.reports) {
        if types.iter().all(|(known, _)| *known != report.name) {
            types.push((report.name.clone(), text()));
        }
    }
    let attributes = hazards.attributes.iter().map(|Attribute { name, accepts, is_asked }| {
        let mut members = vec![("name".to_owned(), text())];
        if *is_asked {
            members.push(("ask".to_owned(), text()));
        }
        if let Accepts::Code(highest) | Accepts::Codes(highest) = *accepts {
            members.extend((0..=highest).map(|code| (code.to_string(), text())));
        }
        (name.clone(), group(members))
    });
    let attributes = attributes.collect();
    group(vec![
        ("names".to_owned(), group(names)),
        ("types".to_owned(), group(types)),
        ("attributes".to_owned(), group(attributes)),
    ])
}

impl Default for Hazards {
    /// Returns those of Indonesia.
    fn default() -> Self {
        let mut faults = Faults::default();
        read(&Files::BuiltIn, &mut faults)
            .unwrap_or_else(|| unreachable!("the hazards of the program: {faults:?}"))
    }
}

impl Texts {
    /// Returns the hazards for the script of a page, in this language: name, colour, icon, window in seconds and types of each
    /// hazard, and name, kind and words of each attribute.
    pub(crate) fn hazards(&self, hazards: &Hazards) -> Value {
        let words = self.group("hazards");
        let mut all: Map<String, Value> = hazards
            .list
            .iter()
            .map(|hazard| {
                let types: Map<String, Value> = hazard
                    .reports
                    .iter()
                    .map(|report| {
                        (
                            report.name.clone(),
                            json!({ "name": words["types"][&report.name], "attributes": report.attributes }),
                        )
                    })
                    .collect();
                let name = hazard.disaster.name().to_owned();
                let value = json!({
                    "name": words["names"][&name], "colour": hazard.colour, "icon": hazard.icon,
                    "window": hazard.window.as_secs(), "types": types,
                });
                (name, value)
            })
            .collect();
        let prep =
            json!({ "name": words["names"]["prep"], "colour": "#5b2a86", "window": 3600, "types": {} });
        all.insert("prep".to_owned(), prep);
        let attributes: Map<String, Value> = hazards
            .attributes
            .iter()
            .map(|Attribute { name, accepts, .. }| {
                let mut value = words["attributes"][name].clone();
                // The question of the form.
                value.as_object_mut().map(|words| words.remove("ask"));
                value["kind"] = accepts.name().into();
                (name.clone(), value)
            })
            .collect();
        json!({ "hazards": all, "attributes": attributes })
    }

    /// Returns the name of what a report is about: that of its type, or else of its disaster, or else the code of the disaster.
    pub(crate) fn hazard(&self, disaster: DisasterType, data: &Value) -> String {
        let words = self.group("hazards");
        let of_type = data["report_type"].as_str().and_then(|name| words["types"][name].as_str());
        let of_type = of_type.filter(|_| disaster != DisasterType::Prep);
        of_type.or(words["names"][disaster.name()].as_str()).unwrap_or(disaster.name()).to_owned()
    }

    /// Says in words what a report of a card says, one text for each attribute: "Road: motorcycles only". Members that are no
    /// attributes of the report type are left out.
    pub(crate) fn facts(&self, hazards: &Hazards, disaster: DisasterType, data: &Value) -> Vec<String> {
        let reports = hazards.of(disaster).map(|hazard| hazard.reports.as_slice()).unwrap_or_default();
        let Some(report) = reports.iter().find(|report| data["report_type"] == report.name) else {
            return Vec::new();
        };
        let fact = |name: &String| {
            let said = self.said(hazards.attribute(name)?, &data[name])?;
            let of = self.group("hazards")["attributes"][name]["name"].as_str()?;
            Some(format!("{of}: {said}"))
        };
        report.attributes.iter().filter_map(fact).collect()
    }

    /// Says the value of an attribute; `None` if it has none that people can read.
    fn said(&self, attribute: &Attribute, value: &Value) -> Option<String> {
        let words = &self.group("hazards")["attributes"][&attribute.name];
        let code = |value: &Value| Some(words[&value.as_u64()?.to_string()].as_str()?.to_owned());
        let unit = |unit| Some(format!("{} {unit}", value.as_f64()?.round()));
        match attribute.accepts {
            Accepts::Depth(_) => unit("cm"),
            Accepts::Measure => unit("m"),
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
