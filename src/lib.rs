//! Siaga, a disaster and flood information service: flood states of neighbourhoods for maps, feeds and programs, through one
//! REST interface.
//!
//! The crate is a library to build a service with ([`Siaga::builder`]), and the service itself (the program `siaga`). It exports
//! what your own format, store or route needs; `docs/architecture.md` describes the other modules. Each module depends only on
//! those above it:
//!
//! | module | content |
//! |---|---|
//! | [`model`] | the domain: plain types and rules |
//! | [`schema`], [`resources`] | the JSON Schema of an object; the map resources, one description each |
//! | [`formats`] | the formats of responses |
//! | [`folder`] | reads and writes a data folder |
//! | [`auth`] | authentication and permissions |
//! | [`stores`] | where the data is stored |
//! | [`config`] | the configuration |
//! | [`openapi`] | the description of the interface |
//! | [`error`], [`guards`] | error responses, and the validation of requests |
//! | [`rendering`] | responses, and the response cache |
//! | [`Siaga`], [`Builder`] | the assembly of a server |
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

mod actions;
mod archive;
pub mod auth;
mod changes;
pub mod config;
mod data;
pub mod formats;
pub mod guards;
mod http;
pub mod model;
pub mod openapi;
mod pages;
mod photos;
pub mod program;
mod push;
pub mod rendering;
mod routes;
mod runtime;
pub mod schema;
mod server;
mod sources;
pub mod stores;
mod tasks;
mod telemetry;
mod webhooks;

pub use auth::RandomUnavailable;
pub use data::folder;
pub use http::error;
pub use model::Cancelled;
pub use schema::resources;
pub use server::{BuildError, Builder, LaunchError, Reload, Reloader, Siaga};

/// The page whose Rust code blocks are tests of this crate. `siaga-conformance` tests the other pages.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../docs/adding-a-route.md")]
    struct AddingARoute;
}

/// Internals for this repository's benchmarks and tests. Not covered by semantic versioning.
#[doc(hidden)]
pub mod internals {
    pub use crate::config::Quota;
    pub use crate::http::content::{AcceptedEncodings, Content};
    pub use crate::http::quotas::{Client, Quotas};
    pub use crate::pages::AlertsPage;
    pub use crate::photos::photo::{MAX_PIXELS, MAX_SCANS, NotAPhoto, Photo, prepare};
    pub use crate::rendering::cache::{Cache, RenderError, RenderTimeouts, RenderedResponse};
    pub use crate::telemetry::{Log, LogSettings, Metrics, Shape};
}

/// Unit tests share files with `tests/`, which refer to this crate by name.
#[cfg(test)]
extern crate self as siaga;

#[cfg(test)]
#[path = "../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

#[cfg(test)]
mod simulation;

#[cfg(test)]
#[path = "../tests/common/eventually.rs"]
mod eventually;
