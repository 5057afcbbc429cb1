//! What may follow an image in its file.
//!
//! Cameras append things: padding, further JPEGs (other views, gain maps), a film, or the trailer of one maker's phones.
//! These are accepted and left out of the photo. All else is refused, since archives, programs and documents that
//! are read from their end, or searched for their beginning, make a file that is two things by being appended: a list of
//! what is refused would lack the next one. The list of what is accepted lacks makers whose trailers are unknown
//! here, and a film or a trailer can carry anything in its own parts: of those [`foreign`](super::foreign) looks for what is
//! known.

use super::NotAPhoto;
use super::outline::{Outline, bytes, of_jpeg};

/// Checks what follows the image, and adds to its pictures those of what does.
///
/// # Errors
///
/// [`NotAPhoto::Foreign`] when something other than the above does.
pub(super) fn check(file: &[u8], outline: &mut Outline) -> Result<(), NotAPhoto> {
    let trailer = phone_trailer(file, outline.end).unwrap_or(file.len());
    let file = &file[..trailer];
    let mut position = outline.end;
    loop {
        let rest = &file[position..];
        position += rest.iter().position(|&byte| byte != 0).unwrap_or(rest.len());
        let start = position;
        let rest = &file[position..];
        if rest.is_empty() {
            return Ok(());
        } else if rest.starts_with(&[0xFF, 0xD8, 0xFF]) {
            let jpeg = of_jpeg(rest).map_err(|_| NotAPhoto::Foreign("a broken JPEG follows the image"))?;
            for picture in jpeg.pictures {
                outline.add_picture(start + picture.start..start + picture.end);
            }
            position += jpeg.end;
        } else if let Some(film) = film_start(file, start, outline.end) {
            position = film_end(file, film, outline)?;
        } else {
            return Err(NotAPhoto::Foreign("something follows the image"));
        }
    }
}

/// Where a film starts whose first byte that is not zero is at `position`.
fn film_start(file: &[u8], position: usize, after: usize) -> Option<usize> {
    // A film starts with the length of its first box, of which three bytes are zero as a rule.
    (position.saturating_sub(3).max(after)..=position)
        .rev()
        .find(|&start| file.get(start + 4..start + 8) == Some(b"ftyp"))
}

/// Walks the boxes of a film (ISO/IEC 14496-12) from `position` to its end.
fn film_end(file: &[u8], mut position: usize, outline: &mut Outline) -> Result<usize, NotAPhoto> {
    let broken = || NotAPhoto::Foreign("a broken film follows the image");
    while let Ok([a, b, c, d, name @ ..]) = bytes::<8>(file, position) {
        const KNOWN: [&[u8; 4]; 14] = [
            b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"meta", b"uuid", b"moof", b"mfra",
            b"sidx", b"styp", b"udta", b"mpvd",
        ];
        if !KNOWN.contains(&&name) {
            break;
        }
        let (head, length) = match u32::from_be_bytes([a, b, c, d]) {
            // The last box, up to the end of the file.
            0 => (8, file.len() - position),
            1 => {
                let long = u64::from_be_bytes(bytes(file, position + 8).map_err(|_| broken())?);
                (16, usize::try_from(long).map_err(|_| broken())?)
            }
            length => (8, length as usize),
        };
        let end = position.checked_add(length).filter(|&end| end <= file.len()).ok_or_else(broken)?;
        if length < head {
            return Err(broken());
        }
        if &name == b"mdat" {
            outline.add_picture(position + head..end);
        }
        position = end;
    }
    Ok(position)
}

/// Where the trailer starts that Samsung's phones append: blocks, a directory (`SEFH`) that says how far before it
/// each stands, the length of the directory, and `SEFT`.
fn phone_trailer(file: &[u8], after: usize) -> Option<usize> {
    let file = file.get(after..)?;
    let (rest, _) = file.split_at_checked(file.len().checked_sub(8)?)?;
    let [l0, l1, l2, l3, b'S', b'E', b'F', b'T'] = bytes(file, rest.len()).ok()? else { return None };
    let directory = rest.len().checked_sub(u32::from_le_bytes([l0, l1, l2, l3]) as usize)?;
    let entries = file[directory..rest.len()].strip_prefix(b"SEFH")?.get(4..)?;
    let (count, entries) = entries.split_first_chunk()?;
    let count = u32::from_le_bytes(*count) as usize;
    if entries.len() != count.checked_mul(12)? {
        return None;
    }
    let mut start = directory;
    for entry in entries.chunks_exact(12) {
        let [back, length] = [&entry[4..8], &entry[8..12]]
            .map(|number| number.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte)));
        if length > back {
            return None;
        }
        start = start.min(directory.checked_sub(back)?);
    }
    Some(after + start)
}
