//! The structure of JPEG files (ITU-T T.81, annex B).

use super::{FileStructure, bytes};
use crate::photos::photo::{MAX_SCANS, NotAPhoto};

const MARKER: u8 = 0xFF;

/// Walks the segments up to the end-of-image marker. A search for its bytes could find the marker of a thumbnail instead.
pub(super) fn parse(file: &[u8]) -> Result<FileStructure, NotAPhoto> {
    let invalid = |reason| Err(NotAPhoto::undecodable(reason));
    if bytes(file, 0)? != [MARKER, 0xD8] {
        return invalid("there is no start-of-image marker");
    }
    let mut frame = None;
    let mut scans = 0;
    let mut drawn = 0;
    let mut separate = false;
    let mut position = 2;
    loop {
        let [mark] = bytes(file, position)?;
        if mark != MARKER {
            return invalid("there is something between its segments");
        }
        let [code] = bytes(file, position + 1)?;
        match code {
            // Padding between segments.
            MARKER => {
                position += 1;
                continue;
            }
            0xD9 => break,
            0x00..=0x01 | 0xD0..=0xD8 => return invalid("there is a marker where none can be"),
            _ => {}
        }
        let length = usize::from(u16::from_be_bytes(bytes(file, position + 2)?));
        let segment = file.get(position + 4..position + 2 + length.max(2)).ok_or(NotAPhoto::CutOff)?;
        position += 2 + length.max(2);
        match code {
            0xC4 | 0xC8 | 0xCC => {}
            0xC0..=0xCF => {
                let earlier = frame.replace(Frame::read(code, segment)?);
                if earlier.is_some() {
                    return invalid("there is more than one frame");
                }
            }
            0xDA => {
                let Some(frame) = &frame else { return invalid("there is a scan before the frame") };
                scans += 1;
                // A JPEG that is not progressive has at most one scan per component.
                let allowed = if frame.progressive { MAX_SCANS } else { usize::from(frame.components()) };
                if scans > allowed {
                    return Err(NotAPhoto::TooManyScans { allowed });
                }
                separate |= segment.first().is_some_and(|&components| components < frame.components());
                let end = end_of_scan(file, position)?;
                drawn += end - position;
                position = end;
            }
            _ => {}
        }
    }
    let Some(frame) = frame.filter(|_| scans > 0) else { return invalid("there is no picture") };
    let end = position + 2;
    // The decoder copies the file, and copies the segments without picture data once more.
    let mut working = (2 * end - drawn) as u64;
    if frame.progressive || separate {
        working += frame.coefficients();
    }
    Ok(FileStructure { end, decoder_memory: working })
}

/// Returns the position of the marker that ends a scan, skipping stuffed bytes, restart markers and padding.
fn end_of_scan(file: &[u8], mut position: usize) -> Result<usize, NotAPhoto> {
    loop {
        let rest = file.get(position..).ok_or(NotAPhoto::CutOff)?;
        position += rest.iter().position(|&byte| byte == MARKER).ok_or(NotAPhoto::CutOff)?;
        match bytes(file, position + 1)? {
            [0x00 | 0xD0..=0xD7] => position += 2,
            [MARKER] => position += 1,
            _ => return Ok(position),
        }
    }
}

struct Frame {
    progressive: bool,
    width: u16,
    height: u16,
    sampling: Vec<(u8, u8)>,
}

impl Frame {
    /// Reads a frame header, without its length. `0xC2` is the code of a progressive frame.
    fn read(code: u8, segment: &[u8]) -> Result<Self, NotAPhoto> {
        let [_, y1, y0, x1, x0, components, rest @ ..] = segment else {
            return Err(NotAPhoto::undecodable("its frame is too short"));
        };
        // Refuse CMYK (four components): its colours depend on the printer, and cameras do not write it.
        if !matches!(components, 1 | 3) {
            let inks = if *components == 4 { " (CMYK, for printing): save it in RGB" } else { "" };
            let reason = format!("it has {components} colour components, not 1 or 3{inks}");
            return Err(NotAPhoto::undecodable(reason));
        }
        Ok(Self {
            progressive: code == 0xC2,
            width: u16::from_be_bytes([*x1, *x0]),
            height: u16::from_be_bytes([*y1, *y0]),
            sampling: rest.chunks_exact(3).map(|component| (component[1] >> 4, component[1] & 0xF)).collect(),
        })
    }

    fn components(&self) -> u8 {
        self.sampling.len() as u8
    }

    /// Returns the size of all coefficients, two bytes each.
    fn coefficients(&self) -> u64 {
        let largest = |factor: fn(&(u8, u8)) -> u8| {
            u64::from(self.sampling.iter().map(factor).max().unwrap_or(1).max(1))
        };
        let columns = u64::from(self.width).div_ceil(8 * largest(|sampling| sampling.0));
        let rows = u64::from(self.height).div_ceil(8 * largest(|sampling| sampling.1));
        let blocks: u64 = self.sampling.iter().map(|&(h, v)| u64::from(h) * u64::from(v)).sum();
        columns * rows * blocks * 64 * 2
    }
}
