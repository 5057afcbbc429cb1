//! Siaga, a disaster and flood information service: flood states of neighbourhoods, shown on maps, in
//! feeds and to programs over one REST interface.
//!
//! The crate is a library to build a service from ([`Siaga::builder`]) and the service itself (the program
//! `siaga`). Its rooms, from the ground up, each importing only from those before it:
//!
//! | room | holds |
//! |---|---|
//! | [`model`] | the domain: plain types and rules |
//! | [`schema`] | how what is sent and answered is described |
//! | [`resources`] | what has a place on the map, one description each |
//! | [`datasets`] | what a store starts with |
//! | [`formats`] | how layers are written |
//! | [`auth`] | who may do what |
//! | [`stores`] | where the data lives |
//! | [`telemetry`] | what the operator is told: logs and metrics |
//! | [`config`] | what can be configured |
//! | [`images`] | photos, from their upload to the map |
//! | [`content`], [`cache`] | answers as they are sent, and those at hand |
//! | [`quotas`] | how many requests each client may send |
//! | [`openapi`] | how the interface is described |
//! | [`fairings`], [`error`], [`guards`], [`routes`] | the interface |
//! | [`Siaga`], [`Builder`] | where all of it meets |
//! | [`program`] | the command line |
//!
//! # Adding to it
//!
//! A [format](formats::Format), a [store](stores::Store), routes and fairings are added through [`Siaga::builder`]; the pages
//! `docs/adding-a-format.md`, `docs/adding-a-store.md` and `docs/adding-a-route.md` lead through it, and `examples/agency` is a
//! crate that has one of each.
//!
//! # Versions
//!
//! [Semantic versioning](https://semver.org) covers what is public and documented here, the interface over HTTP, the keys of the
//! configuration and the commands of the program; while the version is 0.x, its second number counts as the first.
//!
//! - What is `#[non_exhaustive]` grows with minor versions: kinds of layers (and the list of them), shapes, properties, settings,
//!   errors. So do [`Format`](formats::Format), [`OpenStore`](stores::OpenStore) and [`Store`](stores::Store), by methods with a default.
//! - What every store must answer or construct grows with major versions only: methods without a default,
//!   [`Resource`](stores::Resource), and what of [`model`] is not `#[non_exhaustive]`.
//! - Types of Rocket, figment, geo, chrono and chrono-tz that show here are theirs: another major version of these is one of Siaga.
//! - The suites of `conformance` may ask more with a minor version, but nothing that no contract says.

#![warn(clippy::expect_used, clippy::unwrap_used)]

pub mod auth;
mod beside;
pub mod cache;
mod causes;
mod cognicity;
pub mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod content;
pub mod datasets;
mod duration;
pub mod error;
pub mod fairings;
pub mod formats;
pub mod guards;
pub mod images;
mod managed;
pub mod model;
mod number;
mod off_thread;
pub mod openapi;
pub mod program;
pub mod quotas;
mod random;
mod redirect;
pub mod resources;
pub mod routes;
pub mod schema;
mod server;
pub mod stores;
pub mod telemetry;

pub use off_thread::Stopped;
pub use random::RandomUnavailable;
pub use server::{BuildError, Builder, LaunchError, Reload, Reloading, Siaga};

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
