//! Checks documents with alerts: a feed of CAP 1.2 alerts in Atom (RFC 4287) or RSS 2.0, or one alert.
//!
//! The rules come from the standards and from known readers: IFRC Alert Hub, KDE's public alert server and Google Public Alerts.
//! A finding is an error if the document violates a standard, or makes one of these readers drop the alert or the feed. The check
//! reads only the document, and does not fetch alerts that a feed links to.

#![warn(clippy::expect_used, clippy::unwrap_used)]

mod address;
mod alert;
mod atom;
mod document;
mod entry;
mod finding;
mod geometry;
mod languages;
mod rss;
mod schema;
mod times;

pub use self::finding::{Finding, Level, Report};

use chrono::{DateTime, Utc};

use self::document::Vocabulary;
use self::finding::Notes;

/// The maximum size of a document: 16 MiB.
pub const MAX_BYTES: usize = 16 << 20;

/// The size in bytes above which a document gets a recommendation.
const LARGE: usize = 1_000_000;

/// Why a document cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAFeed {
    /// The document is larger than [`MAX_BYTES`].
    #[error("the document is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// The document is not well-formed XML in UTF-8, has a document type declaration, or too many or too deep elements.
    #[error("line {line}: {reason}")]
    Unreadable {
        /// The line of the document, from 1.
        line: usize,
        /// The problem, and what to do.
        reason: String,
    },
    /// The document is XML, but neither a feed nor an alert.
    #[error(
        "line {line}: the root element is <{root}>, but must be <feed> of Atom, <rss>, or <alert> of CAP 1.2 \
         (xmlns=\"urn:oasis:names:tc:emergency:cap:1.2\")"
    )]
    Root {
        /// The line of the root element.
        line: usize,
        /// The name of the root element.
        root: String,
    },
}

/// Checks a document; `now` determines which alerts have expired.
///
/// Takes tens of milliseconds for a feed of 500 alerts. The largest documents take seconds and several hundred megabytes.
///
/// # Errors
///
/// [`NotAFeed`] if the text is not an Atom feed, RSS feed or CAP alert, or exceeds the limits. Everything else is a finding.
pub fn check(text: &str, now: DateTime<Utc>) -> Result<Report, NotAFeed> {
    if text.len() > MAX_BYTES {
        return Err(NotAFeed::TooLarge);
    }
    let root = document::parse(text)?;
    let mut notes = Notes::default();
    let alerts = match (root.vocabulary, root.name()) {
        (Vocabulary::Cap, "alert") => {
            alert::check(&root, "", now, &mut notes);
            1
        }
        (Vocabulary::Atom, "feed") => atom::check(&root, now, &mut notes),
        (Vocabulary::Plain, "rss") => rss::check(&root, now, &mut notes),
        _ => return Err(NotAFeed::Root { line: root.line, root: root.tag }),
    };
    if text.len() > LARGE {
        "document".clone_into(&mut notes.place);
        let found = format!("the document has {} bytes", text.len());
        notes.recommend(root.line, found, "simplify polygons or link to the alerts: stay below 1 MB");
    }
    notes.findings.sort_by_key(|finding| finding.line);
    Ok(Report { alerts, findings: notes.findings })
}
