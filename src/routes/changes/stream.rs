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

use super::Watch;
use super::subscriber::{LiveUpdate, StateUpdate, Subscriber};
use crate::changes::{self, Delta, State};
use crate::http::admission::Account;
use crate::http::content::CacheControl;
use crate::http::fairings::Draining;
use crate::http::quotas::{Client, ConcurrencyPermit};
use crate::rendering::Renderer;
use crate::telemetry::Metrics;

/// How often a stream without events sends a comment: proxies end connections that are silent for a minute. Rocket notices
/// only when it sends something that a client has gone, so a stream keeps its seat no longer than this without its client.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// How long a stream rests after an event; what changes meanwhile is one event. A change is still sent within a second, and a
/// flood of changes costs the server at most two events a second for each stream.
const REST: Duration = Duration::from_millis(500);

/// How much of an event is sent at once, in bytes. Most events are smaller.
const CHUNK: usize = 1 << 10;

/// A stream while it is sent.
pub(super) struct EventStream {
    live: Subscriber,
    /// When the client may connect again; `None` once it was told.
    retry: Option<Duration>,
    ready: VecDeque<Text>,
    /// When the next event may be sent.
    rested: Instant,
    /// When the next comment is sent.
    beat: Instant,
    ends: Instant,
    draining: Draining,
    metrics: Metrics,
    renderer: Arc<Renderer>,
    account: Option<Account>,
    _seat: ConcurrencyPermit<Client>,
}

/// A part of what a stream sends.
enum Text {
    Own(String),
    /// A full state, which all streams share. It ends with the line of its event.
    Shared(changes::FullStateBody),
}

impl EventStream {
    pub(super) fn new(live: Subscriber, seat: ConcurrencyPermit<Client>, watch: Watch) -> Self {
        // Clients that lose a server at the same time do not all come to another one at the same time.
        let retry = Duration::from_millis(2_000 + RandomState::new().hash_one(0) % 6_000);
        Self {
            live,
            retry: Some(retry),
            ready: VecDeque::new(),
            rested: Instant::now(),
            beat: Instant::now() + HEARTBEAT,
            ends: Instant::now() + watch.limits.age,
            draining: watch.draining,
            metrics: watch.metrics,
            renderer: watch.renderer,
            account: watch.account,
            _seat: seat,
        }
    }

    async fn next(mut self) -> Option<(Vec<u8>, Self)> {
        loop {
            match self.ready.pop_front() {
                Some(Text::Own(text)) => return Some((text.into_bytes(), self)),
                Some(Text::Shared(mut sending)) => {
                    // A client that reads too slowly comes again.
                    if let Some(piece) = sending.next().transpose().ok()? {
                        self.ready.push_front(Text::Shared(sending));
                        return Some((piece, self));
                    }
                }
                None => {
                    let (ends, beat, draining) = (self.ends, self.beat, self.draining.clone());
                    let mut parts = select! {
                        parts = self.more() => parts?,
                        () = sleep_until(beat) => vec![Text::Own(":\n".to_owned())],
                        () = sleep_until(ends) => return None,
                        () = draining.started() => return None,
                    };
                    self.beat = Instant::now() + HEARTBEAT;
                    // A block of its own would be an empty message to some clients.
                    if let Some((retry, Text::Own(first))) = self.retry.zip(parts.first_mut()) {
                        first.insert_str(0, &format!("retry:{}\n", retry.as_millis()));
                        self.retry = None;
                    }
                    self.ready.extend(parts);
                }
            }
        }
    }

    /// Returns the next events; `None` when the server ends.
    async fn more(&mut self) -> Option<Vec<Text>> {
        loop {
            sleep_until(self.rested).await;
            let parts = match self.live.next().await? {
                LiveUpdate::Stale(since) => vec![Text::Own(event("stale", &json!({ "stale_since": since })))],
                LiveUpdate::Changed(StateUpdate::Delta(delta)) => vec![Text::Own(events(&delta, false))],
                LiveUpdate::Current(StateUpdate::Delta(delta)) => vec![Text::Own(events(&delta, true))],
                LiveUpdate::Changed(StateUpdate::Full(state))
                | LiveUpdate::Current(StateUpdate::Full(state)) => {
                    let (query, account) = (&self.live.query, self.account.as_ref());
                    let Ok(full) = self.renderer.full_state(&state, query, account).await else {
                        // Later there may be room for the state that is the latest then.
                        self.rested = Instant::now() + REST;
                        continue;
                    };
                    self.live.since = Some(full.cursor);
                    let changed = event("changed", &State::resource_names());
                    let after = format!("\n\nid:{}\n{changed}", full.cursor);
                    vec![
                        Text::Own("event:areas\ndata:".to_owned()),
                        Text::Shared(changes::FullStateBody::new(full)),
                        Text::Own(after),
                    ]
                }
            };
            self.rested = Instant::now() + REST;
            self.metrics.stream_event();
            return Some(parts);
        }
    }
}

/// Returns the events of a delta. The last one has the cursor: a client that was cut off before it gets all of them again.
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

/// Returns an event with a value.
fn event<T: Serialize>(name: &str, data: &T) -> String {
    // The values have text keys only, so they can be written. JSON has no line breaks.
    format!("event:{name}\ndata:{}\n\n", serde_json::to_string(data).unwrap_or_default())
}

/// Server-sent events; `None` if streams are switched off, and then 204, which makes browsers stop.
pub(in super::super) struct ChangeStream(Option<Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>>);

impl ChangeStream {
    pub(super) fn new(sending: EventStream) -> Self {
        Self(Some(Box::pin(stream::unfold(sending, EventStream::next))))
    }

    pub(super) fn off() -> Self {
        Self(None)
    }
}

impl<'r> Responder<'r, 'r> for ChangeStream {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let Some(events) = self.0 else { return Status::NoContent.respond_to(request) };
        let mut response = ByteStream(events).respond_to(request)?;
        response.set_header(ContentType::EventStream);
        // Each stream keeps a buffer of this size.
        response.set_max_chunk_size(CHUNK);
        response.set_raw_header("Cache-Control", CacheControl::NO_STORE);
        // nginx gathers the response otherwise.
        response.set_raw_header("X-Accel-Buffering", "no");
        Ok(response)
    }
}
