//! The one place that turns a failure into a status and a JSON body, or into a page for browsers.
//!
//! Guards and routes make a [`Problem`]. The catcher renders it, and whatever Rocket itself refuses, in one form:
//! `{"statusCode":400,"error":"Bad Request","message":"…","validation":{…}}`.

mod catcher;
mod conversions;

use std::error::Error;
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rocket::http::{ContentType, Status};
use rocket::outcome::Outcome;
use rocket::request::Request;
use rocket::response::{Responder, Response, Result};
use serde::Serialize;
use serde_json::Value;

pub(crate) use self::catcher::catchers;
use crate::http::content::CacheControl;
use crate::http::fairings::RequestId;
use crate::model::CardId;
use crate::model::bodies::Fault;
use crate::model::duration::whole_seconds;
use crate::telemetry::{Metrics, Rejection, RepeatSuppressor, causes};

const CREDENTIAL_NEEDED: &str =
    "this needs a valid credential that allows it: Authorization: Bearer <token> or X-Api-Key: <key>";
const FAILED: &str = "the service failed; the failure was logged";

/// The part of a request that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The query of the address.
    Query,
    /// A segment of the path.
    Params,
    /// The body.
    Body,
    /// A header.
    Headers,
}

/// Returns the page about a problem that a browser gets instead of JSON, if it gets one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProblemPage(pub(crate) fn(&Problem, &Request<'_>) -> Option<String>);

/// The body of every error response.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    status_code: u16,
    error: &'static str,
    message: &'a str,
    #[serde(flatten)]
    more: Option<&'a Members>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<Validation<'a>>,
}

/// The additional members of some errors.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Members {
    /// An error of a change to a card.
    Change { card_id: CardId },
    /// An error of a request for a card.
    Read { found: bool, result: () },
    /// Areas that do not exist.
    Unknown { unknown: Vec<String> },
    /// Areas that have changed since the client saw them.
    Conflicts { conflicts: Box<[Value]> },
}

/// The part of the request that is not valid.
#[derive(Serialize)]
struct Validation<'a> {
    source: Source,
    keys: &'a [String],
}

/// Why a request is refused or has failed, as the client sees it.
///
/// If the service fails, the cause is logged with the id of the request, and never sent to the client.
#[derive(Clone, Debug)]
pub struct Problem {
    details: Arc<Details>,
    /// The additional members of the body.
    more: Option<Members>,
}

#[derive(Debug)]
struct Details {
    status: Status,
    message: String,
    validation: Option<(Source, Vec<String>)>,
    header: Option<(&'static str, String)>,
    refusal: Option<Refusal>,
    cause: Option<Box<dyn Error + Send + Sync>>,
    /// Whether the store is away.
    is_outage: bool,
    /// The kind of rejection in the metrics, if the request is rejected.
    rejection: Option<Rejection>,
}

/// Why a request is not allowed. Only for the log.
#[derive(Debug)]
struct Refusal {
    reason: String,
    /// The name of the credential, or the beginning of its digest; never the credential itself.
    credential: Option<String>,
}

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
            rejection: rejection(status),
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

impl From<Details> for Problem {
    fn from(details: Details) -> Self {
        Self { details: Arc::new(details), more: None }
    }
}

impl Problem {
    fn new(status: Status, message: impl Into<String>) -> Self {
        Details::new(status, message).into()
    }

    /// Makes a 400: `key` of `source` is not as it `must` be; the message reads `"key" must …`.
    pub fn invalid(source: Source, key: &str, must: impl fmt::Display) -> Self {
        Self::bad_request(source, &[key], format!("\"{key}\" {must}"))
    }

    /// Makes a 400: the keys of `source`, or `source` itself, are not as the message says they must be.
    pub fn bad_request(source: Source, keys: &[&str], message: impl Into<String>) -> Self {
        let keys = keys.iter().map(|&key| key.to_owned()).collect();
        Details { validation: Some((source, keys)), ..Details::new(Status::BadRequest, message) }.into()
    }

    /// Makes a 400: the body has these faults, of which the response lists the first 50.
    pub fn faults(faults: &[Fault]) -> Self {
        // A body of a hundred kilobytes can have faults whose texts take megabytes.
        const MOST: usize = 50;
        let (told, rest) = faults.split_at(faults.len().min(MOST));
        let mut message: Vec<String> = told.iter().map(ToString::to_string).collect();
        if !rest.is_empty() {
            message.push(format!("and {} more", rest.len()));
        }
        let keys: Vec<_> = told.iter().map(|fault| fault.path.as_str()).collect();
        Self::bad_request(Source::Body, &keys, message.join("; "))
    }

    /// Makes a 403: the request has no credential, or one that is not accepted. The message is that of
    /// [`forbidden`](Self::forbidden), so that it does not reveal what is wrong with a credential.
    ///
    /// The log contains the `reason`, and identifies the `credential` by its name or a few digits of its digest, never by its
    /// value.
    pub fn unauthorized(reason: impl fmt::Display, credential: Option<&str>) -> Self {
        Self::refused(reason, credential, CREDENTIAL_NEEDED, Rejection::Unauthorized)
    }

    /// Makes a 403: the credential is accepted but does not allow this. Otherwise as [`unauthorized`](Self::unauthorized).
    pub fn forbidden(reason: impl fmt::Display, credential: Option<&str>) -> Self {
        Self::refused(reason, credential, CREDENTIAL_NEEDED, Rejection::Forbidden)
    }

    /// Makes a 403 whose reason is logged.
    pub(crate) fn refused(
        reason: impl fmt::Display,
        credential: Option<&str>,
        message: impl Into<String>,
        rejection: Rejection,
    ) -> Self {
        let refusal = Refusal { reason: reason.to_string(), credential: credential.map(str::to_owned) };
        let (refusal, rejection) = (Some(refusal), Some(rejection));
        Details { refusal, rejection, ..Details::new(Status::Forbidden, message) }.into()
    }

    /// Makes a 404: `what` does not exist.
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self::new(Status::NotFound, format!("{what} does not exist"))
    }

    /// Makes a 409: the change was already made.
    pub fn conflict(what: impl Into<String>) -> Self {
        Self::new(Status::Conflict, what)
    }

    /// Makes a 404: these areas do not exist. The message names the first 20, the member `unknown` all of them.
    pub(crate) fn no_such_areas(unknown: Vec<String>) -> Self {
        const MOST: usize = 20;
        let (told, rest) = unknown.split_at(unknown.len().min(MOST));
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let problem = Self::new(Status::NotFound, format!("no such local areas: {}{more}", told.join(", ")));
        Self { more: Some(Members::Unknown { unknown }), ..problem }
    }

    /// Makes a 409: areas have changed since the client saw them, and nothing was stored.
    pub(crate) fn changed_since(conflicts: Vec<Value>) -> Self {
        let count = conflicts.len();
        let message = format!("{count} of the areas have changed since `after`; nothing was stored");
        let conflicts = conflicts.into_boxed_slice();
        Self { more: Some(Members::Conflicts { conflicts }), ..Self::conflict(message) }
    }

    /// Makes a 422: the request contradicts an earlier one.
    pub(crate) fn contradictory(message: &str) -> Self {
        Self::new(Status::UnprocessableEntity, message)
    }

    /// Adds the card that the change was about.
    #[must_use]
    pub(crate) fn about_card(self, id: &CardId) -> Self {
        Self { more: Some(Members::Change { card_id: id.clone() }), ..self }
    }

    /// Adds the members that the error response to a request for a card has.
    #[must_use]
    pub(crate) fn for_card_reader(self) -> Self {
        Self { more: Some(Members::Read { found: false, result: () }), ..self }
    }

    /// Makes a 405: the path exists and supports the `allowed` methods.
    #[must_use]
    pub(crate) fn method_not_allowed(allowed: &str) -> Self {
        let header = Some(("Allow", allowed.to_owned()));
        let message = format!("the method must be one of [{allowed}]");
        Details { header, ..Details::new(Status::MethodNotAllowed, message) }.into()
    }

    /// Makes a 400: the target of the request has no path (RFC 9112 §3.2.3).
    pub(crate) fn unreadable_target() -> Self {
        Self::new(Status::BadRequest, "the address of the request cannot be read")
    }

    /// Makes a 408: the body did not arrive within `limit`.
    pub fn timeout(limit: impl fmt::Display) -> Self {
        Self::new(Status::RequestTimeout, format!("the body must arrive within {limit}"))
    }

    /// Makes a 413: the body is larger than `limit`.
    pub(crate) fn too_large(limit: impl fmt::Display) -> Self {
        Self::new(Status::PayloadTooLarge, format!("the body must be at most {limit}"))
    }

    /// Makes a 415: a header says that the body is of a type that is not allowed. The message is `must`.
    #[must_use]
    pub(crate) fn unsupported_media_type(must: &str) -> Self {
        Self::new(Status::UnsupportedMediaType, must)
    }

    /// Makes a 429: the client may try again after `retry_after`.
    #[must_use]
    pub(crate) fn too_many(retry_after: Duration) -> Self {
        let header = Some(("Retry-After", seconds_to_wait(retry_after).to_string()));
        let message = "too many requests; try again after the seconds Retry-After says";
        Details { header, ..Details::new(Status::TooManyRequests, message) }.into()
    }

    /// Makes a 500 with this cause.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Details { cause: Some(cause.into()), ..Details::new(Status::InternalServerError, FAILED) }.into()
    }

    /// Makes a 503: the response took too long.
    pub(crate) fn late(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::away(Duration::from_secs(1), cause.into(), Rejection::Late)
    }

    /// Makes a 503: the store is away or does not respond in time; the client may try again after `retry_after`.
    fn away(retry_after: Duration, cause: Box<dyn Error + Send + Sync>, rejection: Rejection) -> Self {
        let rejection = Some(rejection);
        Details { is_outage: true, rejection, ..Details::unavailable(retry_after, cause) }.into()
    }

    /// Returns whether the store is away, or did not respond in time.
    pub(crate) fn is_outage(&self) -> bool {
        self.details.is_outage
    }

    /// Makes a 503: the server is too busy; the client may try again after `retry_after`.
    pub(crate) fn busy(retry_after: Duration, cause: Box<dyn Error + Send + Sync>) -> Self {
        let rejection = Some(Rejection::Busy);
        Details { rejection, ..Details::unavailable(retry_after, cause) }.into()
    }

    /// Returns the problem of something that the service needs and cannot reach.
    pub(crate) fn unavailable(retry_after: Duration, cause: Box<dyn Error + Send + Sync>) -> Self {
        Details::unavailable(retry_after, cause).into()
    }

    /// Returns the problem of a client that does too much at once, for this reason.
    pub(crate) fn client_busy(retry_after: Duration, reason: &str) -> Self {
        Details {
            header: Some(("Retry-After", seconds_to_wait(retry_after).to_string())),
            rejection: Some(Rejection::Busy),
            ..Details::new(Status::TooManyRequests, format!("{reason}; try again when one has ended"))
        }
        .into()
    }

    /// Converts the result of a guard into its outcome. If it is a problem, notes it in the request, so that the catcher
    /// renders it.
    pub fn outcome<T, F>(
        request: &Request<'_>,
        result: std::result::Result<T, Self>,
    ) -> Outcome<T, (Status, Self), F> {
        match result {
            Ok(value) => Outcome::Success(value),
            Err(problem) => {
                // Rocket passes only the status of a guard's error to the catcher, not the error itself.
                request.local_cache(|| Some(problem.clone()));
                Outcome::Error((problem.details.status, problem))
            }
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.details.status
    }

    pub(crate) fn message(&self) -> &str {
        &self.details.message
    }

    fn body(&self) -> Body<'_> {
        let Details { status, message, validation, .. } = &*self.details;
        Body {
            status_code: status.code,
            error: status.reason_lossy(),
            message,
            more: self.more.as_ref(),
            validation: validation.as_ref().map(|(source, keys)| Validation { source: *source, keys }),
        }
    }

    fn log(&self, request: &Request<'_>) {
        let Details { status, cause, refusal, .. } = &*self.details;
        let method = request.method().as_str();
        if let Some(cause) = cause {
            let path = request.uri().path().as_str();
            let text = causes(&**cause);
            let status = status.code;
            let repeats = request.rocket().state::<RepeatSuppressor>().filter(|_| self.is_outage());
            match repeats.map_or(Some(0), |repeats| repeats.admit(&text, Instant::now())) {
                Some(0) => tracing::error!(status, method, path, "request failed: {text}"),
                Some(more) => {
                    tracing::error!(status, method, path, more, "request failed: {text}");
                }
                None => tracing::debug!(status, method, path, "request failed: {text}"),
            }
        }
        if let Some(Refusal { reason, credential }) = refusal {
            let route = request.route().map_or(Metrics::NO_ROUTE, |route| route.uri.path());
            tracing::info!(status = status.code, method, route, reason, credential, "request refused");
        }
    }
}

impl<'r> Responder<'r, 'static> for Problem {
    fn respond_to(self, request: &'r Request<'_>) -> Result<'static> {
        // Catchers run outside the route.
        RequestId::current(request).run_blocking(|| self.log(request));
        if let (Some(rejection), Some(metrics)) =
            (self.details.rejection, request.rocket().state::<Metrics>())
        {
            metrics.request_rejected(rejection);
        }
        // Texts and numbers can always be written as JSON.
        let json = || serde_json::to_vec(&self.body()).unwrap_or_default();
        let page = request.rocket().state().and_then(|ProblemPage(page)| page(&self, request));
        let (kind, body) = match page {
            Some(page) => (ContentType::HTML, page.into_bytes()),
            None => (ContentType::JSON, json()),
        };
        let mut response = Response::build()
            .status(self.details.status)
            .header(kind)
            .raw_header("Cache-Control", CacheControl::NEVER)
            .sized_body(body.len(), Cursor::new(body))
            .finalize();
        if let Some((name, value)) = &self.details.header {
            response.set_raw_header(*name, value.clone());
        }
        Ok(response)
    }
}

/// Returns a waiting time in seconds, rounded up, and at least one.
fn seconds_to_wait(wait: Duration) -> u64 {
    whole_seconds(wait).max(1)
}

/// Returns the kind of rejection that a status is counted as; `None` if it is not a rejection.
fn rejection(status: Status) -> Option<Rejection> {
    match status.code {
        404 | 409 => None,
        403 => Some(Rejection::Forbidden),
        429 => Some(Rejection::RateLimit),
        503 => Some(Rejection::Unavailable),
        400..500 => Some(Rejection::BadRequest),
        _ => None,
    }
}
