use std::time::Duration;

use super::{Problem, Source};
use crate::formats::EncodeError;
use crate::http::concurrency_limiter::LimitReached;
use crate::stores::StoreError;
use crate::telemetry::Rejection;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what } => Self::not_found(what),
            StoreError::Conflict { what } => Self::conflict(what),
            StoreError::Refused { what } => {
                Self::forbidden_with_message(&what, None, &*what, Rejection::Forbidden)
            }
            StoreError::Invalid { key, what } => Self::bad_request(Source::Body, &[&key], what),
            StoreError::OutsideLimit { areas } => Self::outside_limit(&areas),
            StoreError::Unavailable { retry_after, source } => {
                Self::outage(retry_after, source, Rejection::Unavailable)
            }
            StoreError::Backend { .. } => Self::internal(error),
        }
    }
}

impl From<LimitReached> for Problem {
    fn from(no_slot: LimitReached) -> Self {
        match no_slot {
            LimitReached::PerKey => Self::too_many(Duration::from_mins(1)),
            LimitReached::Total => Self::busy(Duration::from_mins(1), no_slot.into()),
        }
    }
}

impl From<EncodeError> for Problem {
    fn from(error: EncodeError) -> Self {
        Self::internal(error)
    }
}
