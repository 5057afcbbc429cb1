use std::error::Error;
use std::io;

use rocket::data::ByteUnit;

use crate::auth::RandomUnavailable;
use crate::stores::StoreError;
use crate::telemetry::causes;

/// Why an image cannot be received or returned. Each variant is a case that callers handle differently.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ImageError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The storage cannot be reached or is full. A retry may succeed.
    #[error("the storage of images failed")]
    Storage(#[source] Box<dyn Error + Send + Sync>),
    #[error("this image does not exist")]
    NotFound,
    #[error("the address of the upload is not valid: {0}")]
    InvalidAddress(InvalidAddress),
    #[error("the upload is larger than {0}")]
    TooLarge(ByteUnit),
    /// The upload was slower than 4 KiB/s, or incomplete when its address expired.
    #[error("the upload arrived too slowly")]
    TooSlow,
    #[error("two uploads to this address are in progress")]
    Busy,
    #[error("too many uploads of this client are in progress: at most a quarter of siaga.images.max_uploads")]
    ClientBusy,
    #[error("as many uploads are in progress as siaga.images.max_uploads allows")]
    Full,
    #[error("the upload did not arrive whole")]
    Incomplete(#[source] io::Error),
    #[error("the upload is no image")]
    NoImage,
    #[error(transparent)]
    Random(#[from] RandomUnavailable),
}

/// Why an upload address is not valid. For the operator's log, not for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum InvalidAddress {
    /// The address was forged, or the signing key has changed.
    #[error("signed address with a wrong signature")]
    WrongSignature,
    #[error("expired signed address")]
    Expired,
    #[error("used signed address")]
    Used,
}

impl From<object_store::Error> for ImageError {
    fn from(error: object_store::Error) -> Self {
        // Here, `NotFound` means a missing bucket, which is a failure. Callers that read an object handle `NotFound` before.
        Self::Storage(error.into())
    }
}

/// Logs an error of the store, unless the store is unavailable, which is logged elsewhere.
pub(super) fn log_unless_unavailable(error: &StoreError) {
    if !matches!(error, StoreError::Unavailable { .. }) {
        tracing::error!("images cannot be processed: {}", causes(error));
    }
}
