//! Checks of the headers that describe a request's body, before any of the body is read.

use rocket::Request;
use rocket::data::ByteUnit;

use crate::http::error::Problem;

/// Returns the `Content-Length` of a body.
pub(super) fn announced(request: &Request<'_>) -> Option<u64> {
    request.headers().get_one("Content-Length").and_then(|length| length.parse().ok())
}

/// Refuses a body whose `Content-Length` is larger than allowed.
pub(super) fn announces_at_most(request: &Request<'_>, most: ByteUnit) -> Result<(), Problem> {
    if announced(request).is_some_and(|length| most < length) {
        Err(Problem::too_large(most))
    } else {
        Ok(())
    }
}

/// Refuses a body with a content coding.
pub(super) fn is_not_coded(request: &Request<'_>) -> Result<(), Problem> {
    let mut codings = request.headers().get("Content-Encoding");
    if codings.any(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(Problem::unsupported_media_type("Content-Encoding must be identity"));
    }
    Ok(())
}
