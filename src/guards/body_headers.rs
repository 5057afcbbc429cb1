//! Checks the headers of a body before the body is read.

use rocket::Request;
use rocket::data::ByteUnit;

use crate::http::error::Problem;

pub(super) fn content_length(request: &Request<'_>) -> Option<u64> {
    request.headers().get_one("Content-Length").and_then(|length| length.parse().ok())
}

pub(super) fn check_content_length(request: &Request<'_>, max: ByteUnit) -> Result<(), Problem> {
    if content_length(request).is_some_and(|length| max < length) {
        Err(Problem::too_large(max))
    } else {
        Ok(())
    }
}

pub(super) fn check_not_encoded(request: &Request<'_>) -> Result<(), Problem> {
    let mut codings = request.headers().get("Content-Encoding");
    if codings.any(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(Problem::unsupported_media_type("Content-Encoding must be identity"));
    }
    Ok(())
}
