//! The form for residents, as a browser sends it.

#![allow(dead_code, reason = "few test targets use all of it")]

pub(crate) const BOUNDARY: &str = "x";

/// Returns the beginning of the body of a form, up to the end of its last part: a report of wind under a token, with some
/// further fields and perhaps a photo.
pub(crate) fn begun(token: &str, more: &[(&str, &str)], photo: Option<&[u8]>) -> Vec<u8> {
    let mut form = Vec::new();
    let mut part = |name: &str, content: &[u8]| {
        form.extend(format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"").bytes());
        form.extend(if name == "photo" { &b"; filename=\"p.jpg\"\r\n\r\n"[..] } else { b"\r\n\r\n" });
        form.extend(content);
        form.extend(b"\r\n");
    };
    let report =
        [("token", token), ("disaster", "wind"), ("wind.impact", "1"), ("lat", "-6.195"), ("lng", "106.805")];
    for (name, text) in report.iter().chain(more) {
        part(name, text.as_bytes());
    }
    if let Some(photo) = photo {
        part("photo", photo);
    }
    form
}

pub(crate) fn whole(token: &str, more: &[(&str, &str)], photo: Option<&[u8]>) -> Vec<u8> {
    [begun(token, more, photo), format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
}
