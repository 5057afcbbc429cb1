use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, Stream};
use rocket::get;
use rocket::http::Status;
use rocket::request::{FromRequest, Outcome, Request};
use rocket::response::stream::{Event, EventStream};
use rocket::response::{Responder, Result as ResponseResult};
use rocket::tokio::select;
use rocket::tokio::sync::watch::Receiver;
use rocket::tokio::time::{Instant, sleep_until, timeout};
use serde_json::json;

use super::Answer;
use crate::admission::Account;
use crate::changes::{Cursor, Delta, Follower, Seats, Slot, State};
use crate::config::{Config, Streams};
use crate::described;
use crate::error::Problem;
use crate::fairings::Draining;
use crate::guards::{Caller, LastEvent, MinimumState, Param, Select, Since, Wait, managed};
use crate::openapi::{Described, Interface, Operation, Part};
use crate::quotas::Client;
use crate::resources::Floods;
use crate::schema::reference;
use crate::stores::FloodQuery;
use crate::telemetry::Metrics;

/// How often a stream without events sends a comment: proxies end connections that are silent for a minute.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// How long a stream rests after an event; what changes meanwhile is one event. A change is still sent within a second, and a
/// flood of changes costs the server at most two events a second for each stream.
const REST: Duration = Duration::from_millis(500);

/// How much of an event is sent at once, in bytes. Most events are smaller.
const CHUNK: usize = 1 << 10;

/// Returns the routes of the resource.
pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_changes)
            .says("What changed since a cursor; without one, all flood states")
            .gives_result(reference("Delta")),
        described!(stream_changes).says("What changes, as server-sent events that do not end").with(
            |operation, _| {
                operation.gives("text/event-stream", json!({ "type": "string" }));
                operation.gives_nothing(204, "Streams are switched off: do not connect again.");
            },
        ),
    ]
}

/// `GET /changes`: responds with what changed since a cursor, and waits for a change if asked to.
#[get("/changes")]
pub(super) async fn list_changes(
    _caller: Caller,
    since: Param<Since>,
    select: Select<Floods>,
    minimum_state: Param<MinimumState>,
    wait: Param<Wait>,
    watch: Watch,
) -> Result<Answer, Problem> {
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    let current = timeout(watch.timeout, watch.follower.current()).await.map_err(Problem::late)??;
    let mut delta = current.since(since.0, &query);
    if delta.is_empty() && !wait.0.is_zero() && watch.limits.total > 0 {
        let _seat = watch.seat()?;
        let mut live = Live { states: watch.follower.states(), query, since: since.0 };
        let next = async {
            select! {
                found = live.next() => found,
                () = watch.draining.begun() => None,
            }
        };
        delta = timeout(wait.0, next).await.ok().flatten().unwrap_or(delta);
    }
    Answer::private_result(&*delta)
}

/// `GET /changes/stream`: sends what changes as server-sent events.
#[get("/changes/stream")]
pub(super) async fn stream_changes(
    _caller: Caller,
    since: Param<Since>,
    last: LastEvent,
    select: Select<Floods>,
    minimum_state: Param<MinimumState>,
    watch: Watch,
) -> Result<ChangeStream, Problem> {
    if watch.limits.total == 0 {
        return Ok(ChangeStream(None));
    }
    let seat = watch.seat()?;
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    let live = Live { states: watch.follower.states(), query, since: last.0.or(since.0) };
    // Clients that lose a server at the same time do not all come to another one at the same time.
    let retry = Duration::from_millis(2_000 + RandomState::new().hash_one(0) % 6_000);
    let sending = Sending {
        live,
        ready: VecDeque::from([Event::retry(retry)]),
        rested: Instant::now(),
        ends: Instant::now() + watch.limits.age,
        draining: watch.draining,
        metrics: watch.metrics,
        _seat: seat,
    };
    Ok(ChangeStream(Some(Box::pin(stream::unfold(sending, Sending::next)))))
}

/// What a request needs to wait for changes. A guard.
pub(super) struct Watch {
    follower: Follower,
    seats: Seats,
    client: Client,
    draining: Draining,
    limits: Streams,
    timeout: Duration,
    metrics: Metrics,
}

impl Watch {
    fn of(request: &Request<'_>) -> Result<Self, Problem> {
        let config = managed::<Config>(request)?;
        let client = Account::of(request).map(|account| account.client().clone());
        Ok(Self {
            follower: managed::<Follower>(request)?.clone(),
            seats: managed::<Seats>(request)?.clone(),
            client: client.unwrap_or(Client::Rest),
            draining: managed::<Draining>(request)?.clone(),
            limits: config.streams,
            timeout: config.limits.timeout,
            metrics: managed::<Metrics>(request)?.clone(),
        })
    }

    /// Takes a place, which is free again when it is dropped.
    ///
    /// # Errors
    ///
    /// 429 if the client has as many as it may have, 503 if the server has.
    fn seat(&self) -> Result<Slot<Client>, Problem> {
        Ok(self.seats.take(self.client.clone())?)
    }
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Watch {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, Self::of(request))
    }
}

impl Part for Watch {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.refuses(429, "The client has too many streams, or sends too many requests.");
    }
}

/// A client that follows the changes.
struct Live {
    states: Receiver<Option<Arc<State>>>,
    query: FloodQuery,
    since: Option<Cursor>,
}

impl Live {
    /// Returns the next delta that is not empty; `None` when the server ends.
    ///
    /// If the client is slow, deltas in between are one: each is computed from what the client has.
    async fn next(&mut self) -> Option<Arc<Delta>> {
        loop {
            let state = self.states.borrow_and_update().clone();
            if let Some(state) = state {
                let delta = state.since(self.since, &self.query);
                self.since = Some(delta.cursor);
                if !delta.is_empty() {
                    return Some(delta);
                }
            }
            self.states.changed().await.ok()?;
        }
    }
}

/// A stream while it is sent.
struct Sending {
    live: Live,
    ready: VecDeque<Event>,
    /// When the next event may be sent.
    rested: Instant,
    ends: Instant,
    draining: Draining,
    metrics: Metrics,
    _seat: Slot<Client>,
}

impl Sending {
    async fn next(mut self) -> Option<(Event, Self)> {
        if self.ready.is_empty() {
            let next = async {
                sleep_until(self.rested).await;
                self.live.next().await
            };
            let delta = select! {
                delta = next => delta?,
                () = sleep_until(self.ends) => return None,
                () = self.draining.begun() => return None,
            };
            self.rested = Instant::now() + REST;
            self.ready.extend(events(&delta));
            self.metrics.stream_event();
        }
        let event = self.ready.pop_front()?;
        Some((event, self))
    }
}

/// Returns the events of a delta. The last one has the cursor: a client that was cut off before it gets all of them again.
fn events(delta: &Delta) -> Vec<Event> {
    let mut events = Vec::new();
    if !delta.changed.is_empty() {
        events.push(Event::json(&delta.changed).event("changed"));
    }
    if !delta.gone_reports.is_empty() {
        events.push(Event::json(&delta.gone_reports).event("gone_reports"));
    }
    if delta.full || !delta.areas.is_empty() {
        events.push(Event::json(delta).event("areas"));
    }
    if let Some(last) = events.pop() {
        events.push(last.id(delta.cursor.to_string()));
    }
    events
}

/// Server-sent events; `None` if streams are switched off, and then 204, which makes browsers stop.
pub(super) struct ChangeStream(Option<Pin<Box<dyn Stream<Item = Event> + Send>>>);

impl<'r> Responder<'r, 'r> for ChangeStream {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let Some(events) = self.0 else { return Status::NoContent.respond_to(request) };
        let mut response = EventStream::from(events).heartbeat(HEARTBEAT).respond_to(request)?;
        // Each stream keeps a buffer of this size.
        response.set_max_chunk_size(CHUNK);
        response.set_raw_header("Cache-Control", "no-store");
        // nginx gathers the response otherwise.
        response.set_raw_header("X-Accel-Buffering", "no");
        Ok(response)
    }
}
