//! What every request and response passes through, and how every failure becomes a response. Knows no resource.

pub(crate) mod admission;
pub(crate) mod concurrency_limiter;
pub(crate) mod content;
pub mod error;
pub(crate) mod fairings;
pub(crate) mod managed;
pub(crate) mod quotas;
