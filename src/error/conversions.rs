use std::time::Duration;

use rocket::http::Status;

use super::{Details, Problem, Source, seconds_to_wait};
use crate::formats::EncodeError;
use crate::images::{ImageError, ImageType, PERMITTED};
use crate::model::duration::written;
use crate::slots::NoSlot;
use crate::stores::StoreError;
use crate::telemetry::Rejection;

/// After how long an upload that is in progress may have ended.
const UPLOAD_RETRY: Duration = Duration::from_secs(5);

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what } => Self::not_found(what),
            StoreError::Conflict { what } => Self::conflict(what),
            StoreError::Refused { what } => Self::refused(&what, None, &*what, Rejection::Forbidden),
            StoreError::Unavailable { retry_after, source } => {
                Self::away(retry_after, source, Rejection::Unavailable)
            }
            StoreError::Backend { .. } => Self::internal(error),
        }
    }
}

impl From<NoSlot> for Problem {
    fn from(no_slot: NoSlot) -> Self {
        match no_slot {
            NoSlot::OfKey => Self::too_many(Duration::from_mins(1)),
            NoSlot::OfServer => Self::busy(Duration::from_mins(1), no_slot.into()),
        }
    }
}

impl From<ImageError> for Problem {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Store(error) => error.into(),
            ImageError::Storage(cause) => Details::unavailable(Duration::from_secs(1), cause).into(),
            ImageError::NotFound => Self::not_found("this image"),
            ImageError::NotPermitted(reason) => Self::refused(
                reason,
                None,
                "the address does not permit this, or no longer: ask GET /cards/:cardId/images for another",
                Rejection::Forbidden,
            ),
            ImageError::TooLarge(limit) => Self::too_large(limit),
            ImageError::TooSlow => {
                Self::timeout(format_args!("{}, and at 4 KiB a second", written(PERMITTED)))
            }
            ImageError::Busy => uploads_in_progress("two uploads to this address are in progress"),
            ImageError::ClientBusy => uploads_in_progress("too many uploads from you are in progress"),
            ImageError::Full => Self::busy(UPLOAD_RETRY, error.into()),
            ImageError::Incomplete(_) => Self::bad_request(Source::Body, &[], "the body must arrive whole"),
            ImageError::NoImage => Self::unsupported_media_type(&format!(
                "the body must be an image, one of [{}]",
                ImageType::ALL.map(ImageType::media_type).join(", ")
            )),
            ImageError::Random(error) => Self::internal(error),
        }
    }
}

fn uploads_in_progress(reason: &str) -> Problem {
    Details {
        header: Some(("Retry-After", seconds_to_wait(UPLOAD_RETRY).to_string())),
        rejection: Some(Rejection::Busy),
        ..Details::new(Status::TooManyRequests, format!("{reason}; try again when one has ended"))
    }
    .into()
}

impl From<EncodeError> for Problem {
    fn from(error: EncodeError) -> Self {
        Self::internal(error)
    }
}
