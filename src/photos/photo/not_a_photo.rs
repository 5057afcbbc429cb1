use super::limits::{MAX_MEMORY, MAX_PIXELS, MAX_SIDE};

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAPhoto {
    /// The file is empty.
    #[error("is empty")]
    Empty,
    /// The type is not supported.
    #[error("is none of [image/jpeg, image/png, image/webp, image/gif]")]
    OtherType,
    /// The file is truncated.
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
    /// Decoding the picture needs too much memory.
    #[error("takes {bytes} bytes of memory, of which {MAX_MEMORY} are allowed")]
    TooMuchMemory {
        /// The memory in bytes.
        bytes: u64,
    },
    /// The picture has too many scans.
    #[error("draws its picture in more scans than the {allowed} that are allowed")]
    TooManyScans {
        /// The number of scans that are allowed for such a picture.
        allowed: usize,
    },
    /// The image is invalid or of an unsupported kind.
    #[error("cannot be decoded: {0}")]
    Undecodable(String),
}

impl NotAPhoto {
    pub(super) fn undecodable(cause: impl ToString) -> Self {
        Self::Undecodable(cause.to_string())
    }
}
