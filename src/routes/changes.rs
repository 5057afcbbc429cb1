use std::collections::VecDeque;
use std::future::pending;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, Stream};
use rocket::http::Status;
use rocket::request::{FromRequest, Outcome, Request};
use rocket::response::stream::{ByteStream, Event, EventStream};
use rocket::response::{Responder, Result as ResponseResult};
use rocket::tokio::select;
use rocket::tokio::sync::watch::Receiver;
use rocket::tokio::time::{Instant, sleep_until, timeout, timeout_at};
use rocket::{Either, get};
use serde_json::json;

use super::answer::JSON;
use super::{Answer, envelope};
use crate::admission::Account;
use crate::changes::{Cursor, Delta, Follower, Seats, Slot, State};
use crate::config::{Config, Streams};
use crate::described;
use crate::error::Problem;
use crate::fairings::Draining;
use crate::guards::{Caller, LastEvent, MinimumState, Param, Select, Since, Wait, managed};
use crate::model::Timestamp;
use crate::openapi::{Described, Interface, Operation, Part};
use crate::quotas::Client;
use crate::resources::Floods;
use crate::schema::reference;
use crate::stores::FloodQuery;
use crate::telemetry::Metrics;

/// How often a stream without events sends a comment: proxies end connections that are silent for a minute. Rocket notices
/// only when it sends something that a client has gone, so a stream keeps its seat no longer than this without its client.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// How often a response that waits sends a line break before its JSON, for the same reason.
const PULSE: Duration = Duration::from_secs(5);

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
) -> Result<Either<Answer, Awaited>, Problem> {
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    let (current, since) = watch.current(since.0).await?;
    let delta = current.since(since, &query);
    if !delta.is_empty() || wait.0.is_zero() || watch.limits.total == 0 {
        return Answer::private_result(&*delta).map(Either::Left);
    }
    let ends = Instant::now() + wait.0;
    let (seat, mut live) = (watch.seat()?, Live::new(watch.follower, query, since, Some(Told::Current)));
    let waiting = async move {
        let _seat = seat;
        let next = async {
            select! {
                news = live.next() => news,
                () = watch.draining.begun() => None,
            }
        };
        match timeout_at(ends, next).await {
            Ok(Some(News::Changed(changed))) => changed,
            // A client that asks again learns that the store is away.
            _ => delta,
        }
    };
    Ok(Either::Right(Awaited(Box::pin(waiting))))
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
    let live = Live::new(watch.follower, query, last.0.or(since.0), None);
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

    /// Returns states that include every change that was acknowledged before the call, and the cursor; `None` if that is ahead
    /// of the store.
    ///
    /// # Errors
    ///
    /// If the store is away.
    async fn current(&self, since: Option<Cursor>) -> Result<(Arc<State>, Option<Cursor>), Problem> {
        let current = || timeout(self.timeout, self.follower.current());
        let state = current().await.map_err(Problem::late)??;
        let Some(ahead) = since.filter(|since| state.is_behind(*since)) else { return Ok((state, since)) };
        let reached = timeout(self.timeout, self.follower.reaches(ahead)).await.unwrap_or_default();
        Ok((current().await.map_err(Problem::late)??, reached.then_some(ahead)))
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
    follower: Follower,
    states: Receiver<Option<Arc<State>>>,
    stale: Receiver<Option<Timestamp>>,
    query: FloodQuery,
    since: Option<Cursor>,
    /// Whether the client was told that its states are current, or that they may be out of date; `None` if it was told nothing yet.
    told: Option<Told>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Current,
    Stale,
}

/// What a client that follows the changes is told.
enum News {
    /// What has changed.
    Changed(Arc<Delta>),
    /// What has changed, perhaps nothing, and that the states are current, which the client does not know.
    Current(Arc<Delta>),
    /// The states may be out of date: they were last known to be current at this time.
    Stale(Timestamp),
}

impl Live {
    fn new(follower: Follower, query: FloodQuery, since: Option<Cursor>, told: Option<Told>) -> Self {
        let (states, stale) = (follower.states(), follower.stale());
        Self { follower, states, stale, query, since, told }
    }

    /// Returns what is new for the client; `None` when the server ends.
    ///
    /// If the client is slow, deltas in between are one: each is computed from what the client has. A client that is ahead of
    /// the states waits until they have reached it, or until it is certain that they do not: then it gets all of them.
    async fn next(&mut self) -> Option<News> {
        loop {
            // Read first: states that are read after it are at least as new.
            let stale = *self.stale.borrow_and_update();
            let state = self.states.borrow_and_update().clone();
            let ahead = self.since.filter(|since| state.as_ref().is_some_and(|of| of.is_behind(*since)));
            if let Some(state) = state.filter(|_| ahead.is_none()) {
                let delta = state.since(self.since, &self.query);
                self.since = Some(delta.cursor);
                if stale.is_none() && self.told != Some(Told::Current) {
                    self.told = Some(Told::Current);
                    return Some(News::Current(delta));
                }
                if !delta.is_empty() {
                    return Some(News::Changed(delta));
                }
            }
            if let Some(since) = stale.filter(|_| self.told != Some(Told::Stale)) {
                self.told = Some(Told::Stale);
                return Some(News::Stale(since));
            }
            let reaches = async {
                match ahead {
                    Some(ahead) => self.follower.reaches(ahead).await,
                    None => pending().await,
                }
            };
            select! {
                changed = self.states.changed(), if ahead.is_none() => changed.ok()?,
                changed = self.stale.changed() => changed.ok()?,
                reached = reaches => self.since = self.since.filter(|_| reached),
            }
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
            let news = select! {
                news = next => news?,
                () = sleep_until(self.ends) => return None,
                () = self.draining.begun() => return None,
            };
            self.rested = Instant::now() + REST;
            self.ready.extend(events(&news));
            self.metrics.stream_event();
        }
        let event = self.ready.pop_front()?;
        Some((event, self))
    }
}

/// Returns the events for news. The last one of a delta has the cursor: a client that was cut off before it gets all of them
/// again.
fn events(news: &News) -> Vec<Event> {
    let (delta, is_current) = match news {
        News::Changed(delta) => (delta, false),
        News::Current(delta) => (delta, true),
        News::Stale(since) => return vec![Event::json(&json!({ "stale_since": since })).event("stale")],
    };
    let mut events = Vec::new();
    if !delta.changed.is_empty() {
        events.push(Event::json(&delta.changed).event("changed"));
    }
    if !delta.gone_reports.is_empty() {
        events.push(Event::json(&delta.gone_reports).event("gone_reports"));
    }
    if delta.full || !delta.areas.is_empty() || is_current {
        events.push(Event::json(delta).event("areas"));
    }
    if let Some(last) = events.pop() {
        events.push(last.id(delta.cursor.to_string()));
    }
    events
}

/// A response whose delta is not there yet. It begins at once, with line breaks, which JSON allows before a value.
pub(super) struct Awaited(Pin<Box<dyn Future<Output = Arc<Delta>> + Send>>);

impl<'r> Responder<'r, 'r> for Awaited {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let body = stream::unfold(Some(self.0), async |waiting| {
            let mut waiting = waiting?;
            match timeout(PULSE, &mut waiting).await {
                // A delta can always be written as JSON.
                Ok(delta) => Some((envelope::result(&*delta).unwrap_or_default(), None)),
                Err(_silence) => Some((b"\n".to_vec(), Some(waiting))),
            }
        });
        let mut response = ByteStream::from(body).respond_to(request)?;
        response.set_raw_header("Content-Type", JSON);
        response.set_raw_header("Cache-Control", "no-store");
        Ok(response)
    }
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
