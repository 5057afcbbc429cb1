//! The description of the interface ([OpenAPI 3.1](https://spec.openapis.org/oas/v3.1.1.html)), made of what serves it.
//!
//! What can be asked is told by the types a route's handler takes: each guard is a [`Part`] and says which parameters,
//! body and refusals it brings. What is answered is told beside the handler ([`Described`]), and by the formats on offer
//! ([`Format::schema`](crate::formats::Format::schema)). So a guard cannot be added to a route, nor a format enabled,
//! without the description saying so.

mod described;
mod document;
mod operation;
mod part;

pub use self::described::Described;
pub use self::document::document;
pub(crate) use self::document::{layer_schema, shape};
pub use self::operation::{Operation, Parameter};
pub use self::part::{Handler, Part};
use crate::config::Config;
use crate::formats::FormatRegistry;

/// What the interface is made of, as far as its description depends on it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Interface<'a> {
    /// Its configuration.
    pub config: &'a Config,
    /// The formats on offer.
    pub formats: &'a FormatRegistry,
}
