mod body;
mod stream;
mod subscriber;

use std::sync::Arc;
use std::time::Duration;

use rocket::get;
use rocket::request::Request;
use rocket::tokio::select;
use rocket::tokio::time::{Instant, timeout_at};

use self::body::{ChangesResponse, LongPollResponse};
use self::stream::{ChangeStream, EventStream};
use self::subscriber::{Announcement, LiveUpdate, StateUpdate, Subscriber};
use crate::changes::Follower;
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
use crate::rendering::{ApiResponse, JSON, Renderer, cache_topology, envelope};
use crate::schema::reference;
use crate::schema::resources::Floods;
use crate::stores::FloodQuery;
use crate::telemetry::Metrics;

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
                // The schema describes each event, because OpenAPI has no schema for streams before 3.2.
                operation.response("text/event-stream", reference("ChangeEvent"));
                operation.empty_response(204, "Streams are switched off: do not connect again.");
            },
        ),
    ]
}

/// Responds with the changes since a cursor. With `wait`, waits for the next change.
#[get("/changes")]
pub(super) async fn list_changes(
    _caller: Caller,
    since: QueryParam<SinceCursor>,
    select: AreaFilter<Floods>,
    minimum_state: QueryParam<MinimumState>,
    wait: QueryParam<Wait>,
    watch: ChangesRequest,
) -> Result<ChangesResponse, Problem> {
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    let current = watch.follower.current_since(since.0, watch.timeout).await;
    let (current, since) = current.map_err(Problem::slow_store)??;
    let shared = watch
        .shared_max_age
        .filter(|_| wait.0.is_zero())
        .map(|every| watch.follower.states_at_tick(every, &current));
    if let Some((states, remaining)) = &shared
        && let StateUpdate::Delta(delta) = StateUpdate::since(states, since, &query)
    {
        // A client with a newer cursor gets an empty delta until the next tick.
        let response = ApiResponse::public(JSON, envelope::result(&*delta)?).until_tick(*remaining);
        return Ok(ChangesResponse::Delta(Box::new(response)));
    }
    let delta = match StateUpdate::since(&current, since, &query) {
        StateUpdate::Full(state) => {
            let full = watch.renderer.full_state(&state, &query, watch.account.as_ref()).await?;
            let cache_control =
                shared.map_or(CacheControl::NoStore, |(_, remaining)| CacheControl::UntilTick(remaining));
            return Ok(ChangesResponse::Full(full, cache_control));
        }
        StateUpdate::Delta(delta) => delta,
    };
    if !delta.is_empty() || wait.0.is_zero() || watch.limits.total == 0 {
        return Ok(ChangesResponse::Delta(Box::new(ApiResponse::private_result(&*delta)?)));
    }
    let ends = Instant::now() + wait.0;
    let (permit, mut subscriber) =
        (watch.acquire_stream()?, Subscriber::new(watch.follower, query, since, Some(Announcement::Current)));
    let next_delta = async move {
        let _permit = permit;
        let next = async {
            select! {
                update = subscriber.next() => update,
                () = watch.draining.started() => None,
            }
        };
        match timeout_at(ends, next).await {
            Ok(Some(LiveUpdate::Changed(StateUpdate::Delta(changed)))) => changed,
            // Send the empty delta. The client's next request returns the full state, or the error of the store.
            _ => delta,
        }
    };
    Ok(ChangesResponse::LongPoll(LongPollResponse::new(next_delta)))
}

#[get("/changes/stream")]
pub(super) async fn stream_changes(
    _caller: Caller,
    since: QueryParam<SinceCursor>,
    last: LastEventId,
    select: AreaFilter<Floods>,
    minimum_state: QueryParam<MinimumState>,
    watch: ChangesRequest,
) -> Result<ChangeStream, Problem> {
    if watch.limits.total == 0 {
        return Ok(ChangeStream::disabled());
    }
    let permit = watch.acquire_stream()?;
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    let subscriber = Subscriber::new(watch.follower.clone(), query, last.0.or(since.0), None);
    Ok(ChangeStream::new(EventStream::new(subscriber, permit, watch)))
}

/// A guard with the state that a request for changes needs.
pub(super) struct ChangesRequest {
    follower: Follower,
    renderer: Arc<Renderer>,
    account: Option<Account>,
    streams: StreamLimiter,
    client: Client,
    draining: Draining,
    limits: Streams,
    timeout: Duration,
    shared_max_age: Option<Duration>,
    metrics: Metrics,
}

impl ChangesRequest {
    fn from_request(request: &Request<'_>) -> Result<Self, Problem> {
        let config = managed::<Config>(request)?;
        let account = Account::for_request(request);
        let client = account.as_ref().map(|account| account.client().clone());
        Ok(Self {
            follower: managed::<Follower>(request)?.clone(),
            renderer: Arc::clone(managed::<Arc<Renderer>>(request)?),
            account,
            streams: managed::<StreamLimiter>(request)?.clone(),
            client: client.unwrap_or(Client::Rest),
            draining: managed::<Draining>(request)?.clone(),
            limits: config.streams,
            timeout: config.limits.timeout,
            shared_max_age: match cache_topology(request) {
                CacheTopology::Shared(every) => Some(every),
                CacheTopology::Unconfigured | CacheTopology::SharedWithCredential => None,
            },
            metrics: managed::<Metrics>(request)?.clone(),
        })
    }

    /// Reserves a stream until the permit is dropped. Fails if the client (429) or the server (503) has too many streams.
    fn acquire_stream(&self) -> Result<ConcurrencyPermit<Client>, Problem> {
        Ok(self.streams.try_acquire(self.client.clone())?)
    }
}

guard!(ChangesRequest, |request| Self::from_request(request));

impl Part for ChangesRequest {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.error(429, "The client has too many streams, or sends too many requests.");
    }
}
