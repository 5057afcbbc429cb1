//! Siaga, a disaster and flood information service: flood states of neighbourhoods, for maps, feeds and programs, over one
//! REST interface.
//!
//! The crate is a library to build a service from ([`Siaga::builder`]), and the service itself (the program `siaga`). Its
//! modules, each of which depends only on those above it:
//!
//! | module | content |
//! |---|---|
//! | [`model`] | the domain: plain types and rules |
//! | [`schema`] | requests and responses as JSON Schema |
//! | [`resources`] | the map resources, one description each |
//! | [`datasets`] | what a store starts with |
//! | [`formats`] | how layers are written |
//! | [`auth`] | who may do what |
//! | [`stores`] | where the data is stored |
//! | [`telemetry`] | log and metrics |
//! | [`config`] | the configuration |
//! | [`images`] | photos, from the upload to the report |
//! | [`content`], [`cache`] | responses, and the response cache |
//! | [`quotas`] | rate limits |
//! | [`openapi`] | the description of the interface |
//! | [`fairings`], [`error`], [`guards`], [`admission`], [`routes`] | the interface |
//! | [`background`] | tasks that run beside the server |
//! | [`Siaga`], [`Builder`] | put everything together |
//! | [`program`] | the command line |
//!
//! # Adding to it
//!
//! Add a [format](formats::Format), a [store](stores::Store), routes and fairings through [`Siaga::builder`]. The pages
//! `docs/adding-a-format.md`, `docs/adding-a-store.md` and `docs/adding-a-route.md` explain it, and `examples/agency` is a crate
//! that adds one of each.
//!
//! # Versions
//!
//! [Semantic versioning](https://semver.org) covers what is public and documented here, the interface over HTTP, the keys of the
//! configuration and the commands of the program. While the version is 0.x, its second number counts as the first.
//!
//! - Minor versions may extend what is `#[non_exhaustive]`: kinds of layers (and their list), shapes, properties, settings,
//!   errors. They may add methods with a default to [`Format`](formats::Format), [`OpenStore`](stores::OpenStore) and
//!   [`Store`](stores::Store).
//! - Only major versions add required methods, variants of [`Resource`](stores::Resource), or fields of exhaustive types of
//!   [`model`].
//! - Types of Rocket, figment, geo, chrono and chrono-tz are part of this interface: a new major version of one of these is a
//!   new major version of Siaga.
//! - Minor versions may add checks to the suites of `conformance`, but only for what a contract says.

#![warn(clippy::expect_used, clippy::unwrap_used)]

pub mod admission;
pub mod auth;
pub mod background;
pub mod cache;
mod cognicity;
pub mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod content;
pub mod datasets;
pub mod error;
pub mod fairings;
pub mod formats;
pub mod guards;
pub mod images;
mod managed;
pub mod model;
pub mod openapi;
pub mod program;
pub mod quotas;
pub mod resources;
pub mod routes;
pub mod schema;
mod server;
pub mod stores;
mod tasks;
pub mod telemetry;

pub use auth::RandomUnavailable;
pub use server::{BuildError, Builder, LaunchError, Reload, Reloading, Siaga};
pub use tasks::Stopped;

/// The pages whose blocks of Rust are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../docs/adding-a-format.md")]
    struct AddingAFormat;

    #[doc = include_str!("../docs/adding-a-store.md")]
    struct AddingAStore;

    #[doc = include_str!("../docs/adding-a-route.md")]
    struct AddingARoute;
}
