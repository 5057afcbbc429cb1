//! PNG, W3C.

use super::{Outline, bytes};
use crate::photos::photo::NotAPhoto;

/// The bytes of a chunk in addition to its data: its length, its name and its checksum.
const AROUND: usize = 12;

/// Walks the chunks up to the end chunk.
///
/// # Errors
///
/// As [`of`](super::of).
pub(super) fn outline(file: &[u8]) -> Result<Outline, NotAPhoto> {
    let mut position = 8;
    loop {
        let length = u32::from_be_bytes(bytes(file, position)?) as usize;
        let name: [u8; 4] = bytes(file, position + 4)?;
        if !name.iter().all(u8::is_ascii_alphabetic) {
            return Err(NotAPhoto::undecodable("there is something between its chunks"));
        }
        let end = position + AROUND + length;
        if end > file.len() {
            return Err(NotAPhoto::CutOff);
        }
        if &name == b"IEND" {
            // For the chunks that the decoder keeps, both packed and unpacked.
            return Ok(Outline { end, working: end as u64 });
        }
        position = end;
    }
}
