use std::io::{self, Write};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentEncoding {
    Identity,
    Brotli,
    Gzip,
}

/// The level for compression while a request waits. A megabyte takes about 7 ms (Brotli) or 5 ms (gzip) of a core. The highest
/// levels that stay below 20 ms would make maps 2 to 9 % smaller, but take three times (Brotli) or twice (gzip) as long.
pub(super) const FAST_LEVEL: u32 = 4;
/// The level for files that are compressed once at startup: the highest of gzip.
pub(super) const BEST_LEVEL: u32 = 9;

impl ContentEncoding {
    pub(crate) const ALL: [Self; 3] = [Self::Identity, Self::Brotli, Self::Gzip];
    /// The codings that compress, the one with the smaller result first.
    pub(crate) const COMPRESSING: [Self; 2] = [Self::Brotli, Self::Gzip];

    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    pub(super) fn encode(self, bytes: &[u8], level: u32) -> io::Result<Vec<u8>> {
        let mut coded = Vec::with_capacity(bytes.len() / 2);
        match self {
            Self::Identity => coded.extend_from_slice(bytes),
            Self::Brotli => {
                let settings = BrotliEncoderParams { quality: level as i32, lgwin: 20, ..Default::default() };
                brotli::BrotliCompress(&mut &*bytes, &mut coded, &settings)?;
            }
            Self::Gzip => {
                let mut gzip = GzEncoder::new(&mut coded, Compression::new(level));
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
    fn encoded_bytes_can_be_decoded() {
        let bytes = "genangan 40 cm di Jalan Thamrin; ".repeat(500).into_bytes();
        for coding in ContentEncoding::ALL {
            let coded = coding.encode(&bytes, FAST_LEVEL).unwrap();
            assert_eq!(coded.len() < bytes.len() / 10, coding != ContentEncoding::Identity, "{coding:?}");
            let mut read = Vec::new();
            match coding {
                ContentEncoding::Identity => read.clone_from(&coded),
                ContentEncoding::Brotli => brotli::BrotliDecompress(&mut &*coded, &mut read).unwrap(),
                ContentEncoding::Gzip => {
                    flate2::read::GzDecoder::new(&*coded).read_to_end(&mut read).unwrap();
                }
            }
            assert_eq!(read, bytes, "{coding:?}");
        }
    }
}
