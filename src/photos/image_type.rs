use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ImageType {
    Jpeg,
    Png,
    Webp,
    Gif,
}

impl ImageType {
    pub(crate) const ALL: [Self; 4] = [Self::Jpeg, Self::Png, Self::Webp, Self::Gif];

    /// The names that clients use for image types: first the media types, then other common names of JPEG and PNG.
    pub(crate) const NAMES: [(&str, Self); 7] = [
        ("image/jpeg", Self::Jpeg),
        ("image/png", Self::Png),
        ("image/webp", Self::Webp),
        ("image/gif", Self::Gif),
        ("image/jpg", Self::Jpeg),
        ("image/pjpeg", Self::Jpeg),
        ("image/x-png", Self::Png),
    ];

    #[must_use]
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind)
    }

    /// How many leading bytes of a file are needed to recognize its type.
    pub(crate) const LEADING: usize = 12;

    #[must_use]
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    #[must_use]
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpeg",
            Self::Png => "png",
            Self::Webp => "webp",
            Self::Gif => "gif",
        }
    }

    #[must_use]
    pub(crate) fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.extension() == extension)
    }

    /// Detects the type by the first [`LEADING`](Self::LEADING) bytes of a file.
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
    fn near_misses_of_magic_bytes_are_not_detected() {
        for other in [&b"\xFF\xD8"[..], b"\x89PNG\r\n", b"RIFF\0\0\0\0WAVE", b"GIF88a", b"BM"] {
            assert_eq!(ImageType::detect(other), None, "{other:?}");
        }
        assert_eq!(ImageType::detect(b"GIF87a"), Some(ImageType::Gif));
    }
}
