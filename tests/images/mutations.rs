use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use siaga::internals::prepare;

use crate::support::{Tiff, exif_segment, one_of_each, progressive, shown, with_segments};

/// Processes a file; asserts the size limit of the resulting photo.
fn try_it(file: &[u8], max_side: u32) {
    if let Ok(photo) = prepare(file, max_side) {
        assert!(photo.width.max(photo.height) <= max_side && photo.width.min(photo.height) >= 1);
        shown(&photo);
    }
}

fn samples() -> Vec<Vec<u8>> {
    let mut files: Vec<_> = one_of_each().into_iter().map(|(_, file)| file).collect();
    files[0] = with_segments(&files[0], &[exif_segment(Tiff::Little, 6)]);
    files.push(progressive(40, 24, 3, 4));
    files
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn random_bytes_are_a_photo_or_rejected(bytes in vec(any::<u8>(), 0..2_000), kind in 0..5_usize) {
        let start = [&b"\xFF\xD8\xFF"[..], b"\x89PNG\r\n\x1a\n", b"RIFF\x80\0\0\0WEBP", b"GIF89a", b""][kind];
        try_it(&[start, &bytes].concat(), 32);
    }

    #[test]
    fn mutated_images_are_a_photo_or_rejected(
        which in any::<(Index, Index)>(),
        cut in prop::option::of(any::<(Index, Index)>()),
        changes in vec((any::<Index>(), any::<u8>()), 0..12),
        max_side in 1..64_u32,
    ) {
        let files = samples();
        let (one, other) = (&files[which.0.index(files.len())], &files[which.1.index(files.len())]);
        let mut file = match cut {
            Some(cut) => [&one[..cut.0.index(one.len())], &other[cut.1.index(other.len())..]].concat(),
            None => one.clone(),
        };
        for (position, byte) in changes {
            let position = position.index(file.len());
            file[position] = byte;
        }
        try_it(&file, max_side);
    }
}
