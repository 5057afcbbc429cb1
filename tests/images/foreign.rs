use siaga::images::photo::{NotAPhoto, prepare};

use crate::support::{
    chunk, colourful, jpeg, one_of_each, png, riff, segment, vp8, with_chunk, with_segments, zip,
};

fn is_foreign(file: &[u8]) -> bool {
    matches!(prepare(file, 100), Err(NotAPhoto::Foreign(_)))
}

const MARKUP: [&str; 8] = [
    "<script>alert(1)</script>",
    "<SCRIPT src=x>",
    "<html>",
    "<HtMl lang=id>",
    "<!DOCTYPE html>",
    "<?php system($_GET[0]); ?>",
    "<svg onload=alert(1)>",
    "__HALT_COMPILER();",
];

#[test]
fn markup_in_comments_and_texts_is_refused() {
    let image = colourful(16, 16);
    for markup in MARKUP {
        let text = [b"Comment\0", markup.as_bytes()].concat();
        assert!(is_foreign(&with_segments(&jpeg(&image), &[segment(0xFE, markup.as_bytes())])), "{markup}");
        assert!(is_foreign(&with_chunk(&png(&image), &chunk(*b"tEXt", &text))), "{markup}");
        assert!(is_foreign(&riff(&[(*b"VP8 ", vp8(16, 16)), (*b"XMP ", markup.into())])), "{markup}");
    }
}

#[test]
fn markup_within_a_compressed_picture_is_refused_unless_it_could_be_chance() {
    let hidden = |markup: &str| {
        let mut picture = vp8(64, 64);
        let middle = picture.len() - 80;
        picture[middle..middle + markup.len()].copy_from_slice(markup.as_bytes());
        riff(&[(*b"VP8 ", picture)])
    };
    assert!(is_foreign(&hidden("<script>")));
    assert!(is_foreign(&hidden("<html>")));
    assert!(prepare(&hidden("<svg>"), 100).is_ok());
    assert!(prepare(&hidden("<htmlx"), 100).is_ok());
}

#[test]
fn a_description_in_xmp_is_fine() {
    let xmp = b"http://ns.adobe.com/xap/1.0/\0<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>\
        <x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description/></rdf:RDF></x:xmpmeta><?xpacket end='w'?>";
    assert!(prepare(&with_segments(&jpeg(&colourful(16, 16)), &[segment(0xE1, xmp)]), 100).is_ok());
}

#[test]
fn a_document_in_the_first_kilobyte_is_refused() {
    let image = jpeg(&colourful(16, 16));
    assert!(is_foreign(&with_segments(&image, &[segment(0xFE, b"%PDF-1.7 ")])));
    assert!(
        prepare(&with_segments(&image, &[segment(0xFE, &[b' '; 1100]), segment(0xFE, b"%PDF-1.7 ")]), 100)
            .is_ok()
    );
}

#[test]
fn what_is_appended_is_refused() {
    let rar = b"Rar!\x1a\x07\x01\0".to_vec();
    let program = b"MZ\x90\0\x03\0\0\0".to_vec();
    let others = [
        zip(b""),
        zip(b"comment"),
        rar,
        program,
        b"%PDF-1.4\n%%EOF".to_vec(),
        b"<html></html>".to_vec(),
        b"alert(1)".to_vec(),
        b"\n".to_vec(),
        b"7z\xBC\xAF\x27\x1C".to_vec(),
        b"\x7FELF".to_vec(),
    ];
    for (kind, file) in one_of_each() {
        assert!(prepare(&file, 100).is_ok(), "{kind}");
        for other in &others {
            assert!(
                is_foreign(&[&file[..], other].concat()),
                "{kind} and {:?}",
                other.escape_ascii().to_string()
            );
            assert!(is_foreign(&[&file[..], &[0; 9], other].concat()));
        }
    }
}

#[test]
fn an_archive_within_a_segment_is_refused() {
    // The comment of the archive is what follows of the image.
    let image = jpeg(&colourful(16, 16));
    let rest = [0; 9_999];
    let archive = zip(b"");
    assert!(is_foreign(&with_segments(&image, &[segment(0xFE, &archive)])));
    let mut reaching = archive[..archive.len() - 22].to_vec();
    reaching.extend(b"PK\x05\x06");
    reaching.extend([0; 16]);
    let padded = |reaching: &[u8]| with_segments(&image, &[segment(0xFE, reaching), segment(0xFE, &rest)]);
    let comment = padded(&[&reaching[..], &[0; 2]].concat()).len() - (2 + 4 + reaching.len() + 2);
    let comment = u16::try_from(comment).unwrap().to_le_bytes();
    assert!(is_foreign(&padded(&[&reaching[..], &comment].concat())));
    assert!(prepare(&padded(&[&reaching[..], &[0; 2]].concat()), 100).is_ok());
}
