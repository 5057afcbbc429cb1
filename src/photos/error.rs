use std::error::Error;
use std::io;

use rocket::data::ByteUnit;

use crate::auth::RandomUnavailable;
use crate::stores::StoreError;
use crate::telemetry::causes;

/// Why an image cannot be received or returned. The variants are what a caller can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ImageError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The storage cannot be reached or is full; a later attempt may succeed.
    #[error("the storage of images failed")]
    Storage(#[source] Box<dyn Error + Send + Sync>),
    /// There is no such image.
    #[error("this image does not exist")]
    NotFound,
    /// The address of an upload is not valid.
    #[error("the address of the upload is not valid: {0}")]
    NotPermitted(Unpermitted),
    /// The upload is larger than this limit.
    #[error("the upload is larger than {0}")]
    TooLarge(ByteUnit),
    /// The upload arrived at less than 4 KiB a second, or was incomplete when its address expired.
    #[error("the upload arrived too slowly")]
    TooSlow,
    /// Two uploads to the address are in progress.
    #[error("two uploads to this address are in progress")]
    Busy,
    /// As many uploads of the client are in progress as one may have.
    #[error("too many uploads of this client are in progress: at most a quarter of siaga.images.max_uploads")]
    ClientBusy,
    /// This server is already receiving as many uploads as it may.
    #[error("as many uploads are in progress as siaga.images.max_uploads allows")]
    Full,
    /// The upload ended before it was complete.
    #[error("the upload did not arrive whole")]
    Incomplete(#[source] io::Error),
    /// The first bytes are not those of an allowed image type.
    #[error("the upload is no image")]
    NoImage,
    /// The system has no random numbers for a name.
    #[error(transparent)]
    Random(#[from] RandomUnavailable),
}

/// Why the address of an upload is not valid. Only for the operator's log, not for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Unpermitted {
    /// The address was made up or altered, or the signing key has changed since.
    #[error("signed address with a wrong signature")]
    WrongSignature,
    /// It has expired.
    #[error("expired signed address")]
    Expired,
    /// An upload for the card was already received at this or another address.
    #[error("used signed address")]
    Used,
}

impl From<object_store::Error> for ImageError {
    fn from(error: object_store::Error) -> Self {
        // "Not found" means a missing object only for reads, which handle it themselves; here the bucket may be missing.
        Self::Storage(error.into())
    }
}

/// Logs an error of the store. An unreachable store is logged elsewhere.
pub(super) fn log_unless_away(error: &StoreError) {
    if !matches!(error, StoreError::Unavailable { .. }) {
        tracing::error!("images cannot be processed: {}", causes(error));
    }
}
