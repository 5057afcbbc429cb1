use super::NotAPhoto;

/// How many pixels a picture may have.
pub const MAX_PIXELS: u64 = 50_000_000;

/// How long a side of a picture may be, in pixels.
pub const MAX_SIDE: u32 = 20_000;

/// How many bytes of memory making a photo may take, beside the file.
///
/// A photo of [`MAX_PIXELS`] fits, as cameras write them: a JPEG drawn in one scan. A progressive JPEG, whose decoder
/// keeps all coefficients, fits up to 25 megapixels in full colour and 39 in halved (4:2:0), a PNG of 16 bits with alpha
/// up to 29. A lossless WebP fits up to some 600 KiB, since what it takes beyond cannot be told.
pub const MAX_MEMORY: u64 = 224 << 20;

/// In how many scans a progressive JPEG may draw its picture. Encoders write about ten.
///
/// Each scan visits every block of the picture, however few bytes it has itself: a scan bomb.
pub const MAX_SCANS: usize = 64;

/// How many bytes of profiles and texts of a PNG its decoder may unpack and keep.
pub(super) const MAX_METADATA: u64 = 16 << 20;

/// What the header of an image says of its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bytes of the decoded picture.
    pub(super) decoded: u64,
    /// Bytes that the decoder takes besides.
    pub(super) working: u64,
}

impl Size {
    /// # Errors
    ///
    /// [`NotAPhoto::TooLong`], [`NotAPhoto::TooManyPixels`] or [`NotAPhoto::TooMuchMemory`] when the picture is beyond the
    /// limits, be it while it is decoded or while it is shrunk.
    pub(super) fn check(&self, max_side: u32) -> Result<(), NotAPhoto> {
        let (long, short) = (self.width.max(self.height), self.width.min(self.height));
        let pixels = u64::from(long) * u64::from(short);
        if pixels > MAX_PIXELS {
            return Err(NotAPhoto::TooManyPixels { pixels });
        }
        if long > MAX_SIDE {
            return Err(NotAPhoto::TooLong { side: long });
        }
        let decoding = self.decoded.saturating_add(self.working);
        let kept = u64::from(long.min(max_side));
        // The picture, as wide as the photo and as high as the picture, and the photo.
        let shrinking = 3 * (pixels + kept * u64::from(short) + kept * kept.min(u64::from(short)));
        let bytes = if long > max_side { decoding.max(shrinking) } else { decoding.max(3 * 3 * pixels) };
        if bytes > MAX_MEMORY { Err(NotAPhoto::TooMuchMemory { bytes }) } else { Ok(()) }
    }
}
