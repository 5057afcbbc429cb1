//! The description of the interface ([OpenAPI 3.1](https://spec.openapis.org/oas/v3.1.1.html)), generated from the code that
//! serves it.
//!
//! The argument types of a route's handler describe its requests: each guard is a [`Part`] and adds its parameters, body and
//! error responses. Responses are described next to the handler ([`Described`]) and by the enabled formats
//! ([`Format::schema`](crate::formats::Format::schema)). So a new guard or format is always in the description.

mod described;
mod document;
mod operation;
mod part;
mod tags;

pub use self::described::Described;
pub(crate) use self::document::document;
pub(crate) use self::document::{layer_schema, shape};
pub use self::operation::{Operation, Parameter};
pub use self::part::{Handler, Part};
use crate::config::Config;
use crate::formats::FormatRegistry;

/// The parts of the service that its description depends on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Interface<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The enabled formats.
    pub formats: &'a FormatRegistry,
}
