//! Everything between Rocket and the routes: middleware, rate limits, caching headers, error responses. Depends on no resource.

pub(crate) mod admission;
pub(crate) mod concurrency_limiter;
pub(crate) mod content;
pub mod error;
pub(crate) mod fairings;
pub(crate) mod managed;
pub(crate) mod quotas;
