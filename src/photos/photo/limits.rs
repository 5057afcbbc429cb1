use super::NotAPhoto;

/// The maximum number of pixels of a picture.
pub const MAX_PIXELS: u64 = 50_000_000;

/// The maximum length of a side of a picture, in pixels.
pub(crate) const MAX_SIDE: u32 = 20_000;

/// The memory for making a photo in bytes, in addition to the file.
///
/// A camera's JPEG of [`MAX_PIXELS`] fits, because it has only one scan. The decoder of a progressive JPEG buffers all
/// coefficients, so such an image fits up to 25 megapixels in full colour, and 39 with 4:2:0 subsampling. A PNG of 16 bits with
/// alpha fits up to 29 megapixels. A lossless WebP fits up to about 600 KiB: its header does not state the memory for decoding,
/// so the estimate assumes the worst case.
pub(crate) const MAX_MEMORY: u64 = 224 << 20;

/// The maximum number of scans of a progressive JPEG. Encoders write about ten.
///
/// Each scan visits every block of the picture, even if the scan has only a few bytes. Many such scans are a scan bomb.
pub const MAX_SCANS: usize = 64;

/// The maximum size of decompressed profiles and texts of a PNG, in bytes.
pub(super) const MAX_METADATA: u64 = 16 << 20;

/// The size of an image according to its header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) decoded: u64,
    pub(super) working: u64,
}

impl Size {
    /// Fails if the image has too many pixels or too long a side, or would need too much memory for decoding and shrinking.
    pub(super) fn check(&self, max_side: u32) -> Result<(), NotAPhoto> {
        let (long, short) = (self.width.max(self.height), self.width.min(self.height));
        let pixels = u64::from(long) * u64::from(short);
        if pixels > MAX_PIXELS {
            return Err(NotAPhoto::TooManyPixels { pixels });
        }
        if long > MAX_SIDE {
            return Err(NotAPhoto::TooLong { side: long });
        }
        let decoder = self.decoded.saturating_add(self.working);
        let side = u64::from(long.min(max_side));
        // Shrinking needs the picture, an intermediate picture with the new width and the old height, and the photo.
        let resizer = 3 * (pixels + side * u64::from(short) + side * side.min(u64::from(short)));
        let bytes = if long > max_side { decoder.max(resizer) } else { decoder.max(3 * 3 * pixels) };
        if bytes > MAX_MEMORY { Err(NotAPhoto::TooMuchMemory { bytes }) } else { Ok(()) }
    }
}
