use std::io::{self, Write};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;

/// A content coding: the bytes are sent uncompressed, or compressed in a way that clients can undo (RFC 9110 §8.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Uncompressed.
    Identity,
    /// Brotli (RFC 7932).
    Brotli,
    /// Zstandard (RFC 8878).
    Zstd,
    /// Gzip (RFC 1952).
    Gzip,
}

/// How hard bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Takes about 2 (Zstandard) to 7 (Brotli) ms of a core per megabyte. For a response for which a request waits.
    Fast,
    /// Takes about 2 (Zstandard), 16 (gzip) and 23 (Brotli) ms per megabyte, for a tenth fewer bytes. For a response that is
    /// sent often. Higher levels would take several times as long to save a few percent more.
    Best,
}

impl Coding {
    /// Every coding.
    pub(crate) const ALL: [Self; 4] = [Self::Identity, Self::Brotli, Self::Zstd, Self::Gzip];
    /// The codings that compress.
    pub(crate) const SHORTER: [Self; 3] = [Self::Brotli, Self::Zstd, Self::Gzip];
    /// The same, the fastest at [`Level::Fast`] first.
    pub(super) const FASTEST: [Self; 3] = [Self::Zstd, Self::Brotli, Self::Gzip];

    /// Returns the name in `Accept-Encoding` and `Content-Encoding`.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the bytes in this coding at a level.
    ///
    /// # Errors
    ///
    /// If the library fails.
    pub(super) fn encode(self, level: Level, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let is_fast = level == Level::Fast;
        let mut coded = Vec::with_capacity(bytes.len() / 2);
        match self {
            Self::Identity => coded.extend_from_slice(bytes),
            Self::Brotli => {
                let settings = BrotliEncoderParams {
                    quality: if is_fast { 2 } else { 5 },
                    lgwin: 20,
                    ..Default::default()
                };
                brotli::BrotliCompress(&mut &*bytes, &mut coded, &settings)?;
            }
            Self::Zstd => coded = zstd::bulk::compress(bytes, if is_fast { 1 } else { 3 })?,
            Self::Gzip => {
                let mut gzip = GzEncoder::new(&mut coded, Compression::new(if is_fast { 3 } else { 6 }));
                gzip.write_all(bytes)?;
                gzip.finish()?;
            }
        }
        coded.shrink_to_fit();
        Ok(coded)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_coded_can_be_read_again() {
        let bytes = "genangan 40 cm di Jalan Thamrin; ".repeat(500).into_bytes();
        let levels = [Level::Fast, Level::Best];
        for (coding, level) in Coding::ALL.into_iter().flat_map(|coding| levels.map(|level| (coding, level)))
        {
            let coded = coding.encode(level, &bytes).unwrap();
            assert_eq!(coded.len() < bytes.len() / 10, coding != Coding::Identity, "{coding:?} {level:?}");
            let mut read = Vec::new();
            match coding {
                Coding::Identity => read.clone_from(&coded),
                Coding::Brotli => brotli::BrotliDecompress(&mut &*coded, &mut read).unwrap(),
                Coding::Zstd => read = zstd::bulk::decompress(&coded, bytes.len()).unwrap(),
                Coding::Gzip => {
                    flate2::read::GzDecoder::new(&*coded).read_to_end(&mut read).unwrap();
                }
            }
            assert_eq!(read, bytes, "{coding:?} {level:?}");
        }
    }
}
