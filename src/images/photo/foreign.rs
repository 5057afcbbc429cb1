//! What an image must not hold besides a picture, wherever it stands.
//!
//! The photo that is published is drawn anew, and holds nothing of this. The file itself is refused as well: it was made
//! to be taken for something else. Only what is known is found, and only where it is not compressed; a script without
//! any markup around it, for one, is not.

use std::ops::Range;

use super::NotAPhoto;

/// Markup that runs, in lower case, and whether it is looked for in compressed pictures too. It is not where it is so
/// short that the bytes of a picture come to read so by chance.
const MARKUP: [(&[u8], bool); 6] = [
    (b"<script", true),
    (b"<!doctype html", true),
    (b"<html", true),
    (b"<?php", true),
    (b"__halt_compiler", true),
    (b"<svg", false),
];

/// # Errors
///
/// [`NotAPhoto::Foreign`] when the file holds markup, or is a PDF or a ZIP archive too.
pub(super) fn check(file: &[u8], pictures: &[Range<usize>]) -> Result<(), NotAPhoto> {
    if holds_markup(file, pictures) {
        return Err(NotAPhoto::Foreign("markup"));
    }
    if file[..file.len().min(1024)].windows(5).any(|bytes| bytes == b"%PDF-") {
        return Err(NotAPhoto::Foreign("a PDF"));
    }
    if holds_archive(file) {
        return Err(NotAPhoto::Foreign("a ZIP archive"));
    }
    Ok(())
}

fn holds_markup(file: &[u8], pictures: &[Range<usize>]) -> bool {
    let starts = file.iter().enumerate().filter(|(_, byte)| matches!(byte, b'<' | b'_'));
    starts.map(|(start, _)| start).any(|start| {
        MARKUP.iter().any(|(markup, in_pictures)| {
            let Some((text, next)) = file[start..].split_at_checked(markup.len()) else { return false };
            text.eq_ignore_ascii_case(markup)
                // A short one must end there, which makes it rarer by chance.
                && (markup.len() > 5 || next.first().is_none_or(|next| b" \t\r\n\x0C/>:".contains(next)))
                && (*in_pictures || !within(pictures, start))
        })
    })
}

/// Whether a position is within one of the ranges, which are in order.
fn within(ranges: &[Range<usize>], position: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= position);
    ranges.get(next).is_some_and(|range| range.contains(&position))
}

/// Whether the file has the end of an archive's directory: one whose comment ends where the file does, or which stands
/// right behind the directory.
fn holds_archive(file: &[u8]) -> bool {
    const END: usize = 22;
    file.windows(END).enumerate().filter(|(_, end)| end.starts_with(b"PK\x05\x06")).any(|(start, end)| {
        let directory = u32::from_le_bytes([end[12], end[13], end[14], end[15]]) as usize;
        let comment = usize::from(u16::from_le_bytes([end[20], end[21]]));
        start + END + comment == file.len()
            || start.checked_sub(directory).is_some_and(|start| file[start..].starts_with(b"PK\x01\x02"))
    })
}
