use std::fmt;

/// A type of image that can be uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ImageType {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
    /// GIF.
    Gif,
}

impl ImageType {
    /// Every image type.
    pub(crate) const ALL: [Self; 4] = [Self::Jpeg, Self::Png, Self::Webp, Self::Gif];

    /// Every name under which clients send an image: the media types, then the other names of JPEG and PNG that phones and
    /// browsers write.
    pub(crate) const NAMES: [(&str, Self); 7] = [
        ("image/jpeg", Self::Jpeg),
        ("image/png", Self::Png),
        ("image/webp", Self::Webp),
        ("image/gif", Self::Gif),
        ("image/jpg", Self::Jpeg),
        ("image/pjpeg", Self::Jpeg),
        ("image/x-png", Self::Png),
    ];

    /// Returns the type with one of these [`NAMES`](Self::NAMES), in lower case.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind)
    }

    /// How many leading bytes of a file are needed to recognize its type.
    pub(crate) const LEADING: usize = 12;

    /// Returns the media type.
    #[must_use]
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// Returns the file extension, without the dot.
    #[must_use]
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpeg",
            Self::Png => "png",
            Self::Webp => "webp",
            Self::Gif => "gif",
        }
    }

    /// Returns the type with this [`extension`](Self::extension).
    #[must_use]
    pub(crate) fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.extension() == extension)
    }

    /// Returns the type of a file by its first bytes; [`LEADING`](Self::LEADING) bytes are enough.
    #[must_use]
    pub(crate) fn detect(leading: &[u8]) -> Option<Self> {
        match leading {
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            _ => None,
        }
    }
}

impl AsRef<str> for ImageType {
    /// Returns the media type.
    fn as_ref(&self) -> &str {
        self.media_type()
    }
}

impl fmt::Display for ImageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.media_type())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_almost_like_an_image_is_none() {
        for other in [&b"\xFF\xD8"[..], b"\x89PNG\r\n", b"RIFF\0\0\0\0WAVE", b"GIF88a", b"BM"] {
            assert_eq!(ImageType::detect(other), None, "{other:?}");
        }
        assert_eq!(ImageType::detect(b"GIF87a"), Some(ImageType::Gif));
    }
}
