//! The structure of WebP files (RFC 9649).

use std::ops::Range;

use super::{FileStructure, bytes};
use crate::photos::photo::NotAPhoto;

/// Walks the chunks up to the end that the file header states.
pub(super) fn parse(file: &[u8]) -> Result<FileStructure, NotAPhoto> {
    let announced = 8 + u32::from_le_bytes(bytes(file, 4)?) as usize;
    let riff = file.get(..announced).ok_or(NotAPhoto::CutOff)?;
    let end = (announced + announced % 2).min(file.len());
    let mut still = Frame::default();
    let mut animated = None;
    let mut position = 12;
    while position < riff.len() {
        let chunk = Chunk::read(riff, position)?;
        match &chunk.name {
            b"VP8X" => {
                let [_, _, _, _, w0, w1, w2, h0, h1, h2] = bytes(riff, chunk.data.start)?;
                still.size = (pixels(w0, w1, w2), pixels(h0, h1, h2));
            }
            b"ANMF" if animated.is_none() => animated = Some(Frame::from_animation(riff, &chunk.data)?),
            b"ANMF" => {}
            _ => still.add(riff, &chunk)?,
        }
        position = chunk.next;
    }
    let picture = match animated {
        // The decoder needs memory for the canvas, and for the first frame before it draws the frame on the canvas.
        Some(frame) => 4 * still.area() + 4 * frame.area() + frame.working(),
        None => still.working(),
    };
    Ok(FileStructure { end, decoder_memory: 3 * end as u64 + picture })
}

/// Returns the length of a side. Chunks store the length minus one, in 24 bits.
fn pixels(low: u8, middle: u8, high: u8) -> u32 {
    u32::from_le_bytes([low, middle, high, 0]) + 1
}

/// A RIFF chunk: name, range of its data, and position of the next chunk.
struct Chunk {
    name: [u8; 4],
    data: Range<usize>,
    next: usize,
}

impl Chunk {
    /// Reads a chunk. Chunks start at even positions: data of odd length is padded by one byte.
    fn read(riff: &[u8], position: usize) -> Result<Self, NotAPhoto> {
        let name: [u8; 4] = bytes(riff, position)?;
        let length = u32::from_le_bytes(bytes(riff, position + 4)?) as usize;
        let data = position + 8..position + 8 + length;
        if data.end > riff.len() {
            return Err(NotAPhoto::undecodable("a chunk is longer than the file says it is"));
        }
        Ok(Self { name, next: data.end + length % 2, data })
    }
}

#[derive(Default)]
struct Frame {
    size: (u32, u32),
    /// Pixels according to the header of the lossy data, which can differ from the size in the chunks.
    lossy: u64,
    /// Bytes of lossless data: a picture, or the alpha channel of a lossy one.
    lossless: u64,
}

/// Estimated memory per byte of lossless data. A few bytes can describe a prefix code whose tables take thousands of bytes, and
/// the header does not state the number of codes.
const LOSSLESS_FACTOR: u64 = 300;

impl Frame {
    /// Reads a frame of an animation: its size and the chunks in it.
    fn from_animation(riff: &[u8], data: &Range<usize>) -> Result<Self, NotAPhoto> {
        let [w0, w1, w2, h0, h1, h2] = bytes(&riff[..data.end], data.start + 6)?;
        let mut frame = Self { size: (pixels(w0, w1, w2), pixels(h0, h1, h2)), ..Self::default() };
        let mut position = data.start + 16;
        while position < data.end {
            let chunk = Chunk::read(&riff[..data.end], position)?;
            frame.add(riff, &chunk)?;
            position = chunk.next;
        }
        Ok(frame)
    }

    /// Adds the pixels or bytes of a chunk with image data; ignores other chunks.
    fn add(&mut self, riff: &[u8], chunk: &Chunk) -> Result<(), NotAPhoto> {
        match &chunk.name {
            b"VP8 " => {
                let [w0, w1, h0, h1] = bytes(&riff[..chunk.data.end], chunk.data.start + 6)?;
                let side =
                    |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3FFF).next_multiple_of(16);
                self.lossy = self.lossy.max(u64::from(side(w0, w1)) * u64::from(side(h0, h1)));
            }
            b"VP8L" => {
                self.lossless += chunk.data.len() as u64;
                if self.size == (0, 0) {
                    let size = u32::from_le_bytes(bytes(&riff[..chunk.data.end], chunk.data.start + 1)?);
                    self.size = ((size & 0x3FFF) + 1, (size >> 14 & 0x3FFF) + 1);
                }
            }
            b"ALPH" => self.lossless += chunk.data.len() as u64,
            _ => {}
        }
        Ok(())
    }

    fn area(&self) -> u64 {
        u64::from(self.size.0) * u64::from(self.size.1)
    }

    /// Returns the memory for lossy planes, and for lossless data with its transforms and codes.
    fn working(&self) -> u64 {
        let lossless = match self.lossless {
            0 => 0,
            bytes => 5 * self.area().max(self.lossy) + LOSSLESS_FACTOR * bytes,
        };
        2 * self.lossy + lossless
    }
}
