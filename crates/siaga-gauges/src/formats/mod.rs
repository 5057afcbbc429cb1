//! The kinds of documents. Each function finds readings, passes them to the [`Collector`], and returns the address of the next
//! page. One wrong reading does not stop the others; an error means that the document is of another kind.

mod csv;
mod environment_agency;
mod json;
mod sensorthings;
mod usgs;
mod waterml;

use super::collector::Collector;
use super::feed::Kind;

/// The address of the next page, or why the document is not readable.
type PageResult = Result<Option<String>, String>;

/// Reads a document. `origin` is the name of its file without extension, or of its feed.
pub(crate) fn read(text: &[u8], origin: &str, collector: &mut Collector<'_>) -> PageResult {
    let text = str::from_utf8(text).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match collector.feed.kind {
        Kind::EnvironmentAgency => environment_agency::read(text, collector),
        Kind::Usgs => usgs::read(text, collector),
        Kind::Sensorthings => sensorthings::read(text, collector),
        Kind::Waterml => waterml::read(text, collector),
        Kind::Csv => csv::read(text, origin, collector),
    }
}
