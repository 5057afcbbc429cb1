use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rocket::Request;
use rocket::tokio::time::{self, Instant, timeout_at};

use super::ApiResponse;
use super::api_response::matching_encoding;
use super::cache::{LastKnown, RenderedResponse};
use super::renderer::Renderer;
use super::response_key::ResponseKey;
use crate::changes::{Follower, State};
use crate::data::statements::FloodData;
use crate::formats::Format;
use crate::guards::{guard, managed};
use crate::http::admission::Account;
use crate::http::content::{AcceptedEncodings, Content, ContentEncoding};
use crate::http::error::Problem;
use crate::http::fairings::is_head;
use crate::model::{BoundingBox, CoveredData, Timestamp};
use crate::openapi::{Interface, Operation, Part};
use crate::sources::Sources;
use crate::stores::{LayerQuery, Resource};

/// A request guard for responses that are the same for all clients. Returns them from the cache, or renders them.
///
/// While the store is unavailable, it returns the last response in the cache, marked as stale, for at most `limits.stale`.
///
/// If the client chooses a period or a part of the map, rendering costs the client one additional request per MiB of estimated
/// memory. A `HEAD` request for such a response renders nothing.
#[derive(Clone, Debug)]
pub struct ResponseCache {
    pub(super) renderer: Arc<Renderer>,
    pub(crate) sources: Sources,
    pub(crate) follower: Follower,
    account: Option<Account>,
    is_head: bool,
    accepted: AcceptedEncodings,
    if_none_match: Vec<String>,
    has_rendered: Arc<AtomicBool>,
}

guard!(ResponseCache, |request| Self::for_request(request));

impl Part for ResponseCache {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.freshness_headers();
    }
}

/// The time that a request with a stale response waits for an unavailable store: enough to notice that the store is back.
const OUTAGE_PROBE: Duration = Duration::from_millis(100);

impl ResponseCache {
    fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        Ok(Self {
            renderer: Arc::clone(managed::<Arc<Renderer>>(request)?),
            sources: managed::<Sources>(request)?.clone(),
            follower: managed::<Follower>(request)?.clone(),
            account: Account::for_request(request),
            is_head: is_head(request),
            accepted: AcceptedEncodings::new(request.headers().get("Accept-Encoding")),
            if_none_match: request.headers().get("If-None-Match").map(str::to_owned).collect(),
            has_rendered: Arc::default(),
        })
    }

    /// Returns the response for a key, cached or rendered, with the data that the store has now. Adds headers about how current
    /// the data is, according to the sources that cover it.
    ///
    /// If the client's preferred encoding does not exist yet, compresses the response, or sends it uncompressed if time is short.
    ///
    /// # Errors
    ///
    /// If the store fails or times out, if the format cannot encode the layer, or if the key selects too much.
    pub async fn get(&self, key: ResponseKey) -> Result<ApiResponse, Problem> {
        let covered = key.covered_data();
        if let Some(city) = key.flood_city() {
            let areas = timeout_at(Instant::now() + self.renderer.timeout, self.follower.areas());
            if !areas.await.map_err(Problem::slow_store)??.has_city(city) {
                return Ok(self.respond(key).await?.without_coverage());
            }
        }
        let response = self.respond(key).await?;
        Ok(response.with_data(self.sources.state(covered)))
    }

    /// Returns the states of all areas, and whether they are current. Does not query a store that is known to be unavailable.
    /// Returns no states if none were ever read, or if the last ones are older than `limits.stale`.
    pub(crate) async fn floods(&self) -> (Option<Arc<State>>, FloodData) {
        let Renderer { timeout, stale, metrics, .. } = &*self.renderer;
        let current = time::timeout(*timeout, self.follower.current_unless_stale()).await;
        if let Ok(Ok(Some(state))) = current {
            return (Some(state), FloodData::Now);
        }
        let since = self.follower.confirmed_at();
        let is_shown = !stale.is_zero() && self.now().saturating_duration_since(since) <= *stale;
        match self.follower.states().borrow().clone().filter(|_| is_shown) {
            Some(state) => {
                metrics.count_stale_response();
                (Some(state), FloodData::Until(since))
            }
            None => (None, FloodData::Unread),
        }
    }

    /// Returns whether a source of this data is silent. Then data may be missing.
    pub(crate) fn is_silent(&self, data: CoveredData) -> bool {
        self.sources.is_silent(data)
    }

    async fn respond(&self, key: ResponseKey) -> Result<ApiResponse, Problem> {
        let deadline = Instant::now() + self.renderer.timeout;
        let Some((rendered, stale)) = self.render_or_stale(&key, deadline).await? else {
            return Ok(ApiResponse::headers_only(key.media_type().to_owned()));
        };
        if let Some(coding) = self.missing_encoding(&rendered.content) {
            let cache = &self.renderer.cache;
            drop(timeout_at(deadline, cache.compress(&key, &rendered, coding)).await);
        }
        let response = ApiResponse::shared(&rendered)
            .with_content_class(key.content_class(), !self.has_rendered.load(Ordering::Relaxed));
        Ok(match stale {
            None => response,
            Some((since, age)) => response.stale_since(since, age),
        })
    }

    /// Returns the rendered response. For a stale response, also the time since which it is stale, and its age. `None` for a
    /// `HEAD` request that renders nothing.
    async fn render_or_stale(
        &self,
        key: &ResponseKey,
        deadline: Instant,
    ) -> Result<Option<(Arc<RenderedResponse>, Option<(Timestamp, Duration)>)>, Problem> {
        let Self { renderer, account, is_head, .. } = self;
        let Renderer { store, cache, clock, .. } = &**renderer;
        let is_away = self.follower.stale_since().is_some();
        let revision_deadline = if is_away && self.stale_response(key).is_some() {
            deadline.min(Instant::now() + OUTAGE_PROBE)
        } else {
            deadline
        };
        let respond = async {
            let revision = timeout_at(revision_deadline, store.revision(key.resource()));
            let present = revision.await.map_err(Problem::slow_store)??;
            if *is_head && key.is_unbounded() {
                return Ok(cache.get_cached(key, present, &**clock));
            }
            let render = || {
                self.has_rendered.store(true, Ordering::Relaxed);
                Arc::clone(renderer).render(key.clone(), account.clone())
            };
            cache.get_or_render(key, present, &**clock, render).await.map(Some)
        };
        // The rendering continues after the timeout: the next request can use it.
        match timeout_at(deadline, respond).await.map_err(Problem::slow_store).flatten() {
            Ok(rendered) => Ok(rendered.map(|rendered| (rendered, None))),
            Err(problem) => {
                let Some((last, age)) = self.stale_response(key).filter(|_| problem.is_outage()) else {
                    return Err(problem);
                };
                self.renderer.metrics.count_stale_response();
                Ok(Some((last.rendered, Some((last.current_at, age)))))
            }
        }
    }

    /// Returns the encoding that this request needs and that does not exist yet; `None` if only headers are sent.
    fn missing_encoding(&self, content: &Content) -> Option<ContentEncoding> {
        let coding = content.missing_encoding(self.accepted)?;
        let is_current = || {
            matching_encoding(self.if_none_match.iter().map(String::as_str), content, self.accepted).is_some()
        };
        (!self.is_head && !is_current()).then_some(coding)
    }

    /// Returns the last response and its age if it may be sent while the store is unavailable: it is not too old, has not
    /// expired, and contains no report that was hidden or erased later.
    fn stale_response(&self, key: &ResponseKey) -> Option<(LastKnown, Duration)> {
        let Renderer { cache, withdrawn, clock, stale, .. } = &*self.renderer;
        let last = cache.last_known(key)?;
        let now = clock.now();
        let age = now.saturating_duration_since(last.current_at);
        let has_gone = key.resource() == Resource::Reports && withdrawn.is_before(last.revision);
        let expired = key.expires_after().is_some_and(|after| now >= last.started_at.saturating_add(after));
        (!has_gone && !expired && !stale.is_zero() && age <= *stale).then_some((last, age))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.renderer.clock.now()
    }

    /// Returns a layer in a format that supports it, even if that format is not enabled.
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get).
    pub async fn layer(&self, query: LayerQuery, format: Arc<dyn Format>) -> Result<ApiResponse, Problem> {
        self.get(ResponseKey::Layer(query, format)).await
    }

    /// Like [`layer`](Self::layer), with only the features that touch a box.
    pub(crate) async fn layer_within(
        &self,
        query: LayerQuery,
        within: Option<BoundingBox>,
        format: Arc<dyn Format>,
    ) -> Result<ApiResponse, Problem> {
        match within {
            Some(within) => self.get(self.bbox_key(within, query, format).await).await,
            None => self.layer(query, format).await,
        }
    }
}
