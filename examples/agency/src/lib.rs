//! An agency's additions to Siaga, without changes to its files: one file for each addition, and one list of them.

#![warn(clippy::expect_used, clippy::unwrap_used)]

pub mod audit;
pub mod flatgeobuf;
pub mod warnings;

use std::sync::Arc;

use siaga::stores::memory::OpenMemory;
use siaga::stores::postgres::OpenPostgres;
use siaga::{Builder, Siaga};

use self::audit::OpenAudited;
use self::flatgeobuf::FlatGeobuf;

/// Returns a builder for Siaga with all additions. The configuration enables them.
#[must_use]
pub fn builder() -> Builder {
    Siaga::builder()
        .format(Arc::new(FlatGeobuf))
        .store(Arc::new(OpenAudited::new(OpenMemory)))
        .store(Arc::new(OpenAudited::new(OpenPostgres)))
        .mount("/", warnings::routes())
}
