use super::limits::{MAX_MEMORY, MAX_PIXELS, MAX_SIDE};

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAPhoto {
    /// It has no bytes.
    #[error("is empty")]
    Empty,
    /// Its first bytes are those of another type.
    #[error("is none of [image/jpeg, image/png, image/webp, image/gif]")]
    OtherType,
    /// Its end is missing.
    #[error("ends before the image does")]
    CutOff,
    /// The picture is too large.
    #[error("has {pixels} pixels, of which {MAX_PIXELS} are allowed")]
    TooManyPixels {
        /// How large it is.
        pixels: u64,
    },
    /// The picture is too long.
    #[error("has a side of {side} pixels, of which {MAX_SIDE} are allowed")]
    TooLong {
        /// How long it is.
        side: u32,
    },
    /// The picture takes too much memory to decode.
    #[error("takes {bytes} bytes of memory, of which {MAX_MEMORY} are allowed")]
    TooMuchMemory {
        /// How much it takes.
        bytes: u64,
    },
    /// The picture is drawn too often.
    #[error("draws its picture in more scans than the {allowed} that are allowed")]
    TooManyScans {
        /// In how many such a picture can be drawn.
        allowed: usize,
    },
    /// It is no valid image, or of a kind that is not supported.
    #[error("cannot be decoded: {0}")]
    Undecodable(String),
}

impl NotAPhoto {
    /// A file that cannot be decoded, for the cause given.
    pub(super) fn undecodable(cause: impl ToString) -> Self {
        Self::Undecodable(cause.to_string())
    }
}
