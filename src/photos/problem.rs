use std::time::Duration;

use super::{ImageError, ImageType, UPLOAD_LIFETIME};
use crate::http::error::{Problem, Source};
use crate::model::duration::format_duration;
use crate::telemetry::Rejection;

/// The `Retry-After` if too many uploads are in progress. After this time, one of them may have ended.
const UPLOAD_RETRY: Duration = Duration::from_secs(5);

impl From<ImageError> for Problem {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Store(error) => error.into(),
            ImageError::Storage(cause) => Self::unavailable(Duration::from_secs(1), cause),
            ImageError::NotFound => Self::not_found("this image"),
            ImageError::InvalidAddress(reason) => Self::forbidden_with_message(
                reason,
                None,
                "the address does not permit this, or no longer: ask GET /cards/:cardId/images for another",
                Rejection::Forbidden,
            ),
            ImageError::TooLarge(limit) => Self::too_large(limit),
            ImageError::TooSlow => {
                Self::timeout(format_args!("{}, and at 4 KiB a second", format_duration(UPLOAD_LIFETIME)))
            }
            ImageError::Busy => {
                Self::client_busy(UPLOAD_RETRY, "two uploads to this address are in progress")
            }
            ImageError::ClientBusy => {
                Self::client_busy(UPLOAD_RETRY, "too many uploads from you are in progress")
            }
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
