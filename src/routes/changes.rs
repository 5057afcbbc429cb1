use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::{self, Stream};
use rocket::get;
use rocket::http::{ContentType, Status};
use rocket::request::{FromRequest, Outcome, Request};
use rocket::response::stream::{ByteStream, ReaderStream};
use rocket::response::{Responder, Response, Result as ResponseResult};
use rocket::tokio::io::{AsyncRead, ReadBuf};
use rocket::tokio::select;
use rocket::tokio::sync::watch::Receiver;
use rocket::tokio::time::{Instant, sleep_until, timeout};
use serde::Serialize;
use serde_json::json;

use super::answer::JSON;
use super::renderer::Renderer;
use super::{Answer, envelope};
use crate::admission::Account;
use crate::changes::{self, Cursor, Delta, Follower, FullState, Seats, Slot, State, TooSlow};
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
) -> Result<Changed, Problem> {
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    let current = timeout(watch.timeout, watch.follower.current()).await.map_err(Problem::late)??;
    let mut found = Found::of(&current, since.0, &query);
    if found.is_empty() && !wait.0.is_zero() && watch.limits.total > 0 {
        let _seat = watch.seat()?;
        let mut live = Live { states: watch.follower.states(), query: query.clone(), since: since.0 };
        let next = async {
            select! {
                found = live.next() => found,
                () = watch.draining.begun() => None,
            }
        };
        found = timeout(wait.0, next).await.ok().flatten().unwrap_or(found);
    }
    Ok(match found {
        Found::Delta(delta) => Changed::Delta(Box::new(Answer::private_result(&*delta)?)),
        Found::Full(state) => {
            Changed::Full(watch.renderer.full_state(&state, &query, watch.account.as_ref()).await?)
        }
    })
}

/// The response of `/changes`.
pub(super) enum Changed {
    Delta(Box<Answer>),
    /// A full state, which all clients share.
    Full(Arc<FullState>),
}

impl<'r> Responder<'r, 'r> for Changed {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let state = match self {
            Self::Delta(answer) => return answer.respond_to(request),
            Self::Full(state) => state,
        };
        let (before, after) = envelope::ENVELOPE;
        let whole = |text: &[u8]| std::iter::once(Ok(text.to_vec()));
        let pieces = whole(before).chain(changes::Sending::new(state)).chain(whole(after));
        let pieces = pieces.map(|piece| Piece(piece.map(io::Cursor::new)));
        let mut response = Response::new();
        response.set_raw_header("Content-Type", JSON);
        response.set_raw_header("Cache-Control", "no-store");
        response.set_streamed_body(ReaderStream::from(stream::iter(pieces)));
        Ok(response)
    }
}

/// A piece of a body, or the error that breaks it off.
struct Piece(Result<io::Cursor<Vec<u8>>, TooSlow>);

impl AsyncRead for Piece {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Ok(bytes) => Pin::new(bytes).poll_read(cx, to),
            Err(error) => Poll::Ready(Err(io::Error::other(*error))),
        }
    }
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
        ready: VecDeque::from([Text::Own(format!("retry:{}\n\n", retry.as_millis()))]),
        rested: Instant::now(),
        beat: Instant::now() + HEARTBEAT,
        ends: Instant::now() + watch.limits.age,
        draining: watch.draining,
        metrics: watch.metrics,
        renderer: watch.renderer,
        account: watch.account,
        _seat: seat,
    };
    Ok(ChangeStream(Some(Box::pin(stream::unfold(sending, Sending::next)))))
}

/// What a request needs to wait for changes. A guard.
pub(super) struct Watch {
    follower: Follower,
    renderer: Arc<Renderer>,
    account: Option<Account>,
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
        let account = Account::of(request);
        let client = account.as_ref().map(|account| account.client().clone());
        Ok(Self {
            follower: managed::<Follower>(request)?.clone(),
            renderer: Arc::clone(managed::<Arc<Renderer>>(request)?),
            account,
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

/// What a client does not know yet.
enum Found {
    Delta(Arc<Delta>),
    /// All of this state.
    Full(Arc<State>),
}

impl Found {
    fn of(state: &Arc<State>, since: Option<Cursor>, query: &FloodQuery) -> Self {
        match state.known(since) {
            Some(since) => Self::Delta(state.since(Some(since), query)),
            None => Self::Full(Arc::clone(state)),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Delta(delta) if delta.is_empty())
    }
}

impl Live {
    /// Returns the next thing that the client does not know; `None` when the server ends. After a full state, the caller sets
    /// `since` to its cursor.
    ///
    /// If the client is slow, deltas in between are one: each is computed from what the client has.
    async fn next(&mut self) -> Option<Found> {
        loop {
            let state = self.states.borrow_and_update().clone();
            if let Some(state) = state {
                let found = Found::of(&state, self.since, &self.query);
                if let Found::Delta(delta) = &found {
                    self.since = Some(delta.cursor);
                }
                if !found.is_empty() {
                    return Some(found);
                }
            }
            self.states.changed().await.ok()?;
        }
    }
}

/// A stream while it is sent.
struct Sending {
    live: Live,
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
    _seat: Slot<Client>,
}

/// A part of what a stream sends.
enum Text {
    Own(String),
    /// A full state, which all streams share. It ends with the line of its event.
    Shared(changes::Sending),
}

impl Sending {
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
                    let parts = select! {
                        parts = self.more() => parts?,
                        () = sleep_until(beat) => vec![Text::Own(":\n".to_owned())],
                        () = sleep_until(ends) => return None,
                        () = draining.begun() => return None,
                    };
                    self.beat = Instant::now() + HEARTBEAT;
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
                Found::Delta(delta) => vec![Text::Own(events(&delta))],
                Found::Full(state) => {
                    let (query, account) = (&self.live.query, self.account.as_ref());
                    let Ok(full) = self.renderer.full_state(&state, query, account).await else {
                        // Later there may be room for the state that is the latest then.
                        self.rested = Instant::now() + REST;
                        continue;
                    };
                    self.live.since = Some(full.cursor);
                    vec![
                        Text::Own(before_full(&full)),
                        Text::Shared(changes::Sending::new(full)),
                        Text::Own("\n\n".to_owned()),
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
fn events(delta: &Delta) -> String {
    let mut events = Vec::new();
    if !delta.changed.is_empty() {
        events.push(event("changed", &delta.changed));
    }
    if !delta.gone_reports.is_empty() {
        events.push(event("gone_reports", &delta.gone_reports));
    }
    if !delta.areas.is_empty() {
        events.push(event("areas", delta));
    }
    if let Some(last) = events.pop() {
        events.push(format!("id:{}\n{last}", delta.cursor));
    }
    events.concat()
}

/// Returns the events of a full state up to its JSON.
fn before_full(state: &FullState) -> String {
    let changed = event("changed", &State::everything());
    format!("{changed}id:{}\nevent:areas\ndata:", state.cursor)
}

/// Returns an event with a value.
fn event<T: Serialize>(name: &str, data: &T) -> String {
    // The values have text keys only, so they can be written. JSON has no line breaks.
    format!("event:{name}\ndata:{}\n\n", serde_json::to_string(data).unwrap_or_default())
}

/// Server-sent events; `None` if streams are switched off, and then 204, which makes browsers stop.
pub(super) struct ChangeStream(Option<Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>>);

impl<'r> Responder<'r, 'r> for ChangeStream {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let Some(events) = self.0 else { return Status::NoContent.respond_to(request) };
        let mut response = ByteStream(events).respond_to(request)?;
        response.set_header(ContentType::EventStream);
        // Each stream keeps a buffer of this size.
        response.set_max_chunk_size(CHUNK);
        response.set_raw_header("Cache-Control", "no-store");
        // nginx gathers the response otherwise.
        response.set_raw_header("X-Accel-Buffering", "no");
        Ok(response)
    }
}
