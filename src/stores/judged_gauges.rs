use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{Decorator, GaugeQuery, Store, StoreError, Versioned, Window};
use crate::model::{Clock, GaugeActivity, GaugeLayer, GaugeRules, Period, Timestamp};

/// A store whose readings have their [`Quality`](crate::model::Quality), which no store needs to keep: it follows from the levels, the
/// settings of the gauge and the configured rules. Leaves out unusable readings, unless the query asks for them.
#[derive(Debug)]
pub(crate) struct JudgedGauges {
    store: Arc<dyn Store>,
    rules: GaugeRules,
    clock: Arc<dyn Clock>,
}

impl JudgedGauges {
    pub(crate) fn new(store: Arc<dyn Store>, rules: GaugeRules, clock: Arc<dyn Clock>) -> Self {
        Self { store, rules, clock }
    }

    fn wider(&self, query: &GaugeQuery) -> GaugeQuery {
        GaugeQuery { window: self.with_context(query.window), ..query.clone() }
    }

    /// Returns the window with the readings around it that decide on the quality of those inside.
    fn with_context(&self, window: Window) -> Window {
        let context = self.rules.context();
        match window {
            Window::Last(duration) => Window::Last(duration.saturating_add(context)),
            Window::Within(period) => {
                let (start, end) =
                    (period.start().saturating_sub(context), period.end().saturating_add(context));
                Window::Within(Period::new(start, end, Duration::MAX).unwrap_or(period))
            }
        }
    }
}

impl fmt::Display for JudgedGauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl Decorator for JudgedGauges {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError> {
        let now = self.clock.now();
        let (first, last) = query.window.bounds(now);
        let read = self.store.gauges(&self.wider(query)).await?;
        let (mut layer, read_validity) = (read.value, read.validity);
        layer.0.retain_mut(|gauge| {
            self.rules.judge(&mut gauge.observations, &gauge.gauge.settings);
            gauge.observations.retain(|reading| {
                (first..=last).contains(&reading.observed_at)
                    && (query.with_failed || reading.quality.is_usable())
            });
            !gauge.observations.is_empty()
        });
        let validity = query.window.validity(now, layer.oldest(), None).and(read_validity);
        Ok(Versioned { revision: read.revision, validity, value: layer })
    }

    /// Adds the activity.
    async fn recent_readings(&self, since: Timestamp) -> Result<Versioned<GaugeLayer>, StoreError> {
        let (now, every) = (self.clock.now(), self.rules.every);
        let read = self.store.recent_readings(since.saturating_sub(self.rules.context())).await?;
        Ok(read.map(|mut layer| {
            for gauge in &mut layer.0 {
                self.rules.judge(&mut gauge.observations, &gauge.gauge.settings);
                gauge.activity =
                    Some(Box::new(GaugeActivity::new(&gauge.gauge, &gauge.observations, every, now)));
            }
            layer
        }))
    }

    async fn count_readings(&self, query: &GaugeQuery, most: u64) -> Result<u64, StoreError> {
        self.store.count_readings(&self.wider(query), most).await
    }
}
