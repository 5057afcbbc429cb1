use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono_tz::Tz;
use rocket::tokio::time::timeout;
use serde::Serialize;

use super::cache::{Cache, RenderError, RenderFailure, RenderedResponse};
use super::cost::{self, estimate, extra_requests, features};
use super::envelope::{Coverage, Supplement};
use super::layer_cache::LayerCache;
use super::statistics::{FloodedAreas, FloodedRegions, ReportCounts, flooded};
use super::{Busy, JSON, Permit, PermitPool, Permits, ResponseKey, envelope};
use crate::changes::{FullState, State, WithdrawnRevision};
use crate::formats::tables::{GEOJSON, TableSchema};
use crate::formats::{Container, EncodeContext, Format};
use crate::http::admission::Account;
use crate::http::content::Content;
use crate::http::error::Problem;
use crate::http::quotas::TooMany;
use crate::model::alerts::Issuer;
use crate::model::{BoundingBox, CancelFlag, Clock, Layer, Validity};
use crate::runtime::{off_thread, on_own_thread};
use crate::stores::{FloodQuery, LayerQuery, ReportQuery, Store, Versioned, Window};
use crate::telemetry::Metrics;

/// Renders responses from the data in the store, on threads that serve no requests.
#[derive(Clone, Debug)]
pub(crate) struct Renderer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) cache: Cache<ResponseKey, Problem>,
    pub(crate) withdrawn: WithdrawnRevision,
    pub(crate) permits: Permits,
    /// The maximum number of items of a list of reports or readings.
    pub(crate) max_features: u64,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) time_zone: Tz,
    pub(crate) base_url: Arc<str>,
    /// The address of photos, without a trailing slash.
    pub(crate) photos_url: Arc<str>,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) timeout: Duration,
    /// The maximum age of a stale response while the store is unavailable.
    pub(crate) stale: Duration,
    pub(crate) metrics: Metrics,
    pub(crate) tables: Arc<TableSchema>,
    pub(crate) layers: LayerCache,
}

/// Estimated bytes per flooded area while a full state is encoded.
const STATE_COST: u64 = 128;

impl Renderer {
    /// Returns a full state as JSON, encoded once for all clients. Charges the first client that needs it. Fails if that client
    /// has too few requests left, if too many large states are being encoded or sent, or after `timeout`.
    pub(crate) async fn full_state(
        &self,
        state: &Arc<State>,
        query: &FloodQuery,
        account: Option<&Account>,
    ) -> Result<Arc<FullState>, Problem> {
        let (cost, room) = (STATE_COST * state.flooded_count() as u64, self.permits.max_idle_states());
        let encode = async || {
            account
                .map_or(Ok(()), |account| account.charge(0, extra_requests(cost)))
                .map_err(quota_exceeded)?;
            let permit = self.permits.large(PermitPool::States, cost).await?;
            let (state, query) = (Arc::clone(state), query.clone());
            let task = off_thread(move |_| {
                let mut json = serde_json::to_vec(&*state.since(None, &query)).map_err(Problem::internal)?;
                json.shrink_to_fit();
                let memory = Box::new(permit.finish(json.len()));
                Ok(Arc::new(FullState { cursor: state.cursor(), json, permit: memory }))
            });
            task.await.map_err(|_| Problem::from(RenderError::Panicked))?
        };
        timeout(self.timeout, state.full_state(query, cost, room, encode))
            .await
            .map_err(Problem::slow_store)?
    }

    /// Renders the response for a key. Charges the account if the response costs more than one request.
    pub(super) async fn render(
        self: Arc<Self>,
        key: ResponseKey,
        account: Option<Account>,
    ) -> Result<Versioned<RenderedResponse>, RenderFailure<Problem>> {
        let account = account.as_ref().filter(|_| key.is_charged());
        if let ResponseKey::Items(query) = &key {
            // Reads the layer before taking a permit: one request reads it for all, and the others wait without a permit.
            self.prepare_layer(query).await?;
        }
        // Counting, and reading from memory, need only a small permit.
        let small = self.permits.small(pool(&key)).await.map_err(Problem::from)?;
        let mut started = Instant::now();
        let rendered = if let ResponseKey::Within(
            part,
            query @ (LayerQuery::Floods(_) | LayerQuery::Areas(_) | LayerQuery::Infrastructure(..)),
            format,
        ) = &key
        {
            let (layer, cost) = self.features_within(*part, query).await?;
            let permit = self.acquire_permit(&key, account, 0, cost, small).await?;
            let (supplement, format) = (self.coverage(&key).await?, Arc::clone(format));
            let encode_part = async move |renderer: &Self, job: RenderJob<'_>| {
                renderer.encode(layer, &*format, supplement, job).await
            };
            self.render_on_own_thread(&key, permit, encode_part).await?
        } else if let ResponseKey::Items(query) = &key {
            let items = self.items(query, account).await?;
            let permit = self.acquire_permit(&key, account, 0, cost::items(&items.value), small).await?;
            let query = query.clone();
            let write_items = async move |renderer: &Self, job: RenderJob<'_>| {
                job.write(items, |items, stop| {
                    let bytes = query.write(items, &renderer.tables, &renderer.base_url, stop);
                    Ok((GEOJSON.into(), bytes.map_err(Problem::internal)?))
                })
            };
            self.render_on_own_thread(&key, permit, write_items).await?
        } else {
            let upfront = cost::estimate_upfront(&key, &*self.store).await?;
            charge(account, 0, upfront)?;
            let last = self.cache.last_known(&key).map(|last| last.rendered.content.size());
            let (shortened, cost) = if let Some((query, length)) = key.recent_reports() {
                let (longest, count) = self.longest_window(query, length).await?;
                ((longest != length).then(|| key.with_length(longest)), cost::report_list(count))
            } else {
                let now = self.clock.now();
                (None, estimate(&key, &*self.store, now, self.max_features, last).await?)
            };
            // The key only selects the pool here; the rendered key may have a shorter window.
            let permit = self.acquire_permit(&key, account, upfront, cost, small).await?;
            started = Instant::now();
            let is_truncated = shortened.is_some();
            let supplement =
                if is_truncated { Some(Supplement::Truncated) } else { self.coverage(&key).await? };
            let effective = shortened.unwrap_or_else(|| key.clone());
            let run_effective = async move |renderer: &Self, job: RenderJob<'_>| {
                renderer.run(&effective, supplement, job).await
            };
            let rendered = self.render_on_own_thread(&key, permit, run_effective).await?;
            rendered.map(|rendered| RenderedResponse { is_truncated, ..rendered })
        };
        let (resource, format) = (key.name(), key.format_name());
        self.metrics.rendered(resource, format, started.elapsed(), rendered.value.content.size());
        Ok(rendered)
    }

    /// Renders on a separate thread, which holds the permit until it is done, even if no request waits any more.
    async fn render_on_own_thread(
        self: &Arc<Self>,
        key: &ResponseKey,
        permit: Permit,
        render: impl AsyncFnOnce(&Self, RenderJob<'_>) -> Result<Versioned<RenderedResponse>, Problem>
        + Send
        + 'static,
    ) -> Result<Versioned<RenderedResponse>, Problem> {
        let (renderer, holds_memory) = (Arc::clone(self), key.is_unbounded());
        let task = on_own_thread(async move |stop| {
            render(&renderer, RenderJob { permit, holds_memory, stop }).await
        });
        task.await.unwrap_or_else(|| Err(RenderError::Panicked.into()))
    }

    /// Returns the features within a box, and the cost of rendering them. The features are in memory.
    async fn features_within(
        &self,
        part: BoundingBox,
        query: &LayerQuery,
    ) -> Result<(Versioned<Layer>, u64), Problem> {
        let layer = query.run(&*self.store, self.clock.now()).await?;
        let task = off_thread(move |_| {
            let within = layer.map(|layer| layer.within(&part));
            let cost = features(&within.value);
            (within, cost)
        });
        task.await.map_err(Problem::internal)
    }

    /// Charges the account for `cost`, of which `before` was charged earlier. Returns `small` if it suffices; otherwise drops it
    /// and waits for a permit for a large rendering.
    async fn acquire_permit(
        &self,
        key: &ResponseKey,
        account: Option<&Account>,
        before: u64,
        cost: u64,
        small: Permit,
    ) -> Result<Permit, RenderFailure<Problem>> {
        charge(account, before, cost)?;
        if cost < Permits::LARGE {
            return Ok(small);
        }
        drop(small);
        Ok(self.permits.large(pool(key), cost).await.map_err(Problem::from)?)
    }

    /// Returns the longest window that ends now and has at most `max_features` reports, and their number. The window is `length`,
    /// or the most whole seconds possible. Counts once, or about 20 times if `length` is too long (binary search).
    async fn longest_window(
        &self,
        query: &ReportQuery,
        length: Duration,
    ) -> Result<(Duration, u64), Problem> {
        let limit = self.max_features;
        let count = async |length: Duration| {
            let query = ReportQuery { window: Window::Last(length), ..query.clone() };
            Ok::<_, Problem>(self.store.count_reports(&query, limit.saturating_add(1)).await?)
        };
        let total = count(length).await?;
        if total <= limit {
            return Ok((length, total));
        }
        let (mut short, mut long) = (0, length.as_secs());
        while long - short > 1 {
            let middle = short.midpoint(long);
            let fits = count(Duration::from_secs(middle)).await? <= limit;
            if fits { short = middle } else { long = middle }
        }
        Ok((Duration::from_secs(short), limit))
    }

    /// Returns the coverage if the key is about the floods of a city in which the service has no areas.
    async fn coverage(&self, key: &ResponseKey) -> Result<Option<Supplement>, Problem> {
        let Some(city) = key.flood_city() else { return Ok(None) };
        let coverage = Coverage::for_uncovered(city, self.store.places().await?.value.areas());
        Ok(coverage.map(Supplement::NotCovered))
    }

    async fn run(
        &self,
        key: &ResponseKey,
        supplement: Option<Supplement>,
        job: RenderJob<'_>,
    ) -> Result<Versioned<RenderedResponse>, Problem> {
        let store = &*self.store;
        match key {
            ResponseKey::Layer(query, format) => {
                let layer = query.run(store, self.clock.now()).await?;
                self.encode(layer, &**format, supplement, job).await
            }
            ResponseKey::Within(part, query, format) => {
                let layer = query.run(store, self.clock.now()).await?;
                self.encode(layer.map(|layer| layer.within(part)), &**format, supplement, job).await
            }
            ResponseKey::FloodStates(query) => job.write(store.flood_states(query).await?, |states, _| {
                let mut body = envelope::result(states)?;
                supplement.map_or(Ok(()), |supplement| supplement.add_to(&mut body))?;
                Ok((JSON.into(), body))
            }),
            ResponseKey::FloodArchive(query) => job.result(store.flood_archive(query).await?),
            ResponseKey::FloodSeries(query) => job.result(store.flood_series(query).await?),
            ResponseKey::ReportSeries(query) => job.result(store.report_series(query).await?),
            ResponseKey::FloodedRegions(areas) => {
                job.statistic(flooded(store, areas).await?.map(|flooded| FloodedRegions::new(&flooded)))
            }
            ResponseKey::FloodedAreas(areas) => {
                job.statistic(flooded(store, areas).await?.map(|flooded| FloodedAreas::new(&flooded)))
            }
            // `render` handles items, because their cost is known only after reading them.
            ResponseKey::Items(_) => Err(Problem::internal("items are rendered elsewhere")),
            ResponseKey::ReportSummary(query) => {
                job.statistic(store.report_summary(query).await?.map(ReportCounts::from))
            }
        }
    }

    async fn encode(
        &self,
        layer: Versioned<Layer>,
        format: &dyn Format,
        supplement: Option<Supplement>,
        mut job: RenderJob<'_>,
    ) -> Result<Versioned<RenderedResponse>, Problem> {
        let layer = layer.map(|layer| layer.with_photos_at(&self.photos_url).issued_by(&self.issuer));
        job.permit.reserve(cost::layer_text(&layer.value))?;
        let (mut now, mut validity) = (self.clock.now(), layer.validity);
        if let Some(step) = format.time_step() {
            validity = validity.and(Validity::step(now, step));
            now = now.floor(step);
        }
        let mut context = EncodeContext::new(now, self.time_zone, Arc::clone(&self.base_url));
        if let Some(Supplement::NotCovered(coverage)) = &supplement {
            context.not_covered = Some(coverage.to_string().into());
        }
        if layer.value.is_empty() {
            context.bounds = self.store.places().await?.value.bounds();
        }
        let capacity = job.permit.body_capacity();
        let rendered = job.write(layer, |layer, stop| {
            context.stop = stop.clone();
            let write_body = |body: &mut Vec<u8>| format.encode(layer, &context, body);
            // Reserves the capacity at once: a growing body is copied, and needs up to three times its memory. Unused capacity
            // costs nothing, because its memory pages are never touched.
            let mut body = Vec::with_capacity(capacity);
            if format.container() == Container::JSON {
                envelope::wrap(&mut body, write_body)?;
                supplement.map_or(Ok(()), |supplement| supplement.add_to(&mut body))?;
            } else {
                write_body(&mut body)?;
            }
            Ok((format.media_type().to_owned().into(), body))
        });
        Ok(rendered?.within(validity))
    }
}

fn pool(key: &ResponseKey) -> PermitPool {
    if key.is_unbounded() { PermitPool::Periods } else { PermitPool::Current }
}

impl From<RenderError> for Problem {
    fn from(unfinished: RenderError) -> Self {
        match unfinished {
            RenderError::TimedOut => Self::slow_store(unfinished),
            RenderError::Panicked => Self::internal(unfinished),
        }
    }
}

impl From<Busy> for Problem {
    fn from(busy: Busy) -> Self {
        // The client retries after about the time that the waiting renderings take.
        Self::busy(Duration::from_secs(2), busy.into())
    }
}

pub(super) fn charge(
    account: Option<&Account>,
    before: u64,
    cost: u64,
) -> Result<(), RenderFailure<Problem>> {
    let charged =
        account.map_or(Ok(()), |account| account.charge(extra_requests(before), extra_requests(cost)));
    charged.map_err(quota_exceeded).map_err(RenderFailure::ForInitiator)
}

fn quota_exceeded(too_many: TooMany) -> Problem {
    Problem::too_many(too_many.retry_after)
}

struct RenderJob<'s> {
    permit: Permit,
    /// Whether the response holds its memory until it is sent.
    holds_memory: bool,
    stop: &'s CancelFlag,
}

impl RenderJob<'_> {
    fn result<T: Serialize>(self, found: Versioned<T>) -> Result<Versioned<RenderedResponse>, Problem> {
        self.write(found, |value, _| Ok((JSON.into(), envelope::result(value)?)))
    }

    /// Also writes the members of the value next to `result`, because existing maps read statistics there.
    fn statistic<T: Serialize>(self, found: Versioned<T>) -> Result<Versioned<RenderedResponse>, Problem> {
        self.write(found, |value, _| Ok((JSON.into(), envelope::result_and_members(value)?)))
    }

    /// Renders the data. If `holds_memory`, the memory of the response stays reserved until the response is sent.
    fn write<T>(
        mut self,
        found: Versioned<T>,
        write: impl FnOnce(&T, &CancelFlag) -> Result<(Cow<'static, str>, Vec<u8>), Problem>,
    ) -> Result<Versioned<RenderedResponse>, Problem> {
        let (media_type, bytes) = write(&found.value, self.stop)?;
        let rendered = RenderedResponse::new(media_type, Content::with_tag(bytes));
        if self.holds_memory {
            self.permit.reserve(rendered.content.size() as u64)?;
        }
        let memory = self.permit.finish(rendered.content.size());
        Ok(found.map(|_| if self.holds_memory { rendered.with_memory(memory) } else { rendered }))
    }
}
