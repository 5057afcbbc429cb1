//! Rules for entries of Atom and items of RSS: an embedded alert, or elements `cap:…` next to a link to the alert.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::document::{Element, Vocabulary};
use super::finding::{Notes, quote};
use super::{alert, schema};

/// State while the entries of a feed are checked.
#[derive(Default)]
pub(super) struct Entries<'a> {
    pub(super) alerts: usize,
    /// The line of each `id` or `guid`, to find duplicates.
    ids: HashMap<&'a str, usize>,
    identifiers: HashMap<(&'a str, &'a str), usize>,
}

impl<'a> Entries<'a> {
    /// Checks the alerts embedded in an entry. Without alerts, checks its elements `cap:…`. Returns whether there is an alert.
    pub(super) fn check(
        &mut self,
        entry: &'a Element,
        place: &str,
        now: DateTime<Utc>,
        notes: &mut Notes,
    ) -> bool {
        let is_alert =
            |element: &&Element| element.vocabulary == Vocabulary::Cap && element.name() == "alert";
        let contents = entry.all(Vocabulary::Atom, "content").flat_map(|content| &content.children);
        let alerts: Vec<_> = entry.children.iter().chain(contents).filter(is_alert).collect();
        for alert in &alerts {
            alert::check(alert, place, now, notes);
            self.check_identifier(alert, notes);
        }
        notes.place = alert::place_of(place, entry);
        let is_field = |child: &&Element| child.vocabulary == Vocabulary::Cap || child.prefix() == "cap";
        let fields: Vec<_> =
            entry.children.iter().filter(is_field).filter(|child| !is_alert(child)).collect();
        check_fields(entry, &fields, now, notes);
        if alerts.is_empty() {
            self.check_identifier(entry, notes);
            recommend_fields(entry, notes);
        }
        self.alerts += alerts.len().max(1);
        !alerts.is_empty()
    }

    /// Checks that no other entry has the same `id` or `guid`.
    pub(super) fn unique(&mut self, id: &'a Element, notes: &mut Notes) {
        if let Some(line) = self.ids.insert(id.value(), id.line) {
            let found = format!("<{}> is the same as in line {line}", id.tag);
            notes.error(
                id.line,
                found,
                "give each entry its own: readers take equal ones for one (RFC 4287 §4.1.2)",
            );
        }
    }

    fn check_identifier(&mut self, holder: &'a Element, notes: &mut Notes) {
        let Some(identifier) = holder.cap("identifier") else { return };
        let sender = holder.cap("sender").map(Element::value).unwrap_or_default();
        if let Some(line) = self.identifiers.insert((sender, identifier.value()), identifier.line) {
            let found = format!("<{}> is the same as in line {line}", identifier.tag);
            notes.error(identifier.line, found, "give each message its own (CAP 1.2 §3.2.1)");
        }
    }
}

/// Checks elements of CAP directly inside an entry.
fn check_fields(entry: &Element, fields: &[&Element], now: DateTime<Utc>, notes: &mut Notes) {
    if let Some(field) = fields.iter().find(|field| field.prefix() != "cap") {
        let found = format!("<{}> stands in an entry with the prefix {}", field.tag, quote(field.prefix()));
        notes.error(field.line, found, "write the prefix cap: readers look for exactly that (KDE)");
    }
    if let Some(field) = fields.iter().find(|field| field.vocabulary != Vocabulary::Cap) {
        let found = format!("the prefix of <{}> is not that of CAP 1.2", field.tag);
        notes.error(field.line, found, "declare xmlns:cap=\"urn:oasis:names:tc:emergency:cap:1.2\"");
    }
    for field in fields.iter().filter(|field| field.vocabulary == Vocabulary::Cap) {
        schema::field(field, notes);
    }
    alert::identity(entry, notes);
    alert::distribution(entry, notes);
    alert::lifetime(entry.cap("sent"), entry, notes);
    alert::shapes(entry, notes);
    alert::expired(entry.line, &[entry], now, notes);
}

/// Recommends elements for an entry without an embedded alert.
fn recommend_fields(entry: &Element, notes: &mut Notes) {
    let missing: Vec<_> = ["identifier", "sent", "expires"]
        .into_iter()
        .filter(|name| entry.cap(name).is_none())
        .map(|name| format!("<cap:{name}>"))
        .collect();
    if !missing.is_empty() {
        notes.recommend(
            entry.line,
            format!("an entry without its alert has no {}", missing.join(", ")),
            "add them: a reader that knows the alert then fetches nothing (KDE)",
        );
    }
}
