use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Shared;
use super::event::{Entry, object};
use crate::config::{EventKind, WebhookSettings};
use crate::model::{
    AreaId, AreaSelector, FloodFeature, FloodLayer, GaugeStatus, MapLayer as _, Reason, Timestamp, Validity,
};
use crate::stores::{AlertQuery, FloodQuery, Resource, Revision, StoreError};

/// How long a change older than `max_age` stays on the list, so that it can be counted as dropped.
const DROP_WINDOW: Duration = Duration::from_hours(1);

type CachedList = (Revision, Validity, Arc<[Entry]>);

/// Reads the list that a webhook compares with its checkpoint: the newest change of each area, active alerts, areas that need
/// attention, sources, or gauges. An event depends only on whether its entry is listed, not on the clocks of servers, so no event is
/// missed.
#[derive(Debug)]
pub(super) struct ListReader {
    shared: Shared,
    settings: WebhookSettings,
    cached: Option<CachedList>,
}

impl ListReader {
    pub(super) fn new(shared: Shared, settings: WebhookSettings) -> Self {
        Self { shared, settings, cached: None }
    }

    /// Returns the current entries that match the filter. Alerts and changes are cached until the revision changes or their
    /// validity ends.
    pub(super) async fn entries_at(
        &mut self,
        now: Timestamp,
        waiting: Option<Timestamp>,
    ) -> Result<Arc<[Entry]>, StoreError> {
        match self.settings.event {
            EventKind::Attention => self.attention().await,
            EventKind::Source => Ok(self.sources(waiting.unwrap_or(now))),
            EventKind::Gauge => self.gauges(waiting.unwrap_or(now)).await,
            _ => self.alerts_or_changes(now).await,
        }
    }

    async fn alerts_or_changes(&mut self, now: Timestamp) -> Result<Arc<[Entry]>, StoreError> {
        let revision = self.shared.store.revision(Resource::Floods).await?;
        if let Some((known, validity, entries)) = &self.cached
            && *known == revision
            && validity.covers(now)
        {
            return Ok(Arc::clone(entries));
        }
        let list = match self.settings.event {
            EventKind::State => self.changes(now).await?,
            _ => self.alerts(now).await?,
        };
        // Reject a stale list: after a failover the primary may lack changes, and areas would return to earlier states.
        if list.0 < revision {
            let source = "the list is behind the changes".into();
            return Err(StoreError::Unavailable { retry_after: Duration::from_secs(1), source });
        }
        let entries = Arc::clone(&list.2);
        self.cached = Some(list);
        Ok(entries)
    }

    /// Returns the areas whose state has changed recently, as entries that leave the list after `max_age` plus [`DROP_WINDOW`].
    async fn changes(&self, now: Timestamp) -> Result<CachedList, StoreError> {
        let floods = self.shared.store.floods(&FloodQuery::default()).await?;
        let layer: &FloodLayer = &floods.value;
        let filter = &self.settings.filter;
        let listed_for = self.settings.max_age + DROP_WINDOW;
        let is_selected = |flood: &FloodFeature<'_>| {
            let is_high = |minimum| flood.current.is_some_and(|current| current.state >= minimum);
            filter.minimum_state.is_none_or(|minimum| is_high(minimum.0))
                && filter.selects(|city| city.matches(flood.area))
        };
        let selected = layer.features().enumerate().filter(|(_, flood)| is_selected(flood));
        let entries = selected.filter_map(|(index, flood)| {
            let at = layer.selected()[index]
                .1
                .last_changed()
                .filter(|at| *at >= now.saturating_sub(listed_for))?;
            let mut values = object(&layer.feature(index).1);
            // Responses have no `last_updated` for a cleared area, but webhooks do.
            values.insert("last_updated".to_owned(), json!(at));
            Some(Entry::area(flood.area.id.number(), at.to_string(), at, values))
        });
        let entries: Arc<[_]> = entries.collect();
        let lapses = entries.iter().map(|entry| entry.at.saturating_add(listed_for)).min();
        let until = lapses.map_or(Timestamp::LAST, |lapses| lapses.saturating_add(Duration::from_millis(1)));
        Ok((floods.revision, Validity::Between { from: now, until }, entries))
    }

    /// Returns the alerts in force as entries, whose marks change with each renewal.
    async fn alerts(&self, now: Timestamp) -> Result<CachedList, StoreError> {
        let filter = &self.settings.filter;
        let minimum_state = filter.minimum_state.map(|minimum| minimum.0);
        let query = FloodQuery { selector: AreaSelector::default(), minimum_state };
        let in_force = AlertQuery::InForce(query).run(&*self.shared.store, now).await?;
        let layer = in_force.value.issued_by(Arc::clone(&self.shared.issuer));
        let alerts = layer.features().enumerate();
        let alerts = alerts.filter(|(_, alert)| filter.selects(|city| city.matches(alert.area)));
        let entries = alerts.map(|(index, alert)| {
            let key = alert.message.key;
            let mark = format!("{} {}", key.run, key.renewal);
            let at = key.due().unwrap_or(alert.message.sent);
            Entry::area(alert.area.id.number(), mark, at, object(&layer.feature(index).1))
        });
        Ok((in_force.revision, in_force.validity, entries.collect()))
    }

    async fn attention(&self) -> Result<Arc<[Entry]>, StoreError> {
        let list = self.shared.attention.recent().await?;
        let areas = Arc::clone(self.shared.store.places().await?.value.areas());
        let is_in =
            |city: &AreaSelector, area: AreaId| areas.find(area).is_some_and(|area| city.matches(area));
        let selected = list
            .iter()
            .filter(|listed| self.settings.filter.selects(|city| is_in(city, listed.attention.area_id)));
        let entries = selected.map(|listed| {
            let at = listed.attention.reasons.first().map_or(Timestamp::EPOCH, Reason::at);
            Entry::area(listed.attention.area_id.number(), String::new(), at, object(listed))
        });
        Ok(entries.collect())
    }

    /// A silent gauge that is muted is sent as muted, and anew if it is silent when the muting ends.
    async fn gauges(&self, since: Timestamp) -> Result<Arc<[Entry]>, StoreError> {
        let gauges = self.shared.gauges.get().await?;
        let read = gauges.iter().filter(|gauge| gauge.status != GaugeStatus::Never);
        Ok(read.map(|gauge| Entry::gauge(gauge, since)).collect())
    }

    fn sources(&self, since: Timestamp) -> Arc<[Entry]> {
        let names = &self.settings.filter.source;
        let sources = self.shared.sources.reports().into_iter();
        let selected = sources.filter(|source| names.is_empty() || names.contains(&source.name));
        selected.map(|source| Entry::source(&source, since)).collect()
    }
}
