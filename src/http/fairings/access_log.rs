use std::time::{Duration, Instant};

use rocket::Request;
use rocket::http::{Method, Status};

use super::{RequestId, RequestInfo};
use crate::telemetry::{InFlight, Log, Metrics};

/// The subject of a request's credential, noted by the guard that has verified it.
#[derive(Clone, Debug)]
pub(crate) struct Subject(Option<String>);

/// A request in progress.
struct RequestProgress {
    at: Instant,
    /// The method as sent; Rocket handles HEAD as GET.
    method: &'static str,
    /// The original path, for the log; `None` if it is not logged. `Admission` changes the path of rejected requests.
    path: Option<String>,
    /// `None` for a request that Rocket could not read, for which no request fairing runs.
    in_flight: Option<InFlight>,
}

/// The part of a request that Rocket could not read.
///
/// Rocket reveals neither the method nor the target: for a method that it does not know, it sets GET; for a target without a
/// path, it sets `/`. So a GET request with such a target is taken for a request with an unknown method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnreadPart {
    /// The method.
    Method,
    /// The target.
    Target,
}

impl RequestProgress {
    fn for_request<'r>(request: &'r Request<'_>) -> &'r Self {
        request.local_cache(|| Self::now(request, None))
    }

    fn now(request: &Request<'_>, in_flight: Option<InFlight>) -> Self {
        let logged = tracing::enabled!(target: Log::ACCESS, tracing::Level::INFO);
        let path = || masked(bounded(request.uri().path().as_str()));
        let (method, path) = match UnreadPart::among(request, in_flight.as_ref()) {
            Some(UnreadPart::Method) => (Metrics::OTHER_METHOD, logged.then(path)),
            Some(UnreadPart::Target) => (request.method().as_str(), None),
            None => (request.method().as_str(), logged.then(path)),
        };
        Self { at: Instant::now(), method, path, in_flight }
    }
}

/// Counts a request that has arrived. To be called after anything that changes its method, and before anything that may change its
/// path.
pub(crate) fn count_request(request: &Request<'_>, metrics: &Metrics) {
    request.local_cache(|| RequestProgress::now(request, Some(metrics.request_started())));
}

/// Counts the response to a request, and writes an access-log line for it if the access log is enabled.
pub(crate) fn count_response(request: &Request<'_>, status: Status, bytes: usize) {
    let begun = RequestProgress::for_request(request);
    let took = begun.at.elapsed();
    let bytes = if begun.method == Method::Head.as_str() { 0 } else { bytes as u64 };
    let template = request.route().map(|route| route.uri.path());
    let route = template.unwrap_or(Metrics::NO_ROUTE);
    let (method, status) = (begun.method, status.code);
    if let Some(metrics) = request.rocket().state::<Metrics>() {
        metrics.count_response(method, route, status, took, bytes);
    }
    if tracing::enabled!(target: Log::ACCESS, tracing::Level::INFO) {
        log(request, AccessLogLine { method, route, status, bytes, took });
    }
}

/// Returns whether a request was sent with `HEAD`, which Rocket handles as `GET`.
pub(crate) fn is_head(request: &Request<'_>) -> bool {
    RequestProgress::for_request(request).method == Method::Head.as_str()
}

impl Subject {
    /// Notes the subject of a credential that was accepted.
    pub(crate) fn note(request: &Request<'_>, subject: &str) {
        request.local_cache(|| Self(Some(subject.to_owned())));
    }

    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> Option<&'r str> {
        request.local_cache(|| Self(None)).0.as_deref()
    }
}

impl UnreadPart {
    /// Returns the part of this request that Rocket could not read; `None` if it has read the whole request.
    pub(crate) fn for_request(request: &Request<'_>) -> Option<Self> {
        Self::among(request, RequestProgress::for_request(request).in_flight.as_ref())
    }

    fn among(request: &Request<'_>, in_flight: Option<&InFlight>) -> Option<Self> {
        let unread = if request.method() == Method::Get { Self::Method } else { Self::Target };
        in_flight.is_none().then_some(unread)
    }
}

struct AccessLogLine<'a> {
    method: &'static str,
    route: &'a str,
    status: u16,
    bytes: u64,
    took: Duration,
}

/// The maximum number of characters of a client's text in a line.
const MOST: usize = 256;

/// Logs the line of a request. The line omits the query, which can contain a signature or something that people use as a key.
fn log(request: &Request<'_>, AccessLogLine { method, route, status, bytes, took }: AccessLogLine<'_>) {
    let address = RequestInfo::for_request(request).client.map(|address| address.to_string());
    let agent = request.headers().get_one("User-Agent").map(bounded);
    tracing::info!(
        target: Log::ACCESS,
        request_id = RequestId::for_request(request).as_str(),
        method,
        route,
        path = RequestProgress::for_request(request).path,
        status,
        bytes,
        microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        address,
        user_agent = agent,
        subject = Subject::for_request(request).map(bounded),
        "answered"
    );
}

/// Returns a path without the identifier of a card and the name of an upload, each of which is a permission.
fn masked(path: &str) -> String {
    let mut is_secret = false;
    let segments = path.split('/').map(|segment| {
        let shown = if is_secret { "-" } else { segment };
        is_secret = matches!(segment, "cards" | "report" | "uploads");
        shown
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns the first characters of a text. Control characters are escaped where the line is written.
fn bounded(text: &str) -> &str {
    text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_cards_and_names_of_uploads_are_not_logged() {
        for (path, logged) in [
            ("/report/4ohPUERx8eTYGy", "/report/-"),
            ("/report/4ohPUERx8eTYGy/thanks", "/report/-/thanks"),
            ("/v1/cards/abc/images", "/v1/cards/-/images"),
            ("/v1/uploads/abc-0", "/v1/uploads/-"),
            ("/v1/cards", "/v1/cards"),
            ("/v1/reports/7", "/v1/reports/7"),
            ("/", "/"),
        ] {
            assert_eq!(masked(path), logged);
        }
    }

    #[test]
    fn what_a_client_sends_is_bounded() {
        assert_eq!(bounded("curl/8"), "curl/8");
        assert_eq!(bounded(&"☔".repeat(10_000)).chars().count(), MOST);
    }
}
