//! RSS 2.0 feeds.

use chrono::{DateTime, Utc};

use super::document::{Element, Vocabulary};
use super::entry::Entries;
use super::finding::{Notes, quote};
use super::{address, finding};

/// Checks a feed and returns the number of its alerts.
pub(super) fn check(rss: &Element, now: DateTime<Utc>, notes: &mut Notes) -> usize {
    "feed".clone_into(&mut notes.place);
    if rss.attribute("version") != Some("2.0") {
        notes.error(rss.line, "<rss> is not of version 2.0", "write version=\"2.0\" (RSS 2.0)");
    }
    let mut entries = Entries::default();
    let mut channels = rss.all(Vocabulary::Plain, "channel");
    let (Some(channel), None) = (channels.next(), channels.next()) else {
        notes.error(rss.line, "<rss> has not exactly one <channel>", "write one (RSS 2.0)");
        return 0;
    };
    required(channel, &["title", "link", "description"], notes);
    dates(channel, notes);
    let has_self = channel.all(Vocabulary::Atom, "link").any(|link| link.attribute("rel") == Some("self"));
    if !has_self {
        notes.recommend(
            channel.line,
            "the feed has no link to itself",
            "add <atom:link rel=\"self\" href=\"…\"/> with its address",
        );
    }
    for (number, item) in channel.all(Vocabulary::Plain, "item").enumerate() {
        entries.check(item, &format!("item {}", number + 1), now, notes);
        check_item(item, &mut entries, notes);
    }
    entries.alerts
}

fn required(parent: &Element, names: &[&str], notes: &mut Notes) {
    for name in names {
        let children: Vec<_> = parent.all(Vocabulary::Plain, name).collect();
        if let Some(found) = finding::unexpected_count(&children, |child| child.value().is_empty()) {
            let found = format!("<{}> has {found} <{name}>", parent.name());
            notes.error(parent.line, found, "write exactly one, with a text (RSS 2.0)");
        }
    }
}

fn dates(parent: &Element, notes: &mut Notes) {
    for date in ["pubDate", "lastBuildDate"].into_iter().flat_map(|name| parent.all(Vocabulary::Plain, name))
    {
        if DateTime::parse_from_rfc2822(date.value()).is_err() {
            let found = format!("<{}> is {}", date.tag, quote(&date.text));
            notes.error(date.line, found, "write a time such as Sun, 22 Nov 2026 12:00:00 +0700 (RFC 822)");
        }
    }
}

fn check_item<'a>(item: &'a Element, entries: &mut Entries<'a>, notes: &mut Notes) {
    required(item, &["link", "guid"], notes);
    dates(item, notes);
    let mut texts = ["title", "description"].into_iter().flat_map(|name| item.all(Vocabulary::Plain, name));
    if !texts.any(|text| !text.value().is_empty()) {
        notes.error(item.line, "<item> has no <title> or <description>", "add one (RSS 2.0)");
    }
    if let Some(link) = item.all(Vocabulary::Plain, "link").next().filter(|link| !link.value().is_empty())
        && !address::is_web_address(link.value())
    {
        let found = format!("<{}> is {}", link.tag, quote(link.value()));
        notes.error(
            link.line,
            found,
            "write the https address of the alert: hubs fetch it from there (IFRC)",
        );
    }
    if let Some(guid) = item.all(Vocabulary::Plain, "guid").next() {
        entries.unique(guid, notes);
    }
}
