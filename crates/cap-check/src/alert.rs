//! The rules that the schema cannot express, from the text of the standard and from known readers.

use chrono::{DateTime, TimeDelta, Utc};

use super::document::{Element, Vocabulary};
use super::finding::{Notes, quote};
use super::{address, geometry, languages, schema, times};

/// A longer time from `sent` to `expires` leads to a recommendation.
const MAX_LIFETIME: TimeDelta = TimeDelta::hours(24);

/// Elements that each `info` must have, with the advice if one is missing.
const REQUIRED: [(&str, &str); 6] = [
    ("expires", "add it: all readers end an alert then (Google)"),
    ("senderName", "add the name of the agency, which readers show"),
    ("headline", "add one line that readers show"),
    ("description", "add a text about the hazard (Google)"),
    ("web", "add the address of a page about this alert (Google)"),
    ("area", "add one: readers drop an alert without (Google, KDE)"),
];

/// Elements that each `info` should have, with the advice if one is missing.
const RECOMMENDED: [(&str, &str); 3] = [
    ("responseType", "add what kind of action to take (Google)"),
    ("instruction", "add what people should do (Google)"),
    ("contact", "add whom to contact about the alert (Google)"),
];

/// Texts that readers truncate: the element, the maximum number of characters, and the advice for longer texts.
const LENGTHS: [(&str, usize, &str); 2] = [
    ("event", 34, "shorten it to less than 35 characters (Google)"),
    ("headline", 140, "shorten it to 140 characters (CAP 1.2 §3.2.2, Google)"),
];

/// Checks an alert. `place` is its place in the document, such as `entry 3`; empty if the document is an alert.
pub(super) fn check(alert: &Element, place: &str, now: DateTime<Utc>, notes: &mut Notes) {
    let place = place_of(place, alert);
    notes.place.clone_from(&place);
    schema::alert(alert, notes);
    identity(alert, notes);
    distribution(alert, notes);
    references(alert, notes);
    let infos: Vec<_> = alert.all(Vocabulary::Cap, "info").collect();
    if infos.is_empty() {
        notes.error(
            alert.line,
            "the alert has no <info>",
            "add one: readers drop an alert without (Google, KDE)",
        );
    }
    expired(alert.line, &infos, now, notes);
    if !infos.is_empty() && !infos.iter().any(|info| languages::language(info).starts_with("en")) {
        notes.recommend(
            alert.line,
            "no <info> is in English",
            "add one with the language en-US for readers abroad",
        );
    }
    for (number, info) in infos.iter().enumerate() {
        notes.place = format!("{place}, info {} ({})", number + 1, quote(languages::language(info)));
        check_info(alert, info, notes);
    }
    notes.place = place;
    languages::check(&infos, notes);
}

/// Returns the place of an alert or entry for findings: its place in the document and its identifier.
pub(super) fn place_of(place: &str, holder: &Element) -> String {
    let alert = holder.cap("identifier").map(|identifier| format!("alert {}", quote(&identifier.text)));
    match (place, alert) {
        ("", None) => "alert".to_owned(),
        ("", Some(alert)) => alert,
        (place, None) => place.to_owned(),
        (place, Some(alert)) => format!("{place}, {alert}"),
    }
}

pub(super) fn identity(holder: &Element, notes: &mut Notes) {
    for element in ["identifier", "sender"].into_iter().filter_map(|name| holder.cap(name)) {
        if !is_identifier(&element.text) {
            notes.error(
                element.line,
                format!("<{}> is {}", element.tag, quote(&element.text)),
                "write at least one character, and no space, comma, < or & (CAP 1.2 §3.2.1)",
            );
        }
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || ",<&".contains(c))
}

/// Checks that `status` is `Actual` and `scope` is `Public`, because hubs show only such alerts.
pub(super) fn distribution(holder: &Element, notes: &mut Notes) {
    for (name, shown_by_all, advice) in [
        ("status", "Actual", "hubs show only Actual: use it for real alerts (IFRC, Google)"),
        ("scope", "Public", "use Public for alerts to everyone: hubs drop others (KDE)"),
    ] {
        if let Some(element) = holder.cap(name).filter(|element| element.text != shown_by_all) {
            notes.recommend(element.line, format!("<{}> is {}", element.tag, quote(&element.text)), advice);
        }
    }
}

/// Recommends removing an alert after the latest time in `expires` of its `info` blocks or its entry (`holders`).
pub(super) fn expired(line: usize, holders: &[&Element], now: DateTime<Utc>, notes: &mut Notes) {
    let last = holders.iter().map(|holder| times::cap(holder.cap("expires")?.value())).max().flatten();
    if last.is_some_and(|last| last <= now) {
        notes.recommend(line, "the alert has expired", "remove it from the feed: hubs drop it (IFRC, KDE)");
    }
}

/// Checks that an alert expires after `sent` and `effective`, and not too late. `holder` contains `expires` and `effective`.
pub(super) fn lifetime(sent: Option<&Element>, holder: &Element, notes: &mut Notes) {
    let Some(element) = holder.cap("expires") else { return };
    let time = |element: Option<&Element>| times::cap(element?.value());
    let Some(expires) = time(Some(element)) else { return };
    let sent = time(sent);
    if sent.is_some_and(|sent| expires <= sent) {
        notes.error(element.line, "<expires> is not after <sent>", "write a later time");
    } else if time(holder.cap("effective")).is_some_and(|effective| expires <= effective) {
        notes.error(element.line, "<expires> is not after <effective>", "write a later time (Google)");
    }
    if sent.is_some_and(|sent| expires - sent > MAX_LIFETIME) {
        notes.recommend(
            element.line,
            "<expires> is more than 24 h after <sent>",
            "expire earlier and send updates: a forgotten alert stays on hubs until then",
        );
    }
}

fn references(alert: &Element, notes: &mut Notes) {
    let text = |name| alert.cap(name).map(Element::value).unwrap_or_default();
    let needed = matches!(text("msgType"), "Update" | "Cancel");
    let Some(element) = alert.cap("references").filter(|element| !element.value().is_empty()) else {
        if needed {
            notes.error(
                alert.line,
                format!("<msgType> is {}, but no <references> are there", quote(text("msgType"))),
                "name all messages that it replaces and that have not expired (CAP 1.2 §3.2.1, Google)",
            );
        }
        return;
    };
    for reference in element.text.split(' ') {
        let parts: Vec<_> = reference.split(',').collect();
        let (identifier, sent) = match parts[..] {
            [sender, identifier, sent] if is_identifier(sender) && is_identifier(identifier) => {
                (identifier, times::cap(sent))
            }
            _ => (reference, None),
        };
        let Some(sent) = sent else {
            return notes.error(
                element.line,
                format!("<references> has {}", quote(reference)),
                "write sender,identifier,sent, with one space between references (CAP 1.2 §3.2.1)",
            );
        };
        if identifier == text("identifier") {
            return notes.error(
                element.line,
                "the message refers to itself",
                "name the earlier messages that it replaces (Google)",
            );
        }
        if times::cap(text("sent")).is_some_and(|own| sent > own) {
            return notes.error(
                element.line,
                format!("<references> names {}, which was sent later", quote(identifier)),
                "name only earlier messages (Google)",
            );
        }
    }
}

fn check_info(alert: &Element, info: &Element, notes: &mut Notes) {
    let text = |name| info.cap(name).map(Element::value).unwrap_or_default();
    // The rules of the schema report an empty `expires` or `area`, so it counts as present here.
    let is_there = |name: &str| match info.cap(name) {
        Some(element) => !element.value().is_empty() || matches!(name, "expires" | "area"),
        None => false,
    };
    for (name, advice) in REQUIRED.into_iter().filter(|(name, _)| !is_there(name)) {
        notes.error(info.line, format!("<info> has no <{name}>"), advice);
    }
    for (name, advice) in RECOMMENDED.into_iter().filter(|(name, _)| !is_there(name)) {
        notes.recommend(info.line, format!("<info> has no <{name}>"), advice);
    }
    for (name, most, advice) in LENGTHS {
        if let Some(element) = info.cap(name) {
            length(element, most, advice, notes);
        }
    }
    for name in ["urgency", "severity", "certainty"] {
        if let Some(element) = info.cap(name).filter(|element| element.text == "Unknown") {
            notes.recommend(
                element.line,
                format!("<{}> is Unknown", element.tag),
                "say what is known: Google refuses Unknown",
            );
        }
    }
    for (name, other, advice) in [
        ("headline", "description", "say more in the description (Google)"),
        ("instruction", "description", "describe the hazard in one and what to do in the other (Google)"),
    ] {
        if let Some(element) = info.cap(name).filter(|_| is_there(name) && text(name) == text(other)) {
            notes.recommend(element.line, format!("<{}> is equal to <{other}>", element.tag), advice);
        }
    }
    if let Some(web) = info.cap("web").filter(|web| is_there("web") && !address::is_web_address(web.value()))
    {
        let found = format!("<{}> is {}", web.tag, quote(&web.text));
        notes.error(web.line, found, "write a whole address, beginning with https:// (Google)");
    }
    lifetime(alert.cap("sent"), info, notes);
    let areas: Vec<_> = info.all(Vocabulary::Cap, "area").collect();
    for area in &areas {
        check_area(area, notes);
    }
    let has_shape = |area: &&Element| area.cap("polygon").or(area.cap("circle")).is_some();
    if !areas.is_empty() && !areas.iter().any(has_shape) {
        notes.recommend(
            info.line,
            "no <area> has a <polygon> or <circle>",
            "add one: few readers know the places behind a <geocode> (Google)",
        );
    }
}

fn check_area(area: &Element, notes: &mut Notes) {
    if let Some(element) = area.cap("areaDesc") {
        length(element, 49, "shorten it to less than 50 characters (Google)", notes);
    }
    if !["polygon", "circle", "geocode"].into_iter().any(|name| area.cap(name).is_some()) {
        notes.error(
            area.line,
            "<area> has no <polygon>, <circle> or <geocode>",
            "add one: readers find people by it (Google)",
        );
    }
    shapes(area, notes);
}

pub(super) fn shapes(holder: &Element, notes: &mut Notes) {
    for polygon in holder.all(Vocabulary::Cap, "polygon") {
        geometry::polygon(polygon, notes);
    }
    for circle in holder.all(Vocabulary::Cap, "circle") {
        geometry::circle(circle, notes);
    }
}

fn length(element: &Element, most: usize, advice: &'static str, notes: &mut Notes) {
    let length = element.value().chars().count();
    if length > most {
        notes.recommend(element.line, format!("<{}> has {length} characters", element.tag), advice);
    }
}
