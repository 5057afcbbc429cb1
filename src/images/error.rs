use std::error::Error;
use std::io;

use rocket::data::ByteUnit;

use crate::auth::RandomUnavailable;
use crate::stores::StoreError;
use crate::telemetry::causes;

/// Why an image cannot be taken or given: the variants are what a caller can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The store could not do its part.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The storage cannot be reached or is full; a later attempt may succeed.
    #[error("the storage of images failed")]
    Storage(#[source] Box<dyn Error + Send + Sync>),
    /// There is no such image.
    #[error("this image does not exist")]
    NotFound,
    /// The address of an upload permits nothing.
    #[error("the address of the upload is not valid: {0}")]
    NotPermitted(Unpermitted),
    /// The upload is larger than this.
    #[error("the upload is larger than {0}")]
    TooLarge(ByteUnit),
    /// The upload arrived at less than 8 KiB a second, or was not whole when its address expired.
    #[error("the upload arrived too slowly")]
    TooSlow,
    /// Two uploads to the address are in progress.
    #[error("two uploads to this address are in progress")]
    Busy,
    /// This server is receiving as many uploads as it may.
    #[error("{0} uploads are in progress, as many as siaga.images.max_uploads allows")]
    Full(u32),
    /// The upload ended before it was whole.
    #[error("the upload did not arrive whole")]
    Incomplete(#[source] io::Error),
    /// What was sent does not begin like an image of any type that is allowed.
    #[error("the upload is no image")]
    NoImage,
    /// No name can be made.
    #[error(transparent)]
    Random(#[from] RandomUnavailable),
}

/// Why the address of an upload permits nothing. It is for the operator's log: clients are not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unpermitted {
    /// It was made up or altered, or another key is configured since it was signed.
    #[error("signed address with a wrong signature")]
    WrongSignature,
    /// It has expired.
    #[error("expired signed address")]
    Expired,
    /// An upload of the card was received at it, or at another address.
    #[error("used signed address")]
    Used,
}

impl From<object_store::Error> for ImageError {
    fn from(error: object_store::Error) -> Self {
        // Not being found is no answer but where something is read: a bucket that is not there is not found, too.
        Self::Storage(error.into())
    }
}

/// Logs an error of the store. An unreachable store is logged where that is noticed.
pub(super) fn log_unless_away(error: &StoreError) {
    if !matches!(error, StoreError::Unavailable { .. }) {
        tracing::error!("images cannot be worked on: {}", causes(error));
    }
}
