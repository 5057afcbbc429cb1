use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mime::Mime;
use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde_json::{Map, Value as Json};
use ubyte::ByteUnit;

use super::bounded::Bounded;
use super::budget::Budget;
use super::error::Failure;
use super::escaping::Escaping;
use super::{engine, source};
use crate::model::CancelFlag;

const NAME: &str = "snippet";
/// The limit of engine steps. Printing a hundred values needs far fewer.
const STEPS: u64 = 2_000_000;
/// Much more than [`STEPS`] take, because a webhook skips an event that cannot be rendered, and a machine can stall for seconds.
const MAX_TIME: Duration = Duration::from_secs(10);

/// A short template that prints a few values. It has the same filters and kinds of limits as a template format.
#[derive(Debug)]
pub(crate) struct Snippet {
    /// The template's file or configuration key, for error messages.
    place: PathBuf,
    escaping: Escaping,
    engine: Environment<'static>,
    max_bytes: ByteUnit,
}

impl Snippet {
    pub(crate) fn read(file: &Path, media_type: &Mime, max_bytes: ByteUnit) -> Result<Self, String> {
        let source = source::read(file).map_err(|failure| failure.to_string())?;
        Self::new(file.to_owned(), source, Escaping::for_media_type(media_type), max_bytes)
    }

    /// Creates a template that prints an address: values are escaped as parts of its path or query.
    pub(crate) fn for_url(key: &str, source: &str, max_bytes: ByteUnit) -> Result<Self, String> {
        Self::new(key.into(), source.to_owned(), Escaping::Address, max_bytes)
    }

    pub(crate) fn for_plain_text(key: &str, source: &str, max_bytes: ByteUnit) -> Result<Self, String> {
        Self::new(key.into(), source.to_owned(), Escaping::Plain, max_bytes)
    }

    fn new(place: PathBuf, source: String, escaping: Escaping, max_bytes: ByteUnit) -> Result<Self, String> {
        let mut engine = engine::engine(escaping, STEPS);
        engine
            .add_template_owned(NAME, source)
            .map_err(|error| Failure::from_engine(&place, &error).to_string())?;
        Ok(Self { place, escaping, engine, max_bytes })
    }

    /// Renders the snippet with these values; fails if the output is not well-formed.
    pub(crate) fn print(&self, values: &Map<String, Json>) -> Result<Vec<u8>, String> {
        let budget = Arc::new(Budget::new(self.max_bytes, MAX_TIME, CancelFlag::default()));
        let values = values.iter().map(|(name, value)| (name.as_str(), Value::from(Serde(value))));
        let bounds = (Budget::VARIABLE, Value::from_dyn_object(Arc::clone(&budget)));
        let variables = Value::from_pairs(values.chain([bounds]));
        let mut out = Vec::new();
        let printed = self.engine.get_template(NAME).and_then(|template| {
            template.render_captured_to(variables, Bounded::new(&mut out, &budget)).map(drop)
        });
        printed.map_err(|error| match budget.exceeded() {
            Some(bound) => Failure::at(&self.place, &error, bound).to_string(),
            None => Failure::from_engine(&self.place, &error).to_string(),
        })?;
        let fault = |fault| Failure::new(&self.place, &format!(": makes {fault}")).to_string();
        self.escaping.check(&out).map_err(fault)?;
        Ok(out)
    }

    pub(crate) fn mismatch(&self, media_type: &Mime, printed: &[u8]) -> Option<String> {
        self.escaping.mismatch(media_type, printed)
    }
}
