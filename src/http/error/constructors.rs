use std::error::Error;
use std::fmt;
use std::time::Duration;

use rocket::http::Status;
use serde_json::Value;

use super::{Details, Members, Problem, Refusal, Source};
use crate::model::bodies::Fault;
use crate::model::duration::seconds_rounded_up;
use crate::model::{AreaId, CardId};
use crate::telemetry::Rejection;

const CREDENTIAL_NEEDED: &str =
    "this needs a valid credential that allows it: Authorization: Bearer <token> or X-Api-Key: <key>";
pub(super) const FAILED: &str = "the service failed; the failure was logged";

impl Details {
    fn new(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            validation: None,
            header: None,
            refusal: None,
            cause: None,
            is_outage: false,
            rejection: rejection_kind(status),
        }
    }

    fn unavailable(retry_after: Duration, cause: Box<dyn Error + Send + Sync>) -> Self {
        Self {
            header: Some(("Retry-After", seconds_to_wait(retry_after).to_string())),
            cause: Some(cause),
            ..Self::new(Status::ServiceUnavailable, "the service cannot respond now; try again later")
        }
    }
}

impl Problem {
    pub(super) fn new(status: Status, message: impl Into<String>) -> Self {
        Details::new(status, message).into()
    }

    /// Creates a 400: `key` of `source` is invalid; the message reads `"key" must …`.
    pub fn invalid(source: Source, key: &str, rule: impl fmt::Display) -> Self {
        Self::bad_request(source, &[key], format!("\"{key}\" {rule}"))
    }

    /// Creates a 400: the keys of `source`, or `source` itself, are invalid.
    pub fn bad_request(source: Source, keys: &[&str], message: impl Into<String>) -> Self {
        let keys = keys.iter().map(|&key| key.to_owned()).collect();
        Details { validation: Some((source, keys)), ..Details::new(Status::BadRequest, message) }.into()
    }

    /// Creates a 400 from the faults of the body. The response lists the first 50.
    pub fn faults(faults: &[Fault]) -> Self {
        // Limit the message: a body of 100 kB can cause megabytes of messages.
        const MAX: usize = 50;
        let (listed, rest) = faults.split_at(faults.len().min(MAX));
        let mut message: Vec<String> = listed.iter().map(ToString::to_string).collect();
        if !rest.is_empty() {
            message.push(format!("and {} more", rest.len()));
        }
        let keys: Vec<_> = listed.iter().map(|fault| fault.path.as_str()).collect();
        Self::bad_request(Source::Body, &keys, message.join("; "))
    }

    /// Creates a 403: the request has no credential, or an invalid one. The message is the same as for
    /// [`forbidden`](Self::forbidden), so that the response does not reveal what is wrong with a credential.
    ///
    /// The log contains the `reason`, and the name of the `credential` or a few digits of its digest, never its value.
    pub fn unauthorized(reason: impl fmt::Display, credential: Option<&str>) -> Self {
        Self::forbidden_with_message(reason, credential, CREDENTIAL_NEEDED, Rejection::Unauthorized)
    }

    /// Creates a 401: nobody is logged in at the desk. Otherwise like [`unauthorized`](Self::unauthorized).
    pub(crate) fn login_ended(reason: impl fmt::Display, credential: Option<&str>) -> Self {
        let refusal = Refusal { reason: reason.to_string(), credential: credential.map(str::to_owned) };
        Details {
            refusal: Some(refusal),
            rejection: Some(Rejection::Unauthorized),
            // RFC 9110 §11.6.1 requires a challenge. Browsers ignore one of an unknown scheme.
            header: Some(("WWW-Authenticate", "Login realm=\"/desk\"".to_owned())),
            ..Details::new(Status::Unauthorized, "log in at /desk")
        }
        .into()
    }

    /// Creates a 403: the credential is valid but not sufficient. Otherwise like [`unauthorized`](Self::unauthorized).
    pub fn forbidden(reason: impl fmt::Display, credential: Option<&str>) -> Self {
        Self::forbidden_with_message(reason, credential, CREDENTIAL_NEEDED, Rejection::Forbidden)
    }

    pub(crate) fn forbidden_with_message(
        reason: impl fmt::Display,
        credential: Option<&str>,
        message: impl Into<String>,
        rejection: Rejection,
    ) -> Self {
        let refusal = Refusal { reason: reason.to_string(), credential: credential.map(str::to_owned) };
        let (refusal, rejection) = (Some(refusal), Some(rejection));
        Details { refusal, rejection, ..Details::new(Status::Forbidden, message) }.into()
    }

    /// Creates a 404: `what` does not exist.
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self::new(Status::NotFound, format!("{what} does not exist"))
    }

    /// Creates a 409: the request conflicts with the stored state. `what` is the message.
    pub fn conflict(what: impl Into<String>) -> Self {
        Self::new(Status::Conflict, what)
    }

    /// Creates a 404: these areas do not exist. The message lists the first 20 areas; the member `unknown` lists all of them.
    pub(crate) fn unknown_areas(unknown: Vec<String>) -> Self {
        let listed = listed(&unknown).unwrap_or_default();
        let problem = Self::new(Status::NotFound, format!("no such local areas: {listed}"));
        Self { members: Some(Members::Unknown { unknown }), ..problem }
    }

    /// Creates a 403: these areas are outside of the limit of the credential. The message lists the first 20 areas; the member
    /// `outside` lists all of them.
    pub(crate) fn outside_limit(outside: &[AreaId]) -> Self {
        let listed = listed(outside).unwrap_or_else(|| "a report without an area".to_owned());
        let message = format!("outside of the areas of this credential: {listed}; nothing was stored");
        let problem =
            Self::forbidden_with_message("outside of its areas", None, message, Rejection::Forbidden);
        Self { members: Some(Members::Outside { outside: outside.to_vec() }), ..problem }
    }

    pub(crate) fn edit_conflicts(conflicts: Vec<Value>) -> Self {
        let count = conflicts.len();
        let message = format!("{count} of the areas have changed since `after`; nothing was stored");
        let conflicts = conflicts.into_boxed_slice();
        Self { members: Some(Members::Conflicts { conflicts }), ..Self::conflict(message) }
    }

    pub(crate) fn unprocessable(message: &str) -> Self {
        Self::new(Status::UnprocessableEntity, message)
    }

    #[must_use]
    pub(crate) fn with_card_id(self, id: &CardId) -> Self {
        Self { members: Some(Members::Change { card_id: id.clone() }), ..self }
    }

    #[must_use]
    pub(crate) fn with_not_found_members(self) -> Self {
        Self { members: Some(Members::Read { found: false, result: () }), ..self }
    }

    #[must_use]
    pub(crate) fn method_not_allowed(allowed: &str) -> Self {
        let header = Some(("Allow", allowed.to_owned()));
        let message = format!("the method must be one of [{allowed}]");
        Details { header, ..Details::new(Status::MethodNotAllowed, message) }.into()
    }

    /// Creates a 400: the target of the request has no path (RFC 9112 §3.2.3).
    pub(crate) fn unreadable_target() -> Self {
        Self::new(Status::BadRequest, "the address of the request cannot be read")
    }

    /// Creates a 408: the body did not arrive within `limit`.
    pub fn timeout(limit: impl fmt::Display) -> Self {
        Self::new(Status::RequestTimeout, format!("the body must arrive within {limit}"))
    }

    pub(crate) fn too_large(limit: impl fmt::Display) -> Self {
        Self::new(Status::PayloadTooLarge, format!("the body must be at most {limit}"))
    }

    #[must_use]
    pub(crate) fn unsupported_media_type(rule: &str) -> Self {
        Self::new(Status::UnsupportedMediaType, rule)
    }

    #[must_use]
    pub(crate) fn too_many(retry_after: Duration) -> Self {
        let header = Some(("Retry-After", seconds_to_wait(retry_after).to_string()));
        let message = "too many requests; try again after the seconds Retry-After says";
        Details { header, ..Details::new(Status::TooManyRequests, message) }.into()
    }

    /// Creates a 500. The cause is logged, but not sent to the client.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Details { cause: Some(cause.into()), ..Details::new(Status::InternalServerError, FAILED) }.into()
    }

    pub(crate) fn slow_store(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::outage(Duration::from_secs(1), cause.into(), Rejection::Late)
    }

    pub(super) fn outage(
        retry_after: Duration,
        cause: Box<dyn Error + Send + Sync>,
        rejection: Rejection,
    ) -> Self {
        let rejection = Some(rejection);
        Details { is_outage: true, rejection, ..Details::unavailable(retry_after, cause) }.into()
    }

    pub(crate) fn busy(retry_after: Duration, cause: Box<dyn Error + Send + Sync>) -> Self {
        let rejection = Some(Rejection::Busy);
        Details { rejection, ..Details::unavailable(retry_after, cause) }.into()
    }

    /// Creates a 503: a dependency other than the store cannot be reached.
    pub(crate) fn unavailable(retry_after: Duration, cause: Box<dyn Error + Send + Sync>) -> Self {
        Details::unavailable(retry_after, cause).into()
    }

    /// Creates a 429: the client has too many requests in progress.
    pub(crate) fn client_busy(retry_after: Duration, reason: &str) -> Self {
        Details {
            header: Some(("Retry-After", seconds_to_wait(retry_after).to_string())),
            rejection: Some(Rejection::Busy),
            ..Details::new(Status::TooManyRequests, format!("{reason}; try again when one has ended"))
        }
        .into()
    }
}

/// Lists the first 20 items, and counts the others; `None` without items.
fn listed<T: ToString>(items: &[T]) -> Option<String> {
    const MAX: usize = 20;
    let (listed, rest) = items.split_at(items.len().min(MAX));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let listed: Vec<_> = listed.iter().map(T::to_string).collect();
    (!items.is_empty()).then(|| listed.join(", ") + &more)
}

fn seconds_to_wait(wait: Duration) -> u64 {
    seconds_rounded_up(wait).max(1)
}

/// Returns the kind of rejection for the metrics; `None` if a response with this status does not count as a rejection.
fn rejection_kind(status: Status) -> Option<Rejection> {
    match status.code {
        404 | 409 => None,
        403 => Some(Rejection::Forbidden),
        429 => Some(Rejection::RateLimit),
        503 => Some(Rejection::Unavailable),
        400..500 => Some(Rejection::BadRequest),
        _ => None,
    }
}
