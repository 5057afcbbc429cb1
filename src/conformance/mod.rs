//! The suites that every store and every format must pass, those of the service and your own.
//!
//! Built with the feature `conformance`. A suite is a module of functions, each of which checks one behaviour and is named
//! after it. [`store_suite!`](crate::store_suite) and [`format_suite!`](crate::format_suite) make a test for each.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a behaviour is named after what it asks, and panics where it is not given"
)]

pub mod fixture;
pub mod formats;
pub mod stores;

/// Runs a future to its end on several threads, so that spawned tasks race.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut runtime = rocket::tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(4).enable_all().build().expect("threads").block_on(future)
}
