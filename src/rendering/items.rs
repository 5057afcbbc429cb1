use std::io;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Renderer;
use super::cache::RenderFailure;
use super::cost;
use super::renderer::charge;
use crate::formats::tables::{
    Collection, Items, Link, PageCursor, Selected, Selection, TableSchema, TimeFilter, find,
};
use crate::http::admission::Account;
use crate::http::error::{Problem, Source};
use crate::model::{
    AreaSelector, CancelFlag, GaugeLayer, Layer, Period, Report, ReportKey, Timestamp, Validity,
};
use crate::runtime::off_thread;
use crate::stores::{
    AlertQuery, AreaQuery, FloodQuery, GaugeQuery, HistoryQuery, LayerQuery, ReportQuery, Resource,
    StoreError, Versioned, Window,
};

const MAX_READING_AGE: Duration = Duration::from_hours(24);

/// The number of reports that are read at a time; `MAX_SCANNED` is the maximum for one page.
const CHUNK: usize = 1_000;
const MAX_SCANNED: usize = 50_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ItemsQuery {
    pub(crate) collection: Collection,
    pub(crate) selector: ItemSelector,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ItemSelector {
    One(String),
    /// A page of the selected features, and the parameters of its address without the cursor.
    Page(Selection, String),
}

impl ItemsQuery {
    pub(super) fn resource(&self) -> Resource {
        resource(self.collection)
    }

    /// Writes features as GeoJSON, with links that begin with the address `base`.
    pub(super) fn write(
        &self,
        items: &Items,
        tables: &TableSchema,
        base: &str,
        stop: &CancelFlag,
    ) -> io::Result<Vec<u8>> {
        let collection = format!("{base}/ogc/collections/{}", self.collection);
        let link = |href: &str, rel, media_type, title: &str| Link {
            href: href.to_owned(),
            rel,
            media_type,
            title: title.to_owned(),
        };
        let json = "application/json";
        let address = match &self.selector {
            ItemSelector::One(id) => format!("{collection}/items/{}", path_segment(id)),
            ItemSelector::Page(selection, parameters) => {
                let cursor = selection.after.as_ref().map(ToString::to_string);
                page_address(&collection, parameters, cursor, selection.offset)
            }
        };
        let mut links = vec![
            link(&address, "self", crate::formats::tables::GEOJSON, "This document"),
            link(&collection, "collection", json, "The collection"),
        ];
        match &self.selector {
            ItemSelector::One(_) => items.write_first(tables, &links),
            ItemSelector::Page(_, parameters) => {
                if let Some(next) = items.next.clone() {
                    let next = page_address(&collection, parameters, Some(next), items.left_out);
                    links.push(link(&next, "next", crate::formats::tables::GEOJSON, "The next page"));
                }
                items.write_page(tables, &links, stop)
            }
        }
    }
}

fn page_address(collection: &str, parameters: &str, cursor: Option<String>, offset: usize) -> String {
    let offset = Some(offset).filter(|offset| *offset > 0).map(|offset| offset.to_string());
    let further = [("offset", offset), ("cursor", cursor)];
    let mut query = url::form_urlencoded::Serializer::new(parameters.to_owned());
    for (name, value) in further {
        query.extend_pairs(value.map(|value| (name, value)));
    }
    let query = query.finish();
    let sign = if query.is_empty() { "" } else { "?" };
    format!("{collection}/items{sign}{query}")
}

/// Returns whether the layer of a collection is cached by revision. Layers at a time that clients choose are not cached, nor are
/// reports, which are read in chunks.
fn has_cached_layer(collection: Collection, time: Option<TimeFilter>) -> bool {
    match collection {
        Collection::Reports | Collection::Gauges => false,
        Collection::Floods | Collection::Flooded => time.is_none(),
        Collection::Areas
        | Collection::Infrastructure
        | Collection::Floodgates
        | Collection::Pumps
        | Collection::Waterways
        | Collection::Alerts => true,
    }
}

fn resource(collection: Collection) -> Resource {
    match collection {
        Collection::Floods | Collection::Flooded | Collection::Alerts => Resource::Floods,
        Collection::Areas
        | Collection::Infrastructure
        | Collection::Floodgates
        | Collection::Pumps
        | Collection::Waterways => Resource::Places,
        Collection::Reports => Resource::Reports,
        Collection::Gauges => Resource::Gauges,
    }
}

/// All characters except those that are unreserved in RFC 3986 §2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn path_segment(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

impl Renderer {
    /// Returns the selected items. For floods at a past moment, charges the cost before reading the history.
    pub(super) async fn items(
        &self,
        query: &ItemsQuery,
        account: Option<&Account>,
    ) -> Result<Versioned<Items>, RenderFailure<Problem>> {
        let ItemsQuery { collection, selector } = query;
        match (collection, selector) {
            (Collection::Reports, ItemSelector::One(id)) => Ok(self.report(id).await?),
            (Collection::Reports, ItemSelector::Page(selection, _)) => Ok(self.reports(selection).await?),
            (collection, ItemSelector::One(id)) => {
                let layer = self.layer(*collection, None).await?;
                let index = find(&layer.value, id).ok_or_else(|| not_found(*collection, id))?;
                Ok(layer.map(|layer| Items::one(*collection, layer, index)))
            }
            (collection, ItemSelector::Page(selection, _)) => {
                if let (Collection::Floods, Some(TimeFilter::At(moment))) = (collection, selection.time) {
                    let period = Period::new(moment, moment, Duration::ZERO).map_err(Problem::internal)?;
                    let query = HistoryQuery { selector: AreaSelector::default(), period };
                    let upfront = cost::empty_history_cost(&query, &*self.store).await?;
                    charge(account, 0, upfront)?;
                    charge(account, upfront, cost::history(&query, &*self.store).await?)?;
                }
                self.page(*collection, selection.clone(), account).await
            }
        }
    }

    /// Reads a page. Charges the cost of selecting the features before selecting them.
    async fn page(
        &self,
        collection: Collection,
        selection: Selection,
        account: Option<&Account>,
    ) -> Result<Versioned<Items>, RenderFailure<Problem>> {
        let places = self.store.revision(Resource::Places).await.map_err(Problem::from)?;
        if selection.after.as_ref().is_some_and(|after| after.places.is_some_and(|then| then != places)) {
            let rule = "is from before the last import of data: begin again with the first page";
            return Err(Problem::invalid(Source::Query, "cursor", rule).into());
        }
        let layer = self.layer(collection, selection.time).await?;
        if !selection.is_everything() || selection.time.is_some() && collection == Collection::Alerts {
            charge(account, 0, cost::scan(layer.value.len()))?;
        }
        let tables = Arc::clone(&self.tables);
        let task = off_thread(move |_| {
            layer.map(|layer| {
                let Selected { features: selected, has_more, .. } =
                    selection.apply(&layer, &tables, selection.limit, selection.offset);
                let last = selected.last().filter(|_| has_more);
                let next = last.and_then(|last| PageCursor::feature(collection, places, &layer, *last));
                let is_whole = selection.is_everything()
                    && (selection.time.is_none() || collection != Collection::Alerts);
                let matched = is_whole.then(|| layer.len());
                Items { collection, layer, selected, matched, next, left_out: 0 }
            })
        });
        Ok(task.await.map_err(Problem::internal)?)
    }

    /// Reads the layer of a query into the cache, if the cache keeps such layers.
    pub(super) async fn prepare_layer(&self, query: &ItemsQuery) -> Result<(), Problem> {
        let time = match &query.selector {
            ItemSelector::One(_) => None,
            ItemSelector::Page(selection, _) => selection.time,
        };
        if has_cached_layer(query.collection, time) {
            self.layer(query.collection, time).await?;
        }
        Ok(())
    }

    /// Returns all features of a collection other than reports, at `time` or now. Caches the layer by revision if possible.
    async fn layer(
        &self,
        collection: Collection,
        time: Option<TimeFilter>,
    ) -> Result<Versioned<Layer>, Problem> {
        let read = self.read_layer(collection, time);
        if !has_cached_layer(collection, time) {
            return read.await;
        }
        let present = self.store.revision(resource(collection)).await?;
        self.layers.get(collection, present, self.clock.now(), read).await
    }

    /// Reads the layer at the requested time. Fails for floods at a future time.
    async fn read_layer(
        &self,
        collection: Collection,
        time: Option<TimeFilter>,
    ) -> Result<Versioned<Layer>, Problem> {
        let (now, store) = (self.clock.now(), &*self.store);
        let invalid = |rule: &str| Problem::invalid(Source::Query, "datetime", rule);
        let query = match (collection, time) {
            (Collection::Floods | Collection::Flooded, time) => match time {
                None => LayerQuery::Floods(FloodQuery::default()),
                Some(TimeFilter::At(moment)) if moment > now => {
                    return Err(invalid("must not be in the future"));
                }
                // For an interval, the state at its end counts; an end in the future, such as an open end, means now.
                Some(TimeFilter::Between(_, end)) if end >= now => LayerQuery::Floods(FloodQuery::default()),
                Some(TimeFilter::At(moment) | TimeFilter::Between(_, moment)) => LayerQuery::FloodsAt(moment),
            },
            (Collection::Gauges, time) => {
                let window = match time {
                    None => Window::Last(MAX_READING_AGE),
                    Some(TimeFilter::At(moment)) => within(moment.saturating_sub(MAX_READING_AGE), moment)?,
                    Some(TimeFilter::Between(from, until)) => within(from, until)?,
                };
                let query = GaugeQuery { selector: AreaSelector::default(), window, with_failed: false };
                let count = store.count_readings(&query, self.max_features.saturating_add(1)).await?;
                if count > self.max_features {
                    return Err(invalid(&format!(
                        "must be shorter: there are more than {} readings in it",
                        self.max_features
                    )));
                }
                return self.gauges_with_readings(&query).await;
            }
            (
                Collection::Infrastructure
                | Collection::Floodgates
                | Collection::Pumps
                | Collection::Waterways,
                _,
            ) => LayerQuery::Infrastructure(AreaSelector::default(), collection.infrastructure_kind()),
            (Collection::Alerts, _) => LayerQuery::Alerts(AlertQuery::InForce(FloodQuery::default()), false),
            (Collection::Areas | Collection::Reports, _) => LayerQuery::Areas(AreaQuery::default()),
        };
        let layer = query.run(store, now).await?;
        Ok(layer.map(|layer| match (collection, layer.issued_by(&self.issuer)) {
            (Collection::Flooded, Layer::Floods(floods)) => Layer::Floods(floods.flooded()),
            (collection, Layer::Infrastructure(all)) if collection.infrastructure_kind().is_some() => {
                Layer::Infrastructure(all.normalized())
            }
            (_, layer) => layer,
        }))
    }

    async fn gauges_with_readings(&self, query: &GaugeQuery) -> Result<Versioned<Layer>, Problem> {
        // Read before the readings, so that the readings are at least as new as this revision.
        let stored = self.store.all_gauges().await?;
        let read = self.store.gauges(query).await?;
        let validity = read.validity;
        let mut gauges = stored.value.0;
        for with_readings in read.value.0 {
            match gauges.binary_search_by(|existing| existing.gauge.id.cmp(&with_readings.gauge.id)) {
                Ok(index) => gauges[index] = with_readings,
                Err(index) => gauges.insert(index, with_readings),
            }
        }
        Ok(Versioned::new(stored.revision, Layer::Gauges(GaugeLayer(gauges))).within(validity))
    }

    /// Reads a page of reports, sorted by identifier, so that new reports come last.
    async fn reports(&self, selection: &Selection) -> Result<Versioned<Items>, Problem> {
        let (now, store) = (self.clock.now(), &*self.store);
        // Read before the reports, so that the reports are at least as new as this revision.
        let revision = store.revision(Resource::Reports).await?;
        let after = selection.after.as_ref().and_then(PageCursor::last_number);
        let after = after.and_then(|last| ReportKey::try_from(last).ok());
        let mut first = after.map_or(Some(ReportKey::FIRST), ReportKey::next);
        let (mut page, mut read, mut until) = (Vec::new(), 0, Timestamp::LAST);
        let mut left_out = selection.offset;
        let mut next = None;
        while let Some(from) = first {
            let chunk = store.reports_from(Some(from), CHUNK as u32).await?;
            read += chunk.len();
            let last = chunk.last().filter(|_| chunk.len() == CHUNK).map(|report| report.key);
            let next_at = chunk.iter().map(|report| report.content.created_at).filter(|at| *at > now).min();
            until = until.min(next_at.unwrap_or(until));
            let (tables, selection) = (Arc::clone(&self.tables), selection.clone());
            let remaining = selection.limit - page.len();
            let task = off_thread(move |_| {
                let listed: Vec<_> = chunk.into_iter().filter(|report| is_listed(report, now)).collect();
                let layer = Layer::Reports(listed.clone().into());
                let Selected { features, has_more, left_out } =
                    selection.apply(&layer, &tables, remaining, left_out);
                let reports: Vec<_> = features.into_iter().map(|index| Arc::clone(&listed[index])).collect();
                (reports, has_more, left_out)
            });
            let (reports, has_more, still_left_out) = task.await.map_err(Problem::internal)?;
            left_out = still_left_out;
            page.extend(reports);
            if has_more {
                next = page.last().map(|report: &Arc<Report>| report.key);
                break;
            }
            if last.is_some() && read >= MAX_SCANNED {
                next = last;
                break;
            }
            first = last.and_then(ReportKey::next);
        }
        let selected = (0..page.len()).collect();
        let next = next.map(|key| PageCursor::report(key.number()));
        let layer = Layer::Reports(page.into());
        let items = Items { collection: Collection::Reports, layer, selected, matched: None, next, left_out };
        Ok(Versioned::new(revision, items).within(Validity::Between { from: now, until }))
    }

    async fn report(&self, id: &str) -> Result<Versioned<Items>, Problem> {
        let missing = || not_found(Collection::Reports, id);
        let key: ReportKey = id.parse().map_err(|_| missing())?;
        let report = match self.store.report(key).await {
            Err(StoreError::NotFound { .. }) => return Err(missing()),
            report => report?,
        };
        if !is_listed(&report.value, self.clock.now()) {
            return Err(missing());
        }
        Ok(report.map(|report| Items::one(Collection::Reports, Layer::Reports(vec![report].into()), 0)))
    }
}

/// Returns whether the collection contains a report. Excludes reports from trainings, about preparedness or from the future.
fn is_listed(report: &Report, now: Timestamp) -> bool {
    let window = Window::Last(Duration::MAX);
    let listed = ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window };
    listed.matches(&report.content) && report.content.created_at <= now
}

fn within(from: Timestamp, until: Timestamp) -> Result<Window, Problem> {
    Ok(Window::Within(Period::new(from, until, Duration::MAX).map_err(Problem::internal)?))
}

fn not_found(collection: Collection, id: &str) -> Problem {
    Problem::not_found(format_args!("the feature {id:?} of the collection {collection}"))
}
