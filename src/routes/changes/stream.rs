use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, Stream};
use rocket::http::{ContentType, Status};
use rocket::request::Request;
use rocket::response::stream::ByteStream;
use rocket::response::{Responder, Result as ResponseResult};
use rocket::tokio::select;
use rocket::tokio::time::{Instant, sleep_until};
use serde::Serialize;
use serde_json::json;

use super::ChangesRequest;
use super::subscriber::{LiveUpdate, StateUpdate, Subscriber};
use crate::changes::{self, Delta, State};
use crate::http::admission::Account;
use crate::http::content::CacheControl;
use crate::http::fairings::Draining;
use crate::http::quotas::{Client, ConcurrencyPermit};
use crate::rendering::Renderer;
use crate::telemetry::Metrics;

/// Interval of comments in a stream without events. Proxies close connections that are silent for a minute, and Rocket detects a
/// closed connection only when it writes.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Minimum time between two events of a stream. Changes in between are merged, so each stream costs at most two events a second.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// Size of a chunk in bytes. Most events are smaller.
const CHUNK: usize = 1 << 10;

/// The server-sent events of one client. Holds the client's permit for a stream until the end.
pub(super) struct EventStream {
    subscriber: Subscriber,
    /// How long clients wait before they reconnect; `None` once sent.
    retry: Option<Duration>,
    pending: VecDeque<StreamPart>,
    next_event_at: Instant,
    next_heartbeat_at: Instant,
    ends_at: Instant,
    draining: Draining,
    metrics: Metrics,
    renderer: Arc<Renderer>,
    account: Option<Account>,
    _permit: ConcurrencyPermit<Client>,
}

enum StreamPart {
    Own(String),
    /// A full state, shared by all streams.
    Shared(changes::FullStateBody),
}

impl EventStream {
    pub(super) fn new(
        subscriber: Subscriber,
        permit: ConcurrencyPermit<Client>,
        watch: ChangesRequest,
    ) -> Self {
        // Add jitter, so that the clients of a stopped server do not all reconnect at the same time.
        let retry = Duration::from_millis(2_000 + RandomState::new().hash_one(0) % 6_000);
        Self {
            subscriber,
            retry: Some(retry),
            pending: VecDeque::new(),
            next_event_at: Instant::now(),
            next_heartbeat_at: Instant::now() + HEARTBEAT,
            ends_at: Instant::now() + watch.limits.age,
            draining: watch.draining,
            metrics: watch.metrics,
            renderer: watch.renderer,
            account: watch.account,
            _permit: permit,
        }
    }

    /// Returns the next piece to send; `None` ends the stream.
    async fn next(mut self) -> Option<(Vec<u8>, Self)> {
        loop {
            match self.pending.pop_front() {
                Some(StreamPart::Own(text)) => return Some((text.into_bytes(), self)),
                Some(StreamPart::Shared(mut sending)) => {
                    // A client that reads too slowly is disconnected.
                    if let Some(piece) = sending.next().transpose().ok()? {
                        self.pending.push_front(StreamPart::Shared(sending));
                        return Some((piece, self));
                    }
                }
                None => {
                    let (ends, beat, draining) =
                        (self.ends_at, self.next_heartbeat_at, self.draining.clone());
                    let mut parts = select! {
                        parts = self.next_events() => parts?,
                        () = sleep_until(beat) => vec![StreamPart::Own(":\n".to_owned())],
                        () = sleep_until(ends) => return None,
                        () = draining.started() => return None,
                    };
                    self.next_heartbeat_at = Instant::now() + HEARTBEAT;
                    // `retry` is not a separate block, because some clients treat such a block as an empty message.
                    if let Some((retry, StreamPart::Own(first))) = self.retry.zip(parts.first_mut()) {
                        first.insert_str(0, &format!("retry:{}\n", retry.as_millis()));
                        self.retry = None;
                    }
                    self.pending.extend(parts);
                }
            }
        }
    }

    async fn next_events(&mut self) -> Option<Vec<StreamPart>> {
        loop {
            sleep_until(self.next_event_at).await;
            let parts = match self.subscriber.next().await? {
                LiveUpdate::Stale(since) => {
                    vec![StreamPart::Own(event("stale", &json!({ "stale_since": since })))]
                }
                LiveUpdate::Changed(StateUpdate::Delta(delta)) => {
                    vec![StreamPart::Own(events(&delta, false))]
                }
                LiveUpdate::Current(StateUpdate::Delta(delta)) => vec![StreamPart::Own(events(&delta, true))],
                LiveUpdate::Changed(StateUpdate::Full(state))
                | LiveUpdate::Current(StateUpdate::Full(state)) => {
                    let (query, account) = (&self.subscriber.query, self.account.as_ref());
                    let Ok(full) = self.renderer.full_state(&state, query, account).await else {
                        // Retry later, with the state that is current by then.
                        self.next_event_at = Instant::now() + MIN_INTERVAL;
                        continue;
                    };
                    self.subscriber.since = Some(full.cursor);
                    let changed = event("changed", &State::resource_names());
                    let tail = format!("\n\nid:{}\n{changed}", full.cursor);
                    vec![
                        StreamPart::Own("event:areas\ndata:".to_owned()),
                        StreamPart::Shared(changes::FullStateBody::new(full)),
                        StreamPart::Own(tail),
                    ]
                }
            };
            self.next_event_at = Instant::now() + MIN_INTERVAL;
            self.metrics.count_stream_event();
            return Some(parts);
        }
    }
}

/// Returns the events of a delta. Only the last one has the cursor, so an interrupted client gets all of them again.
fn events(delta: &Delta, is_current: bool) -> String {
    let mut events = Vec::new();
    if !delta.areas.is_empty() || is_current {
        events.push(event("areas", delta));
    }
    if !delta.gone_reports.is_empty() {
        events.push(event("gone_reports", &delta.gone_reports));
    }
    if !delta.changed.is_empty() {
        events.push(event("changed", &delta.changed));
    }
    if let Some(last) = events.pop() {
        events.push(format!("id:{}\n{last}", delta.cursor));
    }
    events.concat()
}

fn event<T: Serialize>(name: &str, data: &T) -> String {
    // Cannot fail: all keys are strings. JSON has no line breaks.
    format!("event:{name}\ndata:{}\n\n", serde_json::to_string(data).unwrap_or_default())
}

/// Server-sent events; `None` if streams are disabled. The response is then 204, which makes browsers stop reconnecting.
pub(in super::super) struct ChangeStream(Option<Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>>);

impl ChangeStream {
    pub(super) fn new(sending: EventStream) -> Self {
        Self(Some(Box::pin(stream::unfold(sending, EventStream::next))))
    }

    pub(super) fn disabled() -> Self {
        Self(None)
    }
}

impl<'r> Responder<'r, 'r> for ChangeStream {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let Some(events) = self.0 else { return Status::NoContent.respond_to(request) };
        let mut response = ByteStream(events).respond_to(request)?;
        response.set_header(ContentType::EventStream);
        // Small, because each stream allocates a buffer of this size.
        response.set_max_chunk_size(CHUNK);
        response.set_raw_header("Cache-Control", CacheControl::NO_STORE);
        // Disables buffering in nginx.
        response.set_raw_header("X-Accel-Buffering", "no");
        Ok(response)
    }
}
