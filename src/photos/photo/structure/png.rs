//! The structure of PNG files (W3C).

use super::{FileStructure, bytes};
use crate::photos::photo::NotAPhoto;

/// Bytes of a chunk in addition to its data: length, name and checksum.
const CHUNK_OVERHEAD: usize = 12;

/// Finds the end of the file, which is after the chunk IEND, from the lengths of the chunks.
pub(super) fn parse(file: &[u8]) -> Result<FileStructure, NotAPhoto> {
    let mut position = 8;
    loop {
        let length = u32::from_be_bytes(bytes(file, position)?) as usize;
        let name: [u8; 4] = bytes(file, position + 4)?;
        if !name.iter().all(u8::is_ascii_alphabetic) {
            return Err(NotAPhoto::undecodable("there is something between its chunks"));
        }
        let end = position + CHUNK_OVERHEAD + length;
        if end > file.len() {
            return Err(NotAPhoto::CutOff);
        }
        if &name == b"IEND" {
            // The decoder keeps chunks both compressed and decompressed, so count the file's bytes once more.
            return Ok(FileStructure { end, decoder_memory: end as u64 });
        }
        position = end;
    }
}
