//! What stands behind an image in a file.

/// A film of a phone.
pub(crate) fn film() -> Vec<u8> {
    let part = |name: &[u8; 4], data: &[u8]| {
        [&u32::try_from(data.len() + 8).unwrap().to_be_bytes()[..], name, data].concat()
    };
    [part(b"ftyp", b"isom\0\0\0\0isom"), part(b"mdat", &[7; 300]), part(b"moov", &part(b"mvhd", &[0; 100]))]
        .concat()
}

/// The trailer of Samsung's phones, with one block.
pub(crate) fn phone_trailer(block: &[u8]) -> Vec<u8> {
    let [length, whole] = [block.len(), 12 + 12].map(|number| u32::try_from(number).unwrap().to_le_bytes());
    let one = 1_u32.to_le_bytes();
    let directory =
        [&b"SEFH"[..], &106_u32.to_le_bytes(), &one, &[0, 0, 0x30, 0x0A], &length, &length].concat();
    [block, &directory, &whole, b"SEFT"].concat()
}

/// An archive of one file, with offsets as if nothing stood before it.
pub(crate) fn zip(comment: &[u8]) -> Vec<u8> {
    let mut file = b"PK\x03\x04".to_vec();
    file.extend([0; 26]);
    let start = u32::try_from(file.len()).unwrap();
    let directory = [&b"PK\x01\x02"[..], &[0; 42]].concat();
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    file.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend(u16::try_from(comment.len()).unwrap().to_le_bytes());
    file.extend(comment);
    file
}
