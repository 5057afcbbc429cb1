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

#![warn(clippy::expect_used, clippy::unwrap_used)]

pub mod auth;
pub mod cache;
mod causes;
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
mod licence;
pub mod model;
mod number;
pub mod openapi;
pub mod quotas;
mod random;
mod redirect;
pub mod routes;
pub mod schema;
mod server;
pub mod stores;
pub mod telemetry;

pub use random::RandomUnavailable;
pub use server::{BuildError, Builder, LaunchError, Reload, Reloading, Siaga};
