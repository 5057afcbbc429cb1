//! The schema of CAP 1.2 as tables: which elements an element holds, in which order, how often, and of which form.

use super::document::{Element, Vocabulary};
use super::finding::{Notes, shown};
use super::times;

/// The content of an element.
#[derive(Clone, Copy)]
enum Content {
    Text,
    /// A time as CAP writes it.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    Language,
    Integer,
    Decimal,
    Elements(&'static [Rule]),
}

use Content::{Decimal, Elements, Integer, Language, Text, Time, Word};

/// One kind of child.
struct Rule {
    name: &'static str,
    required: bool,
    repeated: bool,
    content: Content,
}

const fn one(name: &'static str, content: Content) -> Rule {
    Rule { name, required: true, repeated: false, content }
}

const fn maybe(name: &'static str, content: Content) -> Rule {
    Rule { name, required: false, repeated: false, content }
}

const fn any(name: &'static str, content: Content) -> Rule {
    Rule { name, required: false, repeated: true, content }
}

const fn some(name: &'static str, content: Content) -> Rule {
    Rule { name, required: true, repeated: true, content }
}

/// What an `alert` holds, in this order (CAP 1.2 §3.2.1).
const ALERT: &[Rule] = &[
    one("identifier", Text),
    one("sender", Text),
    one("sent", Time),
    one("status", Word(&["Actual", "Exercise", "System", "Test", "Draft"])),
    one("msgType", Word(&["Alert", "Update", "Cancel", "Ack", "Error"])),
    maybe("source", Text),
    one("scope", Word(&["Public", "Restricted", "Private"])),
    maybe("restriction", Text),
    maybe("addresses", Text),
    any("code", Text),
    maybe("note", Text),
    maybe("references", Text),
    maybe("incidents", Text),
    any("info", Elements(INFO)),
];

const CATEGORIES: &[&str] = &[
    "Geo",
    "Met",
    "Safety",
    "Security",
    "Rescue",
    "Fire",
    "Health",
    "Env",
    "Transport",
    "Infra",
    "CBRNE",
    "Other",
];

const RESPONSES: &[&str] =
    &["Shelter", "Evacuate", "Prepare", "Execute", "Avoid", "Monitor", "Assess", "AllClear", "None"];

/// What an `info` holds (CAP 1.2 §3.2.2).
const INFO: &[Rule] = &[
    maybe("language", Language),
    some("category", Word(CATEGORIES)),
    one("event", Text),
    any("responseType", Word(RESPONSES)),
    one("urgency", Word(&["Immediate", "Expected", "Future", "Past", "Unknown"])),
    one("severity", Word(&["Extreme", "Severe", "Moderate", "Minor", "Unknown"])),
    one("certainty", Word(&["Observed", "Likely", "Possible", "Unlikely", "Unknown"])),
    maybe("audience", Text),
    any("eventCode", Elements(NAMED)),
    maybe("effective", Time),
    maybe("onset", Time),
    maybe("expires", Time),
    maybe("senderName", Text),
    maybe("headline", Text),
    maybe("description", Text),
    maybe("instruction", Text),
    maybe("web", Text),
    maybe("contact", Text),
    any("parameter", Elements(NAMED)),
    any("resource", Elements(RESOURCE)),
    any("area", Elements(AREA)),
];

/// What a `resource` holds (CAP 1.2 §3.2.3).
const RESOURCE: &[Rule] = &[
    one("resourceDesc", Text),
    one("mimeType", Text),
    maybe("size", Integer),
    maybe("uri", Text),
    maybe("derefUri", Text),
    maybe("digest", Text),
];

/// What an `area` holds (CAP 1.2 §3.2.4).
const AREA: &[Rule] = &[
    one("areaDesc", Text),
    any("polygon", Text),
    any("circle", Text),
    any("geocode", Elements(NAMED)),
    maybe("altitude", Decimal),
    maybe("ceiling", Decimal),
];

const NAMED: &[Rule] = &[one("valueName", Text), one("value", Text)];

/// Checks an `alert`, after which signatures may stand.
pub(super) fn alert(alert: &Element, notes: &mut Notes) {
    form(alert, Elements(ALERT), notes);
}

/// Checks an element of an alert that stands alone, as in an entry of a feed.
pub(super) fn field(field: &Element, notes: &mut Notes) {
    let known = [ALERT, INFO, AREA].into_iter().flatten().find(|rule| rule.name == field.name());
    match known {
        Some(rule) => form(field, rule.content, notes),
        None => unknown(field, notes),
    }
}

fn unknown(element: &Element, notes: &mut Notes) {
    let found = format!("CAP 1.2 does not allow <{}> here", element.tag);
    notes.error(element.line, found, "remove it, or correct its name, namespace or place");
}

/// Checks the attributes, the text and the children of an element.
fn form(element: &Element, content: Content, notes: &mut Notes) {
    if let Some((name, _)) = element.attributes.first() {
        let found = format!("<{}> has the attribute {}", element.tag, shown(name));
        notes.error(element.line, found, "remove it: CAP 1.2 has no attributes");
    }
    let value = element.value();
    let (fits, advice) = match content {
        Elements(rules) => {
            sequence(element, rules, notes);
            return;
        }
        Text => (true, ""),
        Time => (
            times::cap(value).is_some(),
            "write YYYY-MM-DDThh:mm:ss and an offset such as +07:00, no fraction, no Z (CAP 1.2 §3.3.2)",
        ),
        Word(words) => {
            (words.contains(&&*element.text), "use a word that CAP 1.2 §3.2 lists for it, without spaces")
        }
        Language => {
            (value.is_empty() || is_language(value), "write a language such as id-ID or en-US (RFC 3066)")
        }
        Integer => (is_number(value, false), "write an integer"),
        Decimal => (is_number(value, true), "write a decimal number"),
    };
    if !fits {
        notes.error(element.line, format!("<{}> is {}", element.tag, shown(&element.text)), advice);
    }
    if let Some(child) = element.children.first() {
        unknown(child, notes);
    }
}

/// Checks the children of an element: their order, how often they occur, and each of them.
fn sequence(element: &Element, rules: &[Rule], notes: &mut Notes) {
    if !element.value().is_empty() {
        let found = format!("<{}> holds the text {}", element.tag, shown(element.value()));
        notes.error(element.line, found, "remove it: only elements may stand there (CAP 1.2 schema)");
    }
    let mut counts = vec![0_usize; rules.len()];
    // The place in the table that the children have reached; signatures come after all.
    let mut reached = 0;
    for child in &element.children {
        if child.vocabulary == Vocabulary::Signature && element.name() == "alert" {
            reached = rules.len();
            continue;
        }
        let place = rules.iter().position(|rule| rule.name == child.name());
        let Some((place, rule)) = place
            .filter(|_| child.vocabulary == Vocabulary::Cap)
            .and_then(|place| Some((place, rules.get(place)?)))
        else {
            unknown(child, notes);
            continue;
        };
        counts[place] += 1;
        if place < reached {
            let found = format!("<{}> stands too late", child.tag);
            notes.error(child.line, found, "put the elements into the order of the CAP 1.2 schema");
        }
        if counts[place] == 2 && !rule.repeated {
            let found = format!("<{}> occurs more than once", child.tag);
            notes.error(child.line, found, "keep one (CAP 1.2 schema)");
        }
        reached = reached.max(place);
        form(child, rule.content, notes);
    }
    for (rule, count) in rules.iter().zip(counts) {
        if rule.required && count == 0 {
            let found = format!("<{}> has no <{}>", element.tag, rule.name);
            notes.error(element.line, found, "add it (CAP 1.2 schema)");
        }
    }
}

/// Returns whether a text is a language tag: parts of one to eight letters and digits, the first one of letters only.
fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    (1..=8).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

fn is_number(text: &str, with_fraction: bool) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (with_fraction || !digits.contains('.'))
        && are_digits(whole)
        && are_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
}
