use std::sync::Arc;

use serde_json::{Map, Value};

use super::event::object;
use crate::config::{CallSettings, EventKind};
use crate::model::alerts::Issuer;
use crate::model::{AreaSelector, MapLayer as _, Timestamp, Validity};
use crate::stores::{AlertQuery, AttentionList, FloodQuery, Resource, Revision, Store, StoreError};

/// Something on a list, of which each area has at most one.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) area: u64,
    /// What tells it from others that were listed for the area before.
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

/// Reads the list that a call compares with what it has told: the alerts in force, or the areas that need attention. Nothing can be
/// missed or come late, because only what stands on the list counts.
#[derive(Debug)]
pub(super) struct Lists {
    store: Arc<dyn Store>,
    attention: Arc<AttentionList>,
    issuer: Arc<Issuer>,
    settings: CallSettings,
    /// The alerts as they were last read, from which data, and how long they stay the same.
    alerts: Option<(Revision, Validity, Arc<[Listed]>)>,
}

impl Lists {
    pub(super) fn new(
        store: Arc<dyn Store>,
        attention: Arc<AttentionList>,
        issuer: Arc<Issuer>,
        settings: CallSettings,
    ) -> Self {
        Self { store, attention, issuer, settings, alerts: None }
    }

    /// Returns the present list, of what the filter of the call selects. Costs one look at the revision while it stays the same.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(super) async fn present(&mut self, now: Timestamp) -> Result<Arc<[Listed]>, StoreError> {
        match self.settings.on {
            EventKind::Attention => self.attention().await,
            _ => self.alerts(now).await,
        }
    }

    async fn alerts(&mut self, now: Timestamp) -> Result<Arc<[Listed]>, StoreError> {
        let revision = self.store.revision(Resource::Floods).await?;
        if let Some((known, validity, alerts)) = &self.alerts
            && *known == revision
            && validity.covers(now)
        {
            return Ok(Arc::clone(alerts));
        }
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
        let alerts: Arc<[_]> = alerts.collect();
        self.alerts = Some((found.revision, found.validity, Arc::clone(&alerts)));
        Ok(alerts)
    }

    async fn attention(&self) -> Result<Arc<[Listed]>, StoreError> {
        let list = self.attention.get().await?;
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
