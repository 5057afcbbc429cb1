use std::time::{Duration, Instant};

use rocket::Request;
use rocket::http::{Method, Status};

use super::{RequestId, RequestInfo};
use crate::telemetry::{InFlight, Log, Metrics};

/// The subject of a request's credential, set once it is verified.
#[derive(Clone, Debug)]
pub(crate) struct Subject(Option<String>);

struct RequestProgress {
    started: Instant,
    /// The method that the client sent. Rocket's own method is GET for a HEAD request.
    method: &'static str,
    /// The original path, if the access log is enabled. `Admission` later replaces the path of a rejected request.
    path: Option<String>,
    /// `None` for a request that Rocket could not read, because Rocket runs no request fairing for it.
    in_flight: Option<InFlight>,
}

/// The part of a request that Rocket could not read.
///
/// Rocket reveals neither the method nor the target: it sets GET for an unknown method, and `/` for a target without a path. So a
/// GET request for a target without a path looks like a request with an unknown method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnreadablePart {
    Method,
    Target,
}

impl RequestProgress {
    fn for_request<'r>(request: &'r Request<'_>) -> &'r Self {
        request.local_cache(|| Self::start(request, None))
    }

    fn start(request: &Request<'_>, in_flight: Option<InFlight>) -> Self {
        let logged = tracing::enabled!(target: Log::ACCESS, tracing::Level::INFO);
        let path = || mask_secrets(truncate(request.uri().path().as_str()));
        let (method, path) = match UnreadablePart::detect(request, in_flight.as_ref()) {
            Some(UnreadablePart::Method) => (Metrics::OTHER_METHOD, logged.then(path)),
            Some(UnreadablePart::Target) => (request.method().as_str(), None),
            None => (request.method().as_str(), logged.then(path)),
        };
        Self { started: Instant::now(), method, path, in_flight }
    }
}

/// Counts a request and starts its timer. Call it after `restore_method`, and before `Admission` replaces the path.
pub(crate) fn count_request(request: &Request<'_>, metrics: &Metrics) {
    request.local_cache(|| RequestProgress::start(request, Some(metrics.request_started())));
}

/// Counts the response in the metrics, and writes its line to the access log. A response to HEAD counts 0 bytes.
pub(crate) fn count_response(request: &Request<'_>, status: Status, bytes: usize) {
    let progress = RequestProgress::for_request(request);
    let duration = progress.started.elapsed();
    let bytes = if progress.method == Method::Head.as_str() { 0 } else { bytes as u64 };
    let template = request.route().map(|route| route.uri.path());
    let route = template.unwrap_or(Metrics::NO_ROUTE);
    let (method, status) = (progress.method, status.code);
    if let Some(metrics) = request.rocket().state::<Metrics>() {
        metrics.count_response(method, route, status, duration, bytes);
    }
    if tracing::enabled!(target: Log::ACCESS, tracing::Level::INFO) {
        log(request, AccessLogLine { method, route, status, bytes, duration });
    }
}

/// Whether a request was sent with `HEAD`, which Rocket handles as `GET`.
pub(crate) fn is_head(request: &Request<'_>) -> bool {
    RequestProgress::for_request(request).method == Method::Head.as_str()
}

impl Subject {
    pub(crate) fn record(request: &Request<'_>, subject: &str) {
        request.local_cache(|| Self(Some(subject.to_owned())));
    }

    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> Option<&'r str> {
        request.local_cache(|| Self(None)).0.as_deref()
    }
}

impl UnreadablePart {
    pub(crate) fn for_request(request: &Request<'_>) -> Option<Self> {
        Self::detect(request, RequestProgress::for_request(request).in_flight.as_ref())
    }

    fn detect(request: &Request<'_>, in_flight: Option<&InFlight>) -> Option<Self> {
        let part = if request.method() == Method::Get { Self::Method } else { Self::Target };
        in_flight.is_none().then_some(part)
    }
}

struct AccessLogLine<'a> {
    method: &'static str,
    route: &'a str,
    status: u16,
    bytes: u64,
    duration: Duration,
}

/// The maximum number of characters of each text from a client, such as its `User-Agent`, in a log line.
const MAX_TEXT: usize = 256;

/// Writes the line of one request. Omits the query, which can contain a signature or a key.
fn log(request: &Request<'_>, AccessLogLine { method, route, status, bytes, duration }: AccessLogLine<'_>) {
    let address = RequestInfo::for_request(request).client.map(|address| address.to_string());
    let agent = request.headers().get_one("User-Agent").map(truncate);
    tracing::info!(
        target: Log::ACCESS,
        request_id = RequestId::for_request(request).as_str(),
        method,
        route,
        path = RequestProgress::for_request(request).path,
        status,
        bytes,
        microseconds = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
        address,
        user_agent = agent,
        subject = Subject::for_request(request).map(truncate),
        "answered"
    );
}

/// Masks identifiers of cards and names of uploads: anyone who reads one in the log could use the card or the upload.
fn mask_secrets(path: &str) -> String {
    let mut is_secret = false;
    let segments = path.split('/').map(|segment| {
        let masked = if is_secret { "-" } else { segment };
        is_secret = matches!(segment, "cards" | "report" | "uploads");
        masked
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Truncates a text from a client. Leaves control characters, because the logger escapes them.
fn truncate(text: &str) -> &str {
    text.char_indices().nth(MAX_TEXT).map_or(text, |(end, _)| &text[..end])
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
            assert_eq!(mask_secrets(path), logged);
        }
    }

    #[test]
    fn texts_of_clients_are_truncated() {
        assert_eq!(truncate("curl/8"), "curl/8");
        assert_eq!(truncate(&"☔".repeat(10_000)).chars().count(), MAX_TEXT);
    }
}
