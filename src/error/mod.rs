//! The one place that turns a failure into a status and a JSON body.
//!
//! Guards and routes make a [`Problem`]; the catcher renders it, and whatever Rocket itself refuses, in
//! one form: `{"statusCode":400,"error":"Bad Request","message":"…","validation":{…}}`.

mod catcher;
mod conversions;

use std::error::Error;
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use rocket::http::{ContentType, Status};
use rocket::outcome::Outcome;
use rocket::request::Request;
use rocket::response::{Responder, Response, Result};
use serde::Serialize;

pub use self::catcher::catchers;
use crate::fairings::{RequestId, allow_any_origin, name_licence, secure};
use crate::model::CardId;
use crate::model::duration::whole_seconds;
use crate::model::intake::Fault;
use crate::telemetry::causes;
use crate::telemetry::{Metrics, Rejection};

const CREDENTIAL_NEEDED: &str =
    "this needs a valid credential that allows it: Authorization: Bearer <token> or X-Api-Key: <key>";
const FAILED: &str = "the service failed; the failure was logged";

/// Which part of a request did not validate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The query of the address.
    Query,
    /// A part of the path.
    Params,
    /// The body.
    Body,
    /// A header.
    Headers,
}

/// The body of every error answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    status_code: u16,
    error: &'static str,
    message: &'a str,
    #[serde(flatten)]
    card: Option<&'a CardError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<Validation<'a>>,
}

/// What the errors of cards carry besides.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum CardError {
    /// A change of a card.
    Change { card_id: CardId },
    /// A card that was asked for.
    Read { found: bool, result: () },
}

/// What did not validate.
#[derive(Serialize)]
struct Validation<'a> {
    source: Source,
    keys: &'a [String],
}

/// Why a request is refused or failed, as the client is told.
///
/// The cause of a failure of ours is logged with the id of the request and never told.
#[derive(Clone, Debug)]
pub struct Problem {
    details: Arc<Details>,
    /// What the errors of cards carry besides.
    card: Option<CardError>,
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
    /// As what it is counted, if the request is rejected.
    rejection: Option<Rejection>,
}

/// Why a request is not allowed: for the log only.
#[derive(Debug)]
struct Refusal {
    reason: String,
    /// Whose credential it was, or the beginning of its digest; never the credential.
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
            ..Self::new(Status::ServiceUnavailable, "the service cannot answer now; try again later")
        }
    }
}

impl From<Details> for Problem {
    fn from(details: Details) -> Self {
        Self { details: Arc::new(details), card: None }
    }
}

impl Problem {
    fn new(status: Status, message: impl Into<String>) -> Self {
        Details::new(status, message).into()
    }

    /// 400: `key` of `source` is not as it `must` be; the message reads `"key" must …`.
    pub fn invalid(source: Source, key: &str, must: impl fmt::Display) -> Self {
        Self::bad_request(source, &[key], format!("\"{key}\" {must}"))
    }

    /// 400: the keys of `source`, or `source` itself, are not as the message says they must be.
    pub fn bad_request(source: Source, keys: &[&str], message: impl Into<String>) -> Self {
        let keys = keys.iter().map(|&key| key.to_owned()).collect();
        Details { validation: Some((source, keys)), ..Details::new(Status::BadRequest, message) }.into()
    }

    /// 400: the body is wrong in each of these ways, of which the answer tells the first 50.
    pub fn faults(faults: &[Fault]) -> Self {
        // A body of a hundred kilobytes can have faults for megabytes.
        const MOST: usize = 50;
        let (told, rest) = faults.split_at(faults.len().min(MOST));
        let mut message: Vec<String> = told.iter().map(ToString::to_string).collect();
        if !rest.is_empty() {
            message.push(format!("and {} more", rest.len()));
        }
        let keys: Vec<_> = told.iter().map(|fault| fault.path.as_str()).collect();
        Self::bad_request(Source::Body, &keys, message.join("; "))
    }

    /// 403: no credential was sent, or none that is accepted. The message is that of [`forbidden`](Self::forbidden): what is
    /// wrong with a credential is nobody's business.
    ///
    /// The log names the `reason`, and the `credential` by a name or a few digits of its digest, never by itself.
    pub fn unauthorized(reason: impl fmt::Display, credential: Option<&str>) -> Self {
        Self::refused(reason, credential, CREDENTIAL_NEEDED, Rejection::Unauthorized)
    }

    /// 403: the credential is accepted but does not allow this. Else as [`unauthorized`](Self::unauthorized).
    pub fn forbidden(reason: impl fmt::Display, credential: Option<&str>) -> Self {
        Self::refused(reason, credential, CREDENTIAL_NEEDED, Rejection::Forbidden)
    }

    /// 403, whose reason is logged.
    fn refused(
        reason: impl fmt::Display,
        credential: Option<&str>,
        message: impl Into<String>,
        rejection: Rejection,
    ) -> Self {
        let refusal = Refusal { reason: reason.to_string(), credential: credential.map(str::to_owned) };
        let (refusal, rejection) = (Some(refusal), Some(rejection));
        Details { refusal, rejection, ..Details::new(Status::Forbidden, message) }.into()
    }

    /// 404: what is named does not exist.
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self::new(Status::NotFound, format!("{what} does not exist"))
    }

    /// 409: what is asked for was done before.
    pub fn conflict(what: impl Into<String>) -> Self {
        Self::new(Status::Conflict, what)
    }

    /// The same failure, with the card a change was about.
    #[must_use]
    pub fn about_card(self, id: &CardId) -> Self {
        Self { card: Some(CardError::Change { card_id: id.clone() }), ..self }
    }

    /// The same failure, as the answer to a card that was asked for says it.
    #[must_use]
    pub fn for_card_reader(self) -> Self {
        Self { card: Some(CardError::Read { found: false, result: () }), ..self }
    }

    /// 405: the path exists and takes the `allowed` methods.
    #[must_use]
    pub fn method_not_allowed(allowed: &str) -> Self {
        let header = Some(("Allow", allowed.to_owned()));
        let message = format!("the method must be one of [{allowed}]");
        Details { header, ..Details::new(Status::MethodNotAllowed, message) }.into()
    }

    /// 400: the target of the request has no path (RFC 9112 §3.2.3).
    pub(crate) fn unreadable_target() -> Self {
        Self::new(Status::BadRequest, "the address of the request cannot be read")
    }

    /// 408: the body did not arrive in time.
    pub fn timeout(limit: impl fmt::Display) -> Self {
        Self::new(Status::RequestTimeout, format!("the body must arrive within {limit}"))
    }

    /// 413: the body is larger than `limit`.
    pub fn too_large(limit: impl fmt::Display) -> Self {
        Self::new(Status::PayloadTooLarge, format!("the body must be at most {limit}"))
    }

    /// 415: a header says that the body is what it must not be.
    #[must_use]
    pub fn unsupported_media_type(must: &str) -> Self {
        Self::new(Status::UnsupportedMediaType, must)
    }

    /// 429, to be tried again after a while.
    #[must_use]
    pub fn too_many(retry_after: Duration) -> Self {
        let header = Some(("Retry-After", seconds_to_wait(retry_after).to_string()));
        let message = "too many requests; try again after the seconds Retry-After says";
        Details { header, ..Details::new(Status::TooManyRequests, message) }.into()
    }

    /// 500, for the cause given.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Details { cause: Some(cause.into()), ..Details::new(Status::InternalServerError, FAILED) }.into()
    }

    /// 503: an answer took too long.
    pub fn late(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::away(Duration::from_secs(1), cause.into(), Rejection::Late)
    }

    /// 503, to be tried again after a while: the store is away, or does not answer in time.
    fn away(retry_after: Duration, cause: Box<dyn Error + Send + Sync>, rejection: Rejection) -> Self {
        let rejection = Some(rejection);
        Details { is_outage: true, rejection, ..Details::unavailable(retry_after, cause) }.into()
    }

    /// Whether the store is away, or did not answer in time.
    pub(crate) fn is_outage(&self) -> bool {
        self.details.is_outage
    }

    /// 503, to be tried again after a while: too much is under way.
    fn busy(retry_after: Duration, cause: Box<dyn Error + Send + Sync>) -> Self {
        let rejection = Some(Rejection::Busy);
        Details { rejection, ..Details::unavailable(retry_after, cause) }.into()
    }

    /// What a guard answers for its result: of a problem, the one the catcher will render.
    pub fn outcome<T, F>(
        request: &Request<'_>,
        result: std::result::Result<T, Self>,
    ) -> Outcome<T, (Status, Self), F> {
        match result {
            Ok(value) => Outcome::Success(value),
            Err(problem) => {
                // A guard's error value does not reach the catcher, only its status does.
                request.local_cache(|| Some(problem.clone()));
                Outcome::Error((problem.details.status, problem))
            }
        }
    }

    fn body(&self) -> Body<'_> {
        let Details { status, message, validation, .. } = &*self.details;
        Body {
            status_code: status.code,
            error: status.reason_lossy(),
            message,
            card: self.card.as_ref(),
            validation: validation.as_ref().map(|(source, keys)| Validation { source: *source, keys }),
        }
    }

    fn log(&self, request: &Request<'_>) {
        let Details { status, cause, refusal, .. } = &*self.details;
        let method = request.method().as_str();
        // Catchers run outside the span.
        let _span = RequestId::span(request).enter();
        if let Some(cause) = cause {
            let path = request.uri().path().as_str();
            let text = causes(&**cause);
            tracing::error!(status = status.code, method, path, "request failed: {text}");
        }
        if let Some(Refusal { reason, credential }) = refusal {
            let route = request.route().map_or(Metrics::NO_ROUTE, |route| route.uri.path());
            tracing::info!(status = status.code, method, route, reason, credential, "request refused");
        }
    }
}

impl<'r> Responder<'r, 'static> for Problem {
    fn respond_to(self, request: &'r Request<'_>) -> Result<'static> {
        self.log(request);
        if let (Some(rejection), Some(metrics)) =
            (self.details.rejection, request.rocket().state::<Metrics>())
        {
            metrics.request_rejected(rejection);
        }
        // Texts and numbers are always JSON.
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = Response::build()
            .status(self.details.status)
            .header(ContentType::JSON)
            .raw_header("Cache-Control", "no-store")
            .sized_body(body.len(), Cursor::new(body))
            .finalize();
        if let Some((name, value)) = &self.details.header {
            response.set_raw_header(*name, value.clone());
        }
        // Rocket runs no response fairings for a request it could not read.
        RequestId::of(request).add_to(&mut response);
        allow_any_origin(&mut response);
        secure(request, &mut response);
        name_licence(request, &mut response);
        Ok(response)
    }
}

/// A time to wait, in seconds that are enough, and at least one.
fn seconds_to_wait(wait: Duration) -> u64 {
    whole_seconds(wait).max(1)
}

/// As what a request is counted that gets this status; `None` if it is not rejected.
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
