//! The structure of GIF files, version 89a.

use super::{FileStructure, bytes};
use crate::photos::photo::NotAPhoto;

/// Finds the end of the file and estimates the memory of the decoder. Reads only the headers of the blocks.
pub(super) fn parse(file: &[u8]) -> Result<FileStructure, NotAPhoto> {
    let [flags] = bytes(file, 10)?;
    let mut position = 13 + colour_table(flags);
    let mut first = None;
    loop {
        match bytes(file, position)? {
            [0x21] => position = end_of_sub_blocks(file, position + 2)?,
            [0x2C] => {
                let [_, _, _, _, w0, w1, h0, h1, flags] = bytes(file, position + 1)?;
                let (width, height) = (u16::from_le_bytes([w0, w1]), u16::from_le_bytes([h0, h1]));
                first.get_or_insert(u64::from(width) * u64::from(height));
                position = end_of_sub_blocks(file, position + 11 + colour_table(flags))?;
            }
            [0x3B] => {
                let end = position + 1;
                // The decoder needs memory for the first picture, which it decodes before it draws the picture on the canvas.
                return Ok(FileStructure { end, decoder_memory: 4 * first.unwrap_or(0) + end as u64 });
            }
            _ => return Err(NotAPhoto::undecodable("there is something between its blocks")),
        }
    }
}

fn colour_table(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// Returns the position after the sub-blocks, which end with an empty one.
fn end_of_sub_blocks(file: &[u8], mut position: usize) -> Result<usize, NotAPhoto> {
    loop {
        let [length] = bytes(file, position)?;
        position += 1 + usize::from(length);
        if length == 0 {
            return Ok(position);
        }
    }
}
