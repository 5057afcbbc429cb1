//! Turns failures into statuses with a JSON body, or a page for browsers.
//!
//! Guards and routes create a [`Problem`]. The catcher renders it, and Rocket's own errors, in one form:
//! `{"statusCode":400,"error":"Bad Request","message":"…","validation":{…}}`.

mod catcher;
mod constructors;
mod conversions;

use std::error::Error;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Instant;

use rocket::http::{ContentType, Status};
use rocket::outcome::Outcome;
use rocket::request::Request;
use rocket::response::{Responder, Response, Result};
use serde::Serialize;
use serde_json::Value;

pub(crate) use self::catcher::catchers;
use crate::http::content::CacheControl;
use crate::http::fairings::RequestId;
use crate::model::{AreaId, CardId};
use crate::telemetry::{Metrics, Rejection, RepeatSuppressor, causes};

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

/// The function that renders a problem as a page for a browser. It returns `None` if the client gets JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProblemPage(pub(crate) fn(&Problem, &Request<'_>) -> Option<String>);

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

#[derive(Clone, Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Members {
    /// Added to the response if a change to a card failed.
    Change {
        card_id: CardId,
    },
    /// Added to the response if a card could not be read.
    Read {
        found: bool,
        result: (),
    },
    Unknown {
        unknown: Vec<String>,
    },
    Outside {
        outside: Vec<AreaId>,
    },
    Conflicts {
        conflicts: Box<[Value]>,
    },
}

#[derive(Serialize)]
struct Validation<'a> {
    source: Source,
    keys: &'a [String],
}

/// Why a request was rejected or has failed, as the client sees it.
///
/// If the service fails, the cause is logged with the id of the request, and never sent to the client.
#[derive(Clone, Debug)]
pub struct Problem {
    details: Arc<Details>,
    members: Option<Members>,
}

#[derive(Debug)]
struct Details {
    status: Status,
    message: String,
    validation: Option<(Source, Vec<String>)>,
    header: Option<(&'static str, String)>,
    refusal: Option<Refusal>,
    cause: Option<Box<dyn Error + Send + Sync>>,
    is_outage: bool,
    rejection: Option<Rejection>,
}

#[derive(Debug)]
struct Refusal {
    reason: String,
    /// The name of the credential or the beginning of its digest, never the credential itself.
    credential: Option<String>,
}

impl From<Details> for Problem {
    fn from(details: Details) -> Self {
        Self { details: Arc::new(details), members: None }
    }
}

impl Problem {
    pub(crate) fn is_outage(&self) -> bool {
        self.details.is_outage
    }

    /// Converts the result of a guard into its outcome. Stores a problem in the request, so that the catcher renders it.
    pub fn outcome<T, F>(
        request: &Request<'_>,
        result: std::result::Result<T, Self>,
    ) -> Outcome<T, (Status, Self), F> {
        match result {
            Ok(value) => Outcome::Success(value),
            Err(problem) => {
                // Rocket passes only the status of a guard's error to the catcher.
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
            more: self.members.as_ref(),
            validation: validation.as_ref().map(|(source, keys)| Validation { source: *source, keys }),
        }
    }

    /// Logs cause and refusal. Repeats of the same outage are logged at `debug` level.
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
        // Adds the request id to the log lines. A route would do so itself, but catchers run outside the route.
        RequestId::current(request).run_blocking(|| self.log(request));
        if let (Some(rejection), Some(metrics)) =
            (self.details.rejection, request.rocket().state::<Metrics>())
        {
            metrics.request_rejected(rejection);
        }
        // Serialising strings and numbers does not fail.
        let json = || serde_json::to_vec(&self.body()).unwrap_or_default();
        let page = request.rocket().state().and_then(|ProblemPage(page)| page(&self, request));
        let (kind, body) = match page {
            Some(page) => (ContentType::HTML, page.into_bytes()),
            None => (ContentType::JSON, json()),
        };
        let mut response = Response::build()
            .status(self.details.status)
            .header(kind)
            .raw_header("Cache-Control", CacheControl::NO_STORE)
            .sized_body(body.len(), Cursor::new(body))
            .finalize();
        if let Some((name, value)) = &self.details.header {
            response.set_raw_header(*name, value.clone());
        }
        Ok(response)
    }
}
