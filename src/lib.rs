//! Siaga, a disaster and flood information service: flood states of neighbourhoods for maps, feeds and programs, through one
//! REST interface.
//!
//! The crate is a library to build a service with ([`Siaga::builder`]), and the service itself (the program `siaga`). Each of
//! its modules depends only on those above it:
//!
//! | module | content |
//! |---|---|
//! | [`model`] | the domain: plain types and rules |
//! | [`schema`] | requests and responses as JSON Schema |
//! | [`resources`] | the map resources, one description each |
//! | [`formats`] | how layers are written |
//! | [`folder`] | what a store starts with: a data set, and its files |
//! | [`auth`] | who may do what |
//! | [`telemetry`] | log and metrics |
//! | [`stores`] | where the data is stored |
//! | [`config`] | the configuration |
//! | [`changes`] | what changed since a client last looked |
//! | [`images`] | photos, from the upload to the report |
//! | [`quotas`] | rate limits |
//! | [`sources`] | when the sources of the data were last heard |
//! | [`openapi`] | the description of the interface |
//! | [`background`] | tasks that run beside the server |
//! | [`fairings`], [`error`], [`guards`], [`admission`] | the way of a request to its route |
//! | [`content`], [`rendering`] | responses, and the response cache |
//! | `routes`, `pages` | the resources, and the pages for people |
//! | [`Siaga`], [`Builder`] | put everything together |
//! | [`program`] | the command line |
//!
//! # Adding to it
//!
//! Add a [format](formats::Format), a [store](stores::Store), routes and fairings with [`Siaga::builder`]. The pages
//! `docs/adding-a-format.md`, `docs/adding-a-store.md` and `docs/adding-a-route.md` explain how, and `examples/agency` is a
//! crate that adds one of each.
//!
//! # Versions
//!
//! [Semantic versioning](https://semver.org) covers everything public and documented here, the HTTP interface, the keys of the
//! configuration and the commands of the program. As long as the version is 0.x, the second number is treated as the major
//! version.
//!
//! - Minor versions may extend everything that is `#[non_exhaustive]`: kinds of layers (and their list), shapes, properties,
//!   settings, errors. They may add methods with a default to [`Format`](formats::Format), [`OpenStore`](stores::OpenStore) and
//!   [`Store`](stores::Store).
//! - Only major versions add required methods, variants of [`Resource`](stores::Resource), or fields of exhaustive types of
//!   [`model`].
//! - Types of Rocket, figment, geo, chrono and chrono-tz are part of this interface: a new major version of one of these is a
//!   new major version of Siaga.
//! - Minor versions may add checks to the suites of `siaga-conformance`, but only for guarantees in a contract.

#![warn(clippy::expect_used, clippy::unwrap_used)]

pub mod admission;
pub mod auth;
pub mod background;
pub mod changes;
pub mod config;
pub mod content;
mod country;
mod dataset;
mod demo;
pub mod error;
pub mod fairings;
pub mod folder;
pub mod formats;
pub mod guards;
pub mod images;
mod managed;
pub mod model;
pub mod openapi;
mod pages;
pub mod program;
pub mod quotas;
pub mod rendering;
pub mod resources;
mod routes;
pub mod schema;
mod server;
mod shell;
mod slots;
pub mod sources;
pub mod stores;
mod tasks;
pub mod telemetry;

pub use auth::RandomUnavailable;
pub use model::Stopped;
pub use server::{BuildError, Builder, LaunchError, Reload, Reloading, Siaga};

/// The page whose Rust code blocks are tests; `siaga-conformance` has the others.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../docs/adding-a-route.md")]
    struct AddingARoute;
}
