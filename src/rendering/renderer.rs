use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono_tz::Tz;
use rocket::tokio::time::timeout;
use serde::Serialize;

use super::cache::{Cache, Failed, Rendered, Unfinished};
use super::envelope::{Coverage, Supplement};
use super::layers::Layers;
use super::statistics::{FloodedAreas, FloodedRegions, Reported, flooded};
use super::weight::{self, cost, features, weigh};
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

/// Renders responses from the data in the store, off the threads that serve requests.
#[derive(Clone, Debug)]
pub(crate) struct Renderer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) cache: Cache<ResponseKey, Problem>,
    pub(crate) withdrawn: WithdrawnRevision,
    /// Limits how many renderings run at once, and their memory.
    pub(crate) permits: Permits,
    /// How many features a list of reports or readings may have.
    pub(crate) features: u64,
    /// The clock that gives the time of a request.
    pub(crate) clock: Arc<dyn Clock>,
    /// The time zone of times that are written for people.
    pub(crate) time_zone: Tz,
    /// The public base address.
    pub(crate) base_url: Arc<str>,
    /// The address of this service's photos, without a slash at its end.
    pub(crate) photos_url: Arc<str>,
    /// Who issues alerts.
    pub(crate) issuer: Arc<Issuer>,
    /// How long a request waits for its response.
    pub(crate) timeout: Duration,
    /// How long after a response was known to be current it may be returned while the store is away.
    pub(crate) stale: Duration,
    pub(crate) metrics: Metrics,
    /// The columns of collections.
    pub(crate) tables: Arc<TableSchema>,
    /// The features of collections as they were last read.
    pub(crate) layers: Layers,
}

/// The bytes that an area with a state takes while a full state is encoded.
const STATE: u64 = 128;

impl Renderer {
    /// Returns a full state as JSON, encoded once for all clients. The account of the client for which it is encoded is charged.
    ///
    /// # Errors
    ///
    /// If the client has too few requests left, if too many large states are encoded or sent, or after `timeout`.
    pub(crate) async fn full_state(
        &self,
        state: &Arc<State>,
        query: &FloodQuery,
        account: Option<&Account>,
    ) -> Result<Arc<FullState>, Problem> {
        let (weight, room) = (STATE * state.flooded_count() as u64, self.permits.room_for_states());
        let encode = async || {
            account.map_or(Ok(()), |account| account.charge(0, cost(weight))).map_err(too_many)?;
            let permit = self.permits.large(PermitPool::States, weight).await?;
            let (state, query) = (Arc::clone(state), query.clone());
            let encoding = off_thread(move |_| {
                let mut json = serde_json::to_vec(&*state.since(None, &query)).map_err(Problem::internal)?;
                json.shrink_to_fit();
                let held = Box::new(permit.finish(json.len()));
                Ok(Arc::new(FullState { cursor: state.cursor(), json, permit: held }))
            });
            encoding.await.map_err(|_| Problem::from(Unfinished::Panicked))?
        };
        timeout(self.timeout, state.full_state(query, weight, room, encode))
            .await
            .map_err(Problem::slow_store)?
    }

    /// Renders the response to a question. If the question costs more than one request, charges the account.
    pub(super) async fn render(
        self: Arc<Self>,
        question: ResponseKey,
        account: Option<Account>,
    ) -> Result<Versioned<Rendered>, Failed<Problem>> {
        let account = account.as_ref().filter(|_| question.is_charged());
        if let ResponseKey::Items(query) = &question {
            // One request reads the layer for all, and the others wait for it without a permit.
            self.prepare_layer(query).await?;
        }
        // Counting, and reading what is in memory, is small work.
        let small = self.permits.small(lane(&question)).await.map_err(Problem::from)?;
        let mut begun = Instant::now();
        let rendered = if let ResponseKey::Within(
            part,
            query @ (LayerQuery::Floods(_) | LayerQuery::Areas(_) | LayerQuery::Infrastructure(..)),
            format,
        ) = &question
        {
            let (layer, weight) = self.part(*part, query).await?;
            let permit = self.admit(&question, account, 0, weight, small).await?;
            let (supplement, format) = (self.coverage(&question).await?, Arc::clone(format));
            let encode = async move |renderer: &Self, work: Work<'_>| {
                renderer.encode(layer, &*format, supplement, work).await
            };
            self.render_on_own_thread(&question, permit, encode).await?
        } else if let ResponseKey::Items(query) = &question {
            let items = self.items(query, account).await?;
            let permit = self.admit(&question, account, 0, weight::items(&items.value), small).await?;
            let query = query.clone();
            let write = async move |renderer: &Self, work: Work<'_>| {
                work.write(items, |items, stop| {
                    let bytes = query.write(items, &renderer.tables, &renderer.base_url, stop);
                    Ok((GEOJSON.into(), bytes.map_err(Problem::internal)?))
                })
            };
            self.render_on_own_thread(&question, permit, write).await?
        } else {
            let known = weight::before_counting(&question, &*self.store).await?;
            charge(account, 0, known)?;
            let last = self.cache.last(&question).map(|last| last.rendered.content.size());
            let (newest, weight) = if let Some((query, length)) = question.last_reports() {
                let (fitting, count) = self.newest(query, length).await?;
                ((fitting != length).then(|| question.with_last(fitting)), weight::report_list(count))
            } else {
                let now = self.clock.now();
                (None, weigh(&question, &*self.store, now, self.features, last).await?)
            };
            // A shortened time is not one that the client has chosen.
            let permit = self.admit(&question, account, known, weight, small).await?;
            begun = Instant::now();
            let is_truncated = newest.is_some();
            let supplement =
                if is_truncated { Some(Supplement::Truncated) } else { self.coverage(&question).await? };
            let asked = newest.unwrap_or_else(|| question.clone());
            let render =
                async move |renderer: &Self, work: Work<'_>| renderer.work(&asked, supplement, work).await;
            let rendered = self.render_on_own_thread(&question, permit, render).await?;
            rendered.map(|rendered| Rendered { is_truncated, ..rendered })
        };
        let (resource, format) = (question.name(), question.format_name());
        self.metrics.rendered(resource, format, begun.elapsed(), rendered.value.content.size());
        Ok(rendered)
    }

    /// Renders on a thread of its own, which holds the permit until that is done, even if no request waits any more.
    async fn render_on_own_thread(
        self: &Arc<Self>,
        question: &ResponseKey,
        permit: Permit,
        render: impl AsyncFnOnce(&Self, Work<'_>) -> Result<Versioned<Rendered>, Problem> + Send + 'static,
    ) -> Result<Versioned<Rendered>, Problem> {
        let (renderer, holds_memory) = (Arc::clone(self), question.is_period());
        let rendering =
            on_own_thread(async move |stop| render(&renderer, Work { permit, holds_memory, stop }).await);
        // A panic is logged where it happens.
        rendering.await.unwrap_or_else(|| Err(Unfinished::Panicked.into()))
    }

    /// Returns the areas or the infrastructure that touch a part of the map, which the store has in memory, and the weight of rendering them.
    async fn part(&self, part: BoundingBox, query: &LayerQuery) -> Result<(Versioned<Layer>, u64), Problem> {
        let layer = query.run(&*self.store, self.clock.now()).await?;
        let narrowing = off_thread(move |_| {
            let within = layer.map(|layer| layer.within(&part));
            let weight = features(&within.value);
            (within, weight)
        });
        narrowing.await.map_err(Problem::internal)
    }

    /// Charges the account for a rendering of this weight, of which a part was charged `before`, and returns a permit for it: the small
    /// one, if it is enough.
    async fn admit(
        &self,
        question: &ResponseKey,
        account: Option<&Account>,
        before: u64,
        weight: u64,
        small: Permit,
    ) -> Result<Permit, Failed<Problem>> {
        charge(account, before, weight)?;
        if weight < Permits::LARGE {
            return Ok(small);
        }
        drop(small);
        Ok(self.permits.large(lane(question), weight).await.map_err(Problem::from)?)
    }

    /// Returns the length of the time that ends now and has no more reports than a list may have, and how many it has: the whole
    /// `length`, or else as many whole seconds as possible. Counts once, and some 20 times if there are too many.
    async fn newest(&self, query: &ReportQuery, length: Duration) -> Result<(Duration, u64), Problem> {
        let most = self.features;
        let count = async |length: Duration| {
            let query = ReportQuery { window: Window::Last(length), ..query.clone() };
            Ok::<_, Problem>(self.store.count_reports(&query, most.saturating_add(1)).await?)
        };
        let all = count(length).await?;
        if all <= most {
            return Ok((length, all));
        }
        let (mut short, mut long) = (0, length.as_secs());
        while long - short > 1 {
            let middle = short.midpoint(long);
            let fits = count(Duration::from_secs(middle)).await? <= most;
            if fits { short = middle } else { long = middle }
        }
        Ok((Duration::from_secs(short), most))
    }

    /// Returns what is covered, if the question is about the floods of a city that no area has.
    async fn coverage(&self, question: &ResponseKey) -> Result<Option<Supplement>, Problem> {
        let Some(city) = question.city_of_floods() else { return Ok(None) };
        let coverage = Coverage::without(city, self.store.places().await?.value.areas());
        Ok(coverage.map(Supplement::NotCovered))
    }

    async fn work(
        &self,
        question: &ResponseKey,
        supplement: Option<Supplement>,
        work: Work<'_>,
    ) -> Result<Versioned<Rendered>, Problem> {
        let store = &*self.store;
        match question {
            ResponseKey::Layer(query, format) => {
                let layer = query.run(store, self.clock.now()).await?;
                self.encode(layer, &**format, supplement, work).await
            }
            ResponseKey::Within(part, query, format) => {
                let layer = query.run(store, self.clock.now()).await?;
                self.encode(layer.map(|layer| layer.within(part)), &**format, supplement, work).await
            }
            ResponseKey::FloodStates(query) => work.write(store.flood_states(query).await?, |states, _| {
                let mut body = envelope::result(states)?;
                supplement.map_or(Ok(()), |supplement| supplement.add_to(&mut body))?;
                Ok((JSON.into(), body))
            }),
            ResponseKey::FloodArchive(query) => work.result(store.flood_archive(query).await?),
            ResponseKey::FloodSeries(query) => work.result(store.flood_series(query).await?),
            ResponseKey::ReportSeries(query) => work.result(store.report_series(query).await?),
            ResponseKey::FloodedRegions(areas) => {
                work.statistic(flooded(store, areas).await?.map(|flooded| FloodedRegions::new(&flooded)))
            }
            ResponseKey::FloodedAreas(areas) => {
                work.statistic(flooded(store, areas).await?.map(|flooded| FloodedAreas::new(&flooded)))
            }
            // Their weight is known only once they are read.
            ResponseKey::Items(_) => Err(Problem::internal("items are rendered elsewhere")),
            ResponseKey::ReportSummary(query) => {
                work.statistic(store.report_summary(query).await?.map(Reported::from))
            }
        }
    }

    /// Encodes the layer in the format, within the JSON envelope if the format writes JSON.
    async fn encode(
        &self,
        layer: Versioned<Layer>,
        format: &dyn Format,
        supplement: Option<Supplement>,
        mut work: Work<'_>,
    ) -> Result<Versioned<Rendered>, Problem> {
        let layer = layer.map(|layer| layer.with_photos_at(&self.photos_url).issued_by(&self.issuer));
        work.permit.grow(weight::read(&layer.value))?;
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
        let room = work.permit.room();
        let rendered = work.write(layer, |layer, stop| {
            context.stop = stop.clone();
            let encode = |body: &mut Vec<u8>| format.encode(layer, &context, body);
            // A body that grows is copied, and takes up to three times its memory then. What is never written takes none.
            let mut body = Vec::with_capacity(room);
            if format.container() == Container::JSON {
                envelope::envelop(&mut body, encode)?;
                supplement.map_or(Ok(()), |supplement| supplement.add_to(&mut body))?;
            } else {
                encode(&mut body)?;
            }
            Ok((format.media_type().to_owned().into(), body))
        });
        Ok(rendered?.within(validity))
    }
}

/// Returns the lane in which a question is rendered.
fn lane(question: &ResponseKey) -> PermitPool {
    if question.is_period() { PermitPool::Periods } else { PermitPool::Current }
}

impl From<Unfinished> for Problem {
    fn from(unfinished: Unfinished) -> Self {
        match unfinished {
            Unfinished::Late => Self::slow_store(unfinished),
            Unfinished::Panicked => Self::internal(unfinished),
        }
    }
}

impl From<Busy> for Problem {
    fn from(busy: Busy) -> Self {
        // Renderings that wait take about this long.
        Self::busy(Duration::from_secs(2), busy.into())
    }
}

/// Charges the account for a rendering of this weight, of which a part was charged `before`.
pub(super) fn charge(account: Option<&Account>, before: u64, weight: u64) -> Result<(), Failed<Problem>> {
    let charged = account.map_or(Ok(()), |account| account.charge(cost(before), cost(weight)));
    charged.map_err(too_many).map_err(Failed::ForStarter)
}

fn too_many(too_many: TooMany) -> Problem {
    Problem::too_many(too_many.retry_after)
}

/// A rendering that has its permit.
struct Work<'s> {
    permit: Permit,
    /// Whether its response holds the memory that it takes.
    holds_memory: bool,
    stop: &'s CancelFlag,
}

impl Work<'_> {
    /// Renders `{"statusCode":200,"result":…}` around the value.
    fn result<T: Serialize>(self, found: Versioned<T>) -> Result<Versioned<Rendered>, Problem> {
        self.write(found, |value, _| Ok((JSON.into(), envelope::result(value)?)))
    }

    /// Renders `{"statusCode":200,"result":…}` around the value, with its members beside `result`, where existing maps read
    /// statistics.
    fn statistic<T: Serialize>(self, found: Versioned<T>) -> Result<Versioned<Rendered>, Problem> {
        self.write(found, |value, _| Ok((JSON.into(), envelope::result_and_members(value)?)))
    }

    /// Renders the bytes that `write` returns for the value, and their tag.
    fn write<T>(
        mut self,
        found: Versioned<T>,
        write: impl FnOnce(&T, &CancelFlag) -> Result<(Cow<'static, str>, Vec<u8>), Problem>,
    ) -> Result<Versioned<Rendered>, Problem> {
        let (media_type, bytes) = write(&found.value, self.stop)?;
        let rendered = Rendered::new(media_type, Content::with_tag(bytes));
        if self.holds_memory {
            self.permit.grow(rendered.content.size() as u64)?;
        }
        let memory = self.permit.finish(rendered.content.size());
        Ok(found.map(|_| if self.holds_memory { rendered.holding(memory) } else { rendered }))
    }
}
