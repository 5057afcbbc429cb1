//! Atom feeds (RFC 4287).

use chrono::{DateTime, Utc};

use super::document::{Element, Vocabulary};
use super::entry::Entries;
use super::finding::{Notes, quote};
use super::{address, finding, times};

/// Media types of links to an alert.
const CAP_TYPES: [&str; 2] = ["application/cap+xml", "application/common-alerting-protocol+xml"];

/// Checks a feed and returns the number of its alerts.
pub(super) fn check(feed: &Element, now: DateTime<Utc>, notes: &mut Notes) -> usize {
    "feed".clone_into(&mut notes.place);
    required(feed, notes);
    if let Some(id) =
        first_child(feed, "id").filter(|id| !id.value().is_empty() && !address::is_iri(id.value()))
    {
        not_an_iri(id, notes);
    }
    let has_self = feed.all(Vocabulary::Atom, "link").any(|link| link.attribute("rel") == Some("self"));
    if !has_self {
        notes.recommend(
            feed.line,
            "the feed has no link to itself",
            "add <link rel=\"self\" href=\"…\"/> with its address (RFC 4287 §4.1.1)",
        );
    }
    let feed_has_author = author(feed, notes);
    let mut entries = Entries::default();
    for (number, entry) in feed.all(Vocabulary::Atom, "entry").enumerate() {
        let place = format!("entry {}", number + 1);
        let has_alert = entries.check(entry, &place, now, notes);
        required(entry, notes);
        identifier(entry, &mut entries, notes);
        links(entry, has_alert, notes);
        if !author(entry, notes) && !feed_has_author {
            let found = "neither the feed nor the entry has an <author>";
            notes.error(entry.line, found, "add <author> with <name> to the feed (RFC 4287 §4.1.1)");
        }
        content(entry, has_alert, notes);
    }
    entries.alerts
}

fn first_child<'a>(parent: &'a Element, name: &'a str) -> Option<&'a Element> {
    parent.all(Vocabulary::Atom, name).next()
}

/// Checks the elements that both a feed and an entry must have.
fn required(parent: &Element, notes: &mut Notes) {
    for name in ["id", "title", "updated"] {
        let is_empty = |child: &Element| child.value().is_empty() && child.children.is_empty();
        let children: Vec<_> = parent.all(Vocabulary::Atom, name).collect();
        if let Some(found) = finding::unexpected_count(&children, is_empty) {
            let found = format!("<{}> has {found} <{name}>", parent.name());
            notes.error(parent.line, found, "write exactly one, with a text (RFC 4287 §4.1)");
        }
    }
    for time in ["updated", "published"].into_iter().filter_map(|name| first_child(parent, name)) {
        if !time.value().is_empty() && times::rfc3339(time.value()).is_none() {
            let found = format!("<{}> is {}", time.tag, quote(&time.text));
            notes.error(time.line, found, "write a time such as 2026-11-22T12:00:00+07:00 (RFC 3339)");
        }
    }
}

/// Checks the authors of a feed or an entry, and returns whether it has any.
fn author(parent: &Element, notes: &mut Notes) -> bool {
    for author in parent.all(Vocabulary::Atom, "author") {
        if first_child(author, "name").is_none_or(|name| name.value().is_empty()) {
            notes.error(author.line, "<author> has no <name>", "add it (RFC 4287 §3.2.1)");
        }
    }
    first_child(parent, "author").is_some()
}

fn identifier<'a>(entry: &'a Element, entries: &mut Entries<'a>, notes: &mut Notes) {
    let Some(id) = entry.all(Vocabulary::Atom, "id").next().filter(|id| !id.value().is_empty()) else {
        return;
    };
    if !address::is_iri(id.value()) {
        not_an_iri(id, notes);
    } else if !address::is_web_address(id.value()) {
        let found = format!("<{}> is {}", id.tag, quote(id.value()));
        notes.error(id.line, found, "write the https address of the alert: hubs fetch it from there (IFRC)");
    }
    entries.unique(id, notes);
}

fn not_an_iri(id: &Element, notes: &mut Notes) {
    let found = format!("<{}> is {}", id.tag, quote(&id.text));
    notes.error(id.line, found, "write an IRI, such as an https address (RFC 4287 §4.2.6)");
}

fn links(entry: &Element, has_alert: bool, notes: &mut Notes) {
    let links: Vec<_> = entry.all(Vocabulary::Atom, "link").collect();
    if links.is_empty() {
        return notes.error(
            entry.line,
            "<entry> has no <link>",
            "add one of type application/cap+xml: without, KDE reads nothing of the whole feed",
        );
    }
    for link in links.iter().filter(|link| link.attribute("href").is_none_or(str::is_empty)) {
        notes.error(link.line, "<link> has no href", "add the address (RFC 4287 §4.2.7)");
    }
    let is_typed = |link: &&Element| link.attribute("type").is_some_and(|kind| CAP_TYPES.contains(&kind));
    if !has_alert && links.len() > 1 && !links.iter().any(is_typed) {
        notes.error(
            entry.line,
            "none of several links is marked as the alert",
            "add type=\"application/cap+xml\" to the one that is (KDE, Google)",
        );
    }
}

/// Checks the media type of an embedded alert, and that the alert is CAP 1.2.
fn content(entry: &Element, has_alert: bool, notes: &mut Notes) {
    let Some(content) = first_child(entry, "content") else { return };
    let is_foreign = |child: &&Element| child.name() == "alert" && child.vocabulary != Vocabulary::Cap;
    if let Some(alert) = content.children.iter().find(is_foreign) {
        notes.error(
            alert.line,
            format!("<{}> is not of CAP 1.2", alert.tag),
            "write CAP 1.2 with xmlns=\"urn:oasis:names:tc:emergency:cap:1.2\"",
        );
    }
    if !has_alert {
        return;
    }
    let kind = content.attribute("type").unwrap_or("text");
    if !(kind.ends_with("/xml") || kind.ends_with("+xml")) {
        let found = format!("<{}> with an alert has the type {}", content.tag, quote(kind));
        notes.error(content.line, found, "write type=\"application/cap+xml\" (RFC 4287 §4.1.3.3)");
    }
}
