use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::event::object;
use crate::config::{CallSettings, EventKind};
use crate::model::alerts::Issuer;
use crate::model::{AreaSelector, FloodFeature, FloodLayer, MapLayer as _, Timestamp, Validity};
use crate::stores::{AlertQuery, AttentionList, FloodQuery, Resource, Revision, Store, StoreError};

/// Something on a list, of which each area has at most one.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) area: u64,
    /// Distinguishes this entry from earlier entries for the same area.
    pub(super) mark: String,
    pub(super) at: Timestamp,
    pub(super) values: Map<String, Value>,
}

impl Listed {
    /// Returns what is passed when it was told.
    pub(super) fn told(&self) -> (u64, Option<String>) {
        (self.area, Some(self.mark.clone()))
    }
}

/// For how long after the time of its call a change that was not told stays on the list, so that it can be counted as dropped.
const LEFT: Duration = Duration::from_hours(1);

/// Reads the list that a call compares with what it has told: the alerts in force, the areas that need attention, or the newest
/// change of each area. Nothing can be missed or come late, because only what stands on the list counts, whatever the clocks of
/// servers say.
#[derive(Debug)]
pub(super) struct Lists {
    store: Arc<dyn Store>,
    attention: Arc<AttentionList>,
    issuer: Arc<Issuer>,
    settings: CallSettings,
    /// The alerts or changes as they were last read, from which data, and how long they stay the same.
    known: Option<(Revision, Validity, Arc<[Listed]>)>,
}

impl Lists {
    pub(super) fn new(
        store: Arc<dyn Store>,
        attention: Arc<AttentionList>,
        issuer: Arc<Issuer>,
        settings: CallSettings,
    ) -> Self {
        Self { store, attention, issuer, settings, known: None }
    }

    /// Returns the present list, of what the filter of the call selects. Costs one look at the revision while it stays the same.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(super) async fn present(&mut self, now: Timestamp) -> Result<Arc<[Listed]>, StoreError> {
        match self.settings.on {
            EventKind::Attention => self.attention().await,
            _ => self.alerts_or_changes(now).await,
        }
    }

    async fn alerts_or_changes(&mut self, now: Timestamp) -> Result<Arc<[Listed]>, StoreError> {
        let revision = self.store.revision(Resource::Floods).await?;
        if let Some((known, validity, listed)) = &self.known
            && *known == revision
            && validity.covers(now)
        {
            return Ok(Arc::clone(listed));
        }
        let (found, validity, listed) = match self.settings.on {
            EventKind::State => self.changes(now).await?,
            _ => self.alerts(now).await?,
        };
        // An older list would have areas return to states that were told before: after a failover, the new primary may lack changes.
        if found < revision {
            let source = "the list is behind the changes".into();
            return Err(StoreError::Unavailable { retry_after: Duration::from_secs(1), source });
        }
        self.known = Some((found, validity, Arc::clone(&listed)));
        Ok(listed)
    }

    /// Returns the newest change of each area, without those that are too old to be told.
    async fn changes(&self, now: Timestamp) -> Result<(Revision, Validity, Arc<[Listed]>), StoreError> {
        let found = self.store.floods(&FloodQuery::default()).await?;
        let layer: &FloodLayer = &found.value;
        let oldest = now.before(self.settings.lasting + LEFT);
        let minimum = self.settings.filter.minimum_state.map(|minimum| minimum.0);
        let is_selected = |flood: &FloodFeature<'_>| {
            let high_enough = |minimum| flood.current.is_some_and(|current| current.state >= minimum);
            minimum.is_none_or(high_enough)
                && (self.settings.filter.city.is_empty()
                    || self.cities().any(|city| city.matches(flood.area)))
        };
        let listed = layer.features().enumerate().filter(|(_, flood)| is_selected(flood));
        let listed = listed.filter_map(|(index, flood)| {
            let at = layer.selected()[index].1.last_changed().filter(|at| *at >= oldest)?;
            let mut values = object(&layer.feature(index).1);
            // A cleared area has no `last_updated` in responses, but was changed.
            values.insert("last_updated".to_owned(), json!(at));
            Some(Listed { area: flood.area.id.number(), mark: at.to_string(), at, values })
        });
        let listed: Arc<[_]> = listed.collect();
        let lapses = listed.iter().map(|listed| listed.at.after(self.settings.lasting + LEFT)).min();
        let until = lapses.map_or(Timestamp::LAST, |lapses| lapses.after(Duration::from_millis(1)));
        Ok((found.revision, Validity::Between { from: now, until }, listed))
    }

    async fn alerts(&self, now: Timestamp) -> Result<(Revision, Validity, Arc<[Listed]>), StoreError> {
        let minimum_state = self.settings.filter.minimum_state.map(|minimum| minimum.0);
        let query = FloodQuery { selector: AreaSelector::default(), minimum_state };
        let found = AlertQuery::InForce(query).ask(&*self.store, now).await?;
        let layer = found.value.issued_by(Arc::clone(&self.issuer));
        let alerts = layer.features().enumerate().filter(|(_, alert)| {
            self.settings.filter.city.is_empty() || self.cities().any(|city| city.matches(alert.area))
        });
        let alerts = alerts.map(|(index, alert)| {
            let key = alert.message.key;
            Listed {
                area: alert.area.id.number(),
                mark: format!("{} {}", key.run, key.renewal),
                at: key.due().unwrap_or(alert.message.sent),
                values: object(&layer.feature(index).1),
            }
        });
        Ok((found.revision, found.validity, alerts.collect()))
    }

    async fn attention(&self) -> Result<Arc<[Listed]>, StoreError> {
        let list = self.attention.recent().await?;
        let areas = Arc::clone(self.store.places().await?.value.areas());
        let selected = list.iter().filter(|listed| {
            let position = areas.position(listed.attention.area_id);
            self.settings.filter.city.is_empty()
                || position.is_some_and(|at| self.cities().any(|city| city.matches(&areas[at])))
        });
        let listed = selected.map(|listed| Listed {
            area: listed.attention.area_id.number(),
            mark: String::new(),
            at: listed.attention.reasons.first().map_or(Timestamp::EPOCH, crate::model::Reason::at),
            values: object(listed),
        });
        Ok(listed.collect())
    }

    fn cities(&self) -> impl Iterator<Item = AreaSelector> {
        let codes = self.settings.filter.city.iter();
        codes.map(|code| AreaSelector { city: Some(code.clone()), region: None })
    }
}
