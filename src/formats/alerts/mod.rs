//! Alerts as CAP messages: feeds (Atom, RSS) and single messages. The HTML page is `pages/alerts`.
//!
//! Follows [CAP 1.2](http://docs.oasis-open.org/emergency/cap/v1.2/CAP-v1.2.html), Atom
//! ([RFC 4287](https://www.rfc-editor.org/rfc/rfc4287)) and [RSS 2.0](https://www.rssboard.org/rss-specification).

mod atom;
mod fields;
mod message;
mod notice;
mod options;
mod outlines;
mod rss;
mod words;

use std::io;
use std::sync::Arc;

pub use self::atom::Atom;
pub(crate) use self::notice::{Notice, NoticeText};
pub use self::options::{Options, UnknownAs};
use self::outlines::Outlines;
pub use self::rss::Rss;
use super::memo::Memo;
use super::{EncodeContext, EncodeError, Format, cap};
use crate::data::country::{Country, Translations};
use crate::model::{AlertLayer, Layer};

/// The settings that all alert formats share, and the geometry of areas as text, built once per set of areas.
#[derive(Clone, Debug)]
pub struct Notices(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: Options,
    /// The texts of each language, the main language first.
    languages: Vec<Arc<Translations>>,
    cap: cap::Options,
    outlines: Memo<Outlines>,
}

impl Notices {
    /// Creates the shared settings for the built-in country. `cap` configures the sending agencies and the texts of feeds.
    #[must_use]
    pub fn new(options: Options, cap: cap::Options) -> Self {
        Self::within(options, cap, &Country::built_in())
    }

    pub(crate) fn within(options: Options, cap: cap::Options, country: &Country) -> Self {
        let languages = country.languages().iter().filter(|texts| texts.has_messages());
        let languages = languages.cloned().collect();
        Self(Arc::new(Shared { options, languages, cap, outlines: Memo::default() }))
    }

    fn doubtful(&self) -> String {
        let notices = self.0.languages.iter().map(|texts| texts.text("alerts", "doubtful"));
        notices.collect::<Vec<_>>().join(" ")
    }

    fn cap(&self) -> &cap::Options {
        &self.0.cap
    }

    pub(crate) fn write<T>(
        &self,
        layer: &Layer,
        context: &EncodeContext,
        write: impl FnOnce(&AlertLayer, &[Notice<'_>]) -> io::Result<T>,
    ) -> io::Result<T> {
        let Layer::Alerts(layer) = layer else {
            return Err(io::Error::other("only alerts can be written as messages"));
        };
        let areas = layer.areas();
        let outlines =
            self.0.outlines.get_or_build(areas, || Ok::<_, io::Error>(Outlines::for_areas(areas)))?;
        let notices = layer.features().map(|alert| Notice::new(alert, &self.0, &outlines, context));
        write(layer, &notices.collect::<Vec<_>>())
    }
}

pub(crate) fn writing(format: &dyn Format, result: io::Result<()>) -> Result<(), EncodeError> {
    result.map_err(|error| EncodeError::new(format.name(), error))
}
