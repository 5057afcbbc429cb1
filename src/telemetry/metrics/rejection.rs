use super::families::Labels;

/// Why a request was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// 400, 405, 408, 413, 415 and other client errors, except 404 and 409.
    BadRequest,
    /// 403: no valid credential.
    Unauthorized,
    /// 403: the credential, the signature or the data does not permit the request.
    Forbidden,
    /// 429: too many requests from the client.
    RateLimit,
    /// 429 or 503: too many renderings or uploads are in progress.
    Busy,
    /// 503: the response took too long.
    Late,
    /// 503: the store or the image storage is unavailable.
    Unavailable,
}

impl Rejection {
    pub(super) const ALL: [Self; 7] = [
        Self::BadRequest,
        Self::Unauthorized,
        Self::Forbidden,
        Self::RateLimit,
        Self::Busy,
        Self::Late,
        Self::Unavailable,
    ];

    pub(super) fn labels(self) -> Labels<1> {
        let reason = match self {
            Self::BadRequest => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::RateLimit => "rate_limit",
            Self::Busy => "busy",
            Self::Late => "late",
            Self::Unavailable => "unavailable",
        };
        [("reason", reason)]
    }
}
