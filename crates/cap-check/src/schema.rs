//! The schema of CAP 1.2 as tables: children of each element, their order, number and content.

use super::document::{Element, Vocabulary};
use super::finding::{Notes, quote};
use super::times;

#[derive(Clone, Copy)]
enum Content {
    Text,
    /// A time in the format of CAP.
    Time,
    Word(&'static [&'static str]),
    Language,
    Integer,
    Decimal,
    Elements(&'static [Rule]),
}

use Content::{Decimal, Elements, Integer, Language, Text, Time, Word};

/// The rule for a child element: its name, number and content.
struct Rule {
    name: &'static str,
    required: bool,
    repeated: bool,
    content: Content,
}

const fn exactly_one(name: &'static str, content: Content) -> Rule {
    Rule { name, required: true, repeated: false, content }
}

const fn optional(name: &'static str, content: Content) -> Rule {
    Rule { name, required: false, repeated: false, content }
}

const fn zero_or_more(name: &'static str, content: Content) -> Rule {
    Rule { name, required: false, repeated: true, content }
}

const fn one_or_more(name: &'static str, content: Content) -> Rule {
    Rule { name, required: true, repeated: true, content }
}

/// The children of `alert`, in order (CAP 1.2 §3.2.1).
const ALERT: &[Rule] = &[
    exactly_one("identifier", Text),
    exactly_one("sender", Text),
    exactly_one("sent", Time),
    exactly_one("status", Word(&["Actual", "Exercise", "System", "Test", "Draft"])),
    exactly_one("msgType", Word(&["Alert", "Update", "Cancel", "Ack", "Error"])),
    optional("source", Text),
    exactly_one("scope", Word(&["Public", "Restricted", "Private"])),
    optional("restriction", Text),
    optional("addresses", Text),
    zero_or_more("code", Text),
    optional("note", Text),
    optional("references", Text),
    optional("incidents", Text),
    zero_or_more("info", Elements(INFO)),
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

/// The children of `info` (CAP 1.2 §3.2.2).
const INFO: &[Rule] = &[
    optional("language", Language),
    one_or_more("category", Word(CATEGORIES)),
    exactly_one("event", Text),
    zero_or_more("responseType", Word(RESPONSES)),
    exactly_one("urgency", Word(&["Immediate", "Expected", "Future", "Past", "Unknown"])),
    exactly_one("severity", Word(&["Extreme", "Severe", "Moderate", "Minor", "Unknown"])),
    exactly_one("certainty", Word(&["Observed", "Likely", "Possible", "Unlikely", "Unknown"])),
    optional("audience", Text),
    zero_or_more("eventCode", Elements(NAMED)),
    optional("effective", Time),
    optional("onset", Time),
    optional("expires", Time),
    optional("senderName", Text),
    optional("headline", Text),
    optional("description", Text),
    optional("instruction", Text),
    optional("web", Text),
    optional("contact", Text),
    zero_or_more("parameter", Elements(NAMED)),
    zero_or_more("resource", Elements(RESOURCE)),
    zero_or_more("area", Elements(AREA)),
];

/// The children of `resource` (CAP 1.2 §3.2.3).
const RESOURCE: &[Rule] = &[
    exactly_one("resourceDesc", Text),
    exactly_one("mimeType", Text),
    optional("size", Integer),
    optional("uri", Text),
    optional("derefUri", Text),
    optional("digest", Text),
];

/// The children of `area` (CAP 1.2 §3.2.4).
const AREA: &[Rule] = &[
    exactly_one("areaDesc", Text),
    zero_or_more("polygon", Text),
    zero_or_more("circle", Text),
    zero_or_more("geocode", Elements(NAMED)),
    optional("altitude", Decimal),
    optional("ceiling", Decimal),
];

const NAMED: &[Rule] = &[exactly_one("valueName", Text), exactly_one("value", Text)];

/// Checks an alert. Signatures may follow the last element.
pub(super) fn alert(alert: &Element, notes: &mut Notes) {
    check_content(alert, Elements(ALERT), notes);
}

/// Checks an element of an alert outside of an alert, for example in an entry of a feed.
pub(super) fn field(field: &Element, notes: &mut Notes) {
    let known = [ALERT, INFO, AREA].into_iter().flatten().find(|rule| rule.name == field.name());
    match known {
        Some(rule) => check_content(field, rule.content, notes),
        None => unknown(field, notes),
    }
}

fn unknown(element: &Element, notes: &mut Notes) {
    let found = format!("CAP 1.2 does not allow <{}> here", element.tag);
    notes.error(element.line, found, "remove it, or correct its name, namespace or place");
}

/// Checks the attributes, the text and the children of an element.
fn check_content(element: &Element, content: Content, notes: &mut Notes) {
    if let Some((name, _)) = element.attributes.first() {
        let found = format!("<{}> has the attribute {}", element.tag, quote(name));
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
        notes.error(element.line, format!("<{}> is {}", element.tag, quote(&element.text)), advice);
    }
    if let Some(child) = element.children.first() {
        unknown(child, notes);
    }
}

/// Checks the children of an element: their order, number and content.
fn sequence(element: &Element, rules: &[Rule], notes: &mut Notes) {
    if !element.value().is_empty() {
        let found = format!("<{}> holds the text {}", element.tag, quote(element.value()));
        notes.error(element.line, found, "remove it: only elements may stand there (CAP 1.2 schema)");
    }
    let mut counts = vec![0_usize; rules.len()];
    // The current position in `rules`. Signatures come after the last rule.
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
        check_content(child, rule.content, notes);
    }
    for (rule, count) in rules.iter().zip(counts) {
        if rule.required && count == 0 {
            let found = format!("<{}> has no <{}>", element.tag, rule.name);
            notes.error(element.line, found, "add it (CAP 1.2 schema)");
        }
    }
}

/// Whether a text is a language tag: parts of one to eight letters and digits, the first part only letters.
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
