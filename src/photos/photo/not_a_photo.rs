use super::limits::{MAX_MEMORY, MAX_PIXELS, MAX_SIDE};

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAPhoto {
    /// It has no bytes.
    #[error("is empty")]
    Empty,
    /// Its first bytes are not those of a supported type.
    #[error("is none of [image/jpeg, image/png, image/webp, image/gif]")]
    OtherType,
    /// Its end is missing.
    #[error("ends before the image does")]
    CutOff,
    /// The picture has too many pixels.
    #[error("has {pixels} pixels, of which {MAX_PIXELS} are allowed")]
    TooManyPixels {
        /// The number of pixels.
        pixels: u64,
    },
    /// The picture has a side that is too long.
    #[error("has a side of {side} pixels, of which {MAX_SIDE} are allowed")]
    TooLong {
        /// The length of the side, in pixels.
        side: u32,
    },
    /// The picture takes too much memory to decode.
    #[error("takes {bytes} bytes of memory, of which {MAX_MEMORY} are allowed")]
    TooMuchMemory {
        /// The memory in bytes.
        bytes: u64,
    },
    /// The picture is drawn in too many scans.
    #[error("draws its picture in more scans than the {allowed} that are allowed")]
    TooManyScans {
        /// The number of scans that are allowed for such a picture.
        allowed: usize,
    },
    /// It is not a valid image, or of an unsupported kind.
    #[error("cannot be decoded: {0}")]
    Undecodable(String),
}

impl NotAPhoto {
    /// Makes the error for a file that cannot be decoded.
    pub(super) fn undecodable(cause: impl ToString) -> Self {
        Self::Undecodable(cause.to_string())
    }
}
