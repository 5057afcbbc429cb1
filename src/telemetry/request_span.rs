use std::fmt::Debug;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Span};
use tracing::{Subscriber, error_span};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::{LookupSpan, Scope};

/// The field with the id of a request, in spans and in log lines.
pub(super) const REQUEST_ID: &str = "request_id";

/// Makes the span of a request. Every event within it, even a panic, is logged with the id of the request.
///
/// It has the level of errors, so that it exists whenever anything is logged. If the log is off, it costs nothing.
pub(crate) fn request_span(id: &str) -> Span {
    error_span!("request", request_id = id)
}

/// Keeps the ids of requests for [`request_id`].
pub(super) struct RequestIds;

/// An id, stored with the span of its request.
struct RequestId(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for RequestIds {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut found = Found(None);
        attributes.record(&mut found);
        if let (Some(found), Some(span)) = (found.0, context.span(id)) {
            span.extensions_mut().insert(RequestId(found));
        }
    }
}

/// Returns the id of the request to which the innermost of these spans belongs.
pub(super) fn request_id<'a, S: LookupSpan<'a>>(mut spans: Scope<'a, S>) -> Option<String> {
    spans.find_map(|span| span.extensions().get::<RequestId>().map(|id| id.0.clone()))
}

/// The value of the field, if a span has it.
struct Found(Option<String>);

impl Visit for Found {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == REQUEST_ID {
            self.0 = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
