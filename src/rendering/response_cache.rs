use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rocket::Request;
use rocket::tokio::time::{self, Instant, timeout_at};

use super::ApiResponse;
use super::api_response::known;
use super::cache::{LastKnown, Rendered};
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

/// Responds to questions to which all clients get the same response: from the cache, or else by rendering it. A guard.
///
/// While the store is away, it returns the last response in the cache, marked as stale, for at most `limits.stale`.
///
/// If the client has chosen a period, rendering the response costs the client one additional request for each MiB that it is
/// estimated to take. `HEAD` for such a response renders nothing.
#[derive(Clone, Debug)]
pub struct ResponseCache {
    pub(super) renderer: Arc<Renderer>,
    pub(crate) sources: Sources,
    pub(crate) follower: Follower,
    account: Option<Account>,
    is_head: bool,
    accepted: AcceptedEncodings,
    /// The lines of `If-None-Match`.
    known: Vec<String>,
    /// Whether a rendering was started for the request.
    has_rendered: Arc<AtomicBool>,
}

guard!(ResponseCache, |request| Self::for_request(request));

impl Part for ResponseCache {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.freshness_headers();
    }
}

/// How long a request that the last response can serve waits for the store while that is known to be away: enough to notice that
/// it is back.
const MOMENT: Duration = Duration::from_millis(100);

impl ResponseCache {
    fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        Ok(Self {
            renderer: Arc::clone(managed::<Arc<Renderer>>(request)?),
            sources: managed::<Sources>(request)?.clone(),
            follower: managed::<Follower>(request)?.clone(),
            account: Account::for_request(request),
            is_head: is_head(request),
            accepted: AcceptedEncodings::new(request.headers().get("Accept-Encoding")),
            known: request.headers().get("If-None-Match").map(str::to_owned).collect(),
            has_rendered: Arc::default(),
        })
    }

    /// Returns the response to a question: the same that the store's data would give now, whether it comes from the cache or
    /// not.
    ///
    /// Its headers say how current the data is, by the sources that cover it.
    ///
    /// If it does not yet exist in the coding that the client prefers, it is compressed; if there is not enough time, it is
    /// sent uncompressed.
    ///
    /// # Errors
    ///
    /// If the store fails or takes too long, if the format cannot encode the layer, or if the question asks for too much.
    pub async fn to(&self, question: ResponseKey) -> Result<ApiResponse, Problem> {
        let covered = question.covered();
        if let Some(city) = question.city_of_floods() {
            let areas = timeout_at(Instant::now() + self.renderer.timeout, self.follower.areas());
            if !areas.await.map_err(Problem::slow_store)??.has_city(city) {
                return Ok(self.find(question).await?.without_coverage());
            }
        }
        let answer = self.find(question).await?;
        Ok(answer.with_data(self.sources.state(covered)))
    }

    /// Returns the states of all areas, and whether they are those of now; the store is not asked while it is known to be away. No
    /// states if none were read, or if the last may not be shown any more.
    pub(crate) async fn floods(&self) -> (Option<Arc<State>>, FloodData) {
        let Renderer { timeout, stale, metrics, .. } = &*self.renderer;
        let current = time::timeout(*timeout, self.follower.current_unless_stale()).await;
        if let Ok(Ok(Some(state))) = current {
            return (Some(state), FloodData::Now);
        }
        let since = self.follower.confirmed_at();
        let is_shown = !stale.is_zero() && self.now().since(since) <= *stale;
        match self.follower.states().borrow().clone().filter(|_| is_shown) {
            Some(state) => {
                metrics.count_stale_response();
                (Some(state), FloodData::Until(since))
            }
            None => (None, FloodData::Unread),
        }
    }

    /// Returns whether a source of this data is silent, so that data may be missing.
    pub(crate) fn is_silent(&self, data: CoveredData) -> bool {
        self.sources.is_silent(data)
    }

    async fn find(&self, question: ResponseKey) -> Result<ApiResponse, Problem> {
        let deadline = Instant::now() + self.renderer.timeout;
        let Some((rendered, stale)) = self.rendered(&question, deadline).await? else {
            return Ok(ApiResponse::unrendered(question.media_type().to_owned()));
        };
        if let Some(coding) = self.lacks(&rendered.content) {
            let cache = &self.renderer.cache;
            drop(timeout_at(deadline, cache.compress(&question, &rendered, coding)).await);
        }
        let answer = ApiResponse::shared(&rendered)
            .holding(question.holds(), !self.has_rendered.load(Ordering::Relaxed));
        Ok(match stale {
            None => answer,
            Some((since, age)) => answer.stale_since(since, age),
        })
    }

    /// Returns what was rendered for a question, and since when it may be out of date and how long ago that is. `None` if only
    /// headers are sent and nothing was rendered.
    ///
    /// # Errors
    ///
    /// As [`to`](Self::to).
    async fn rendered(
        &self,
        question: &ResponseKey,
        deadline: Instant,
    ) -> Result<Option<(Arc<Rendered>, Option<(Timestamp, Duration)>)>, Problem> {
        let Self { renderer, account, is_head, .. } = self;
        let Renderer { store, cache, clock, .. } = &**renderer;
        let is_away = self.follower.stale_since().is_some();
        let patience = if is_away && self.stale(question).is_some() {
            deadline.min(Instant::now() + MOMENT)
        } else {
            deadline
        };
        let responding = async {
            let asking = timeout_at(patience, store.revision(question.resource()));
            let present = asking.await.map_err(Problem::slow_store)??;
            if *is_head && question.is_period() {
                return Ok(cache.cached(question, present, &**clock));
            }
            let render = || {
                self.has_rendered.store(true, Ordering::Relaxed);
                Arc::clone(renderer).render(question.clone(), account.clone())
            };
            cache.find(question, present, &**clock, render).await.map(Some)
        };
        // The rendering goes on after the timeout, so that the next request for the same response can get it.
        match timeout_at(deadline, responding).await.map_err(Problem::slow_store).flatten() {
            Ok(rendered) => Ok(rendered.map(|rendered| (rendered, None))),
            Err(problem) => {
                let Some((last, age)) = self.stale(question).filter(|_| problem.is_outage()) else {
                    return Err(problem);
                };
                self.renderer.metrics.count_stale_response();
                Ok(Some((last.rendered, Some((last.current_at, age)))))
            }
        }
    }

    /// Returns the coding in which a content must be compressed for this request; `None` if only headers are sent.
    fn lacks(&self, content: &Content) -> Option<ContentEncoding> {
        let coding = content.missing_encoding(self.accepted)?;
        let is_known = || known(self.known.iter().map(String::as_str), content, self.accepted).is_some();
        (!self.is_head && !is_known()).then_some(coding)
    }

    /// Returns the last response to a question, and how long ago it was known to be current, if it may be returned while the store
    /// is away: it is not too old, has not expired, and cannot have a report that was hidden or erased since.
    fn stale(&self, question: &ResponseKey) -> Option<(LastKnown, Duration)> {
        let Renderer { cache, withdrawn, clock, stale, .. } = &*self.renderer;
        let last = cache.last(question)?;
        let now = clock.now();
        let age = now.since(last.current_at);
        let has_gone = question.resource() == Resource::Reports && withdrawn.is_before(last.revision);
        let expired = question.expires_after().is_some_and(|after| now >= last.begun.after(after));
        (!has_gone && !expired && !stale.is_zero() && age <= *stale).then_some((last, age))
    }

    /// Returns the time by the service's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.renderer.clock.now()
    }

    /// Returns the store's layer for a query, in a format that supports the layer, even if that format is not enabled.
    ///
    /// # Errors
    ///
    /// As [`to`](Self::to).
    pub async fn layer(&self, query: LayerQuery, format: Arc<dyn Format>) -> Result<ApiResponse, Problem> {
        self.to(ResponseKey::Layer(query, format)).await
    }

    /// Does the same, with only those features that touch a part of the map. If all areas do, the response is that for the whole
    /// map.
    ///
    /// # Errors
    ///
    /// As [`to`](Self::to).
    pub(crate) async fn layer_within(
        &self,
        query: LayerQuery,
        within: Option<BoundingBox>,
        format: Arc<dyn Format>,
    ) -> Result<ApiResponse, Problem> {
        match within {
            Some(within) => self.to(self.narrowed(within, query, format).await).await,
            None => self.layer(query, format).await,
        }
    }
}
