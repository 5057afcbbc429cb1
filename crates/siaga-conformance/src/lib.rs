//! The suites that every store and every format must pass, whether it belongs to the service or is your own.
//!
//! A suite is a module of functions. Each function checks one behaviour and is named after it. [`store_suite!`] and
//! [`format_suite!`] define a test for each function. [`fixture`] has the data of the tests.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a function is named after the behaviour that it checks, and panics without it"
)]

pub mod fixture;
pub mod formats;
pub mod stores;

pub use fixture::block_on;

/// Doc tests of the pages that use a suite or the fixture.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/adding-a-format.md")]
    struct AddingAFormat;

    #[doc = include_str!("../../../docs/adding-a-store.md")]
    struct AddingAStore;
}
