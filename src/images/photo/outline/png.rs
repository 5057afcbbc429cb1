//! PNG, W3C.

use super::{Outline, bytes};
use crate::images::photo::NotAPhoto;

/// The bytes of a chunk besides its data: its length, its name and its checksum.
const AROUND: usize = 12;

/// Walks the chunks up to the end chunk.
///
/// # Errors
///
/// As [`of`](super::of).
pub(super) fn outline(file: &[u8]) -> Result<Outline, NotAPhoto> {
    let mut outline = Outline::default();
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
        match &name {
            b"IDAT" | b"fdAT" => outline.add_picture(position + 8..end - 4),
            b"IEND" => {
                outline.end = end;
                // Chunks that the decoder keeps, as they are and unpacked.
                outline.working = end as u64;
                return Ok(outline);
            }
            _ => {}
        }
        position = end;
    }
}
