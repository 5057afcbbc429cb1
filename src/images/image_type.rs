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
    pub(crate) fn of(leading: &[u8]) -> Option<Self> {
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
    fn the_first_bytes_tell_the_type() {
        let of = |leading: &[u8]| ImageType::of(leading);
        assert_eq!(of(b"\xFF\xD8\xFF\xE1"), Some(ImageType::Jpeg));
        assert_eq!(of(b"\x89PNG\r\n\x1a\n"), Some(ImageType::Png));
        assert_eq!(of(b"RIFF\0\0\0\0WEBP"), Some(ImageType::Webp));
        assert_eq!(of(b"GIF87a"), Some(ImageType::Gif));
        assert_eq!(of(b"GIF89a"), Some(ImageType::Gif));
        for other in
            [&b""[..], b"\xFF\xD8", b"RIFF\0\0\0\0WAVE", b"GIF88a", b"<svg", b"BM", b"\0\0\0\x18ftyp"]
        {
            assert_eq!(of(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_type_has_its_media_type_and_the_other_names_that_phones_write() {
        for kind in ImageType::ALL {
            assert_eq!(ImageType::named(kind.media_type()), Some(kind));
        }
        for (name, kind) in [
            ("image/jpg", ImageType::Jpeg),
            ("image/pjpeg", ImageType::Jpeg),
            ("image/x-png", ImageType::Png),
        ] {
            assert_eq!(ImageType::named(name), Some(kind));
        }
        for other in ["", "jpeg", "image/*", "image/heic", "image/svg+xml", "application/octet-stream"] {
            assert_eq!(ImageType::named(other), None, "{other}");
        }
    }

    #[test]
    fn an_extension_leads_back_to_its_type() {
        for kind in ImageType::ALL {
            assert_eq!(ImageType::from_extension(kind.extension()), Some(kind));
            assert_eq!(kind.as_ref(), format!("image/{}", kind.extension()));
        }
        assert_eq!(ImageType::from_extension("JPEG"), None);
        assert_eq!(ImageType::from_extension(""), None);
    }
}
