mod body;
mod stream;
mod subscriber;

use std::sync::Arc;
use std::time::Duration;

use rocket::get;
use rocket::request::Request;
use rocket::tokio::select;
use rocket::tokio::time::{Instant, timeout, timeout_at};

use self::body::{ChangesResponse, LongPollResponse};
use self::stream::{ChangeStream, EventStream};
use self::subscriber::{Announced, LiveUpdate, StateUpdate, Subscriber};
use crate::changes::{Cursor, Follower, State};
use crate::config::{Config, Streams};
use crate::described;
use crate::guards::{
    AreaFilter, Caller, LastEventId, MinimumState, QueryParam, SinceCursor, Wait, guard, managed,
};
use crate::http::admission::Account;
use crate::http::content::{CacheControl, CacheTopology};
use crate::http::error::Problem;
use crate::http::fairings::Draining;
use crate::http::quotas::{Client, ConcurrencyPermit, StreamLimiter};
use crate::openapi::{Described, Interface, Operation, Part};
use crate::rendering::{ApiResponse, JSON, Renderer, between, envelope};
use crate::schema::reference;
use crate::schema::resources::Floods;
use crate::stores::FloodQuery;
use crate::telemetry::Metrics;

/// Returns the routes of the resource.
pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_changes)
            .summary("What changed since a cursor; without one, all flood states")
            .result(reference("Delta"))
            .with(|operation, interface| {
                if interface.config.cache.shared().is_some() {
                    operation.empty_response(304, "What the client has is what it would get.");
                }
            }),
        described!(stream_changes).summary("What changes, as server-sent events that do not end").with(
            |operation, _| {
                // In OpenAPI before 3.2, the schema is that of each event.
                operation.response("text/event-stream", reference("ChangeEvent"));
                operation.empty_response(204, "Streams are switched off: do not connect again.");
            },
        ),
    ]
}

/// `GET /changes`: responds with what changed since a cursor, and waits for a change if asked to.
#[get("/changes")]
pub(super) async fn list_changes(
    _caller: Caller,
    since: QueryParam<SinceCursor>,
    select: AreaFilter<Floods>,
    minimum_state: QueryParam<MinimumState>,
    wait: QueryParam<Wait>,
    watch: Watch,
) -> Result<ChangesResponse, Problem> {
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    let (current, since) = watch.current(since.0).await?;
    let tick =
        watch.every.filter(|_| wait.0.is_zero()).map(|every| watch.follower.states_at_tick(every, &current));
    if let Some((states, left)) = &tick
        && let StateUpdate::Delta(delta) = StateUpdate::since(states, since, &query)
    {
        // A client that has read further gets nothing new, and keeps its cursor until the next tick.
        let answer = ApiResponse::public(JSON, envelope::result(&*delta)?).until_tick(*left);
        return Ok(ChangesResponse::Delta(Box::new(answer)));
    }
    let delta = match StateUpdate::since(&current, since, &query) {
        StateUpdate::Full(state) => {
            let full = watch.renderer.full_state(&state, &query, watch.account.as_ref()).await?;
            let kept = tick.map_or(CacheControl::NoStore, |(_, left)| CacheControl::UntilTick(left));
            return Ok(ChangesResponse::Full(full, kept));
        }
        StateUpdate::Delta(delta) => delta,
    };
    if !delta.is_empty() || wait.0.is_zero() || watch.limits.total == 0 {
        return Ok(ChangesResponse::Delta(Box::new(ApiResponse::private_result(&*delta)?)));
    }
    let ends = Instant::now() + wait.0;
    let (seat, mut live) =
        (watch.seat()?, Subscriber::new(watch.follower, query, since, Some(Announced::Current)));
    let waiting = async move {
        let _seat = seat;
        let next = async {
            select! {
                news = live.next() => news,
                () = watch.draining.started() => None,
            }
        };
        match timeout_at(ends, next).await {
            Ok(Some(LiveUpdate::Changed(StateUpdate::Delta(changed)))) => changed,
            // A client that asks again learns that the store is away, or gets the full state.
            _ => delta,
        }
    };
    Ok(ChangesResponse::Later(LongPollResponse::new(waiting)))
}

/// `GET /changes/stream`: sends what changes as server-sent events.
#[get("/changes/stream")]
pub(super) async fn stream_changes(
    _caller: Caller,
    since: QueryParam<SinceCursor>,
    last: LastEventId,
    select: AreaFilter<Floods>,
    minimum_state: QueryParam<MinimumState>,
    watch: Watch,
) -> Result<ChangeStream, Problem> {
    if watch.limits.total == 0 {
        return Ok(ChangeStream::off());
    }
    let seat = watch.seat()?;
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    let live = Subscriber::new(watch.follower.clone(), query, last.0.or(since.0), None);
    Ok(ChangeStream::new(EventStream::new(live, seat, watch)))
}

/// What a request needs to wait for changes. A guard.
pub(super) struct Watch {
    follower: Follower,
    renderer: Arc<Renderer>,
    account: Option<Account>,
    seats: StreamLimiter,
    client: Client,
    draining: Draining,
    limits: Streams,
    timeout: Duration,
    /// How long shared caches reuse a response to this client; `None` if none may.
    every: Option<Duration>,
    metrics: Metrics,
}

impl Watch {
    fn read(request: &Request<'_>) -> Result<Self, Problem> {
        let config = managed::<Config>(request)?;
        let account = Account::for_request(request);
        let client = account.as_ref().map(|account| account.client().clone());
        Ok(Self {
            follower: managed::<Follower>(request)?.clone(),
            renderer: Arc::clone(managed::<Arc<Renderer>>(request)?),
            account,
            seats: managed::<StreamLimiter>(request)?.clone(),
            client: client.unwrap_or(Client::Rest),
            draining: managed::<Draining>(request)?.clone(),
            limits: config.streams,
            timeout: config.limits.timeout,
            every: match between(request) {
                CacheTopology::Shared(every) => Some(every),
                CacheTopology::Unconfigured | CacheTopology::SharedWithCredential => None,
            },
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
        let state = current().await.map_err(Problem::slow_store)??;
        let Some(ahead) = since.filter(|since| state.is_behind(*since)) else { return Ok((state, since)) };
        let reached = timeout(self.timeout, self.follower.catches_up_to(ahead)).await.unwrap_or_default();
        Ok((current().await.map_err(Problem::slow_store)??, reached.then_some(ahead)))
    }

    /// Takes a place, which is free again when it is dropped.
    ///
    /// # Errors
    ///
    /// 429 if the client has as many as it may have, 503 if the server has.
    fn seat(&self) -> Result<ConcurrencyPermit<Client>, Problem> {
        Ok(self.seats.try_acquire(self.client.clone())?)
    }
}

guard!(Watch, |request| Self::read(request));

impl Part for Watch {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.error(429, "The client has too many streams, or sends too many requests.");
    }
}
