use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::Metrics;
use super::families::{Fraction, measured, new};

pub(super) struct Sources {
    ages: Family<Source, Fraction>,
    statuses: Family<Source, Gauge>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Source {
    source: String,
}

impl Sources {
    pub(super) fn register(all: &mut Registry) -> Self {
        Self {
            ages: measured(
                all,
                "source_age",
                "Time since a data source last reported",
                Unit::Seconds,
                Family::default(),
            ),
            statuses: new(all, "source_status", "0 if a source reports in time, 1 if late, 2 if silent"),
        }
    }
}

impl Metrics {
    /// Sets the gauges of a source. `age` is the time since its last report, if any. `status`: 0 is ok, 1 late, 2 silent.
    pub(crate) fn source(&self, name: &str, age: Option<Duration>, status: i64) {
        let labels = Source { source: name.to_owned() };
        self.all().sources.statuses.get_or_create(&labels).set(status);
        if let Some(age) = age {
            self.all().sources.ages.get_or_create(&labels).set(age.as_secs_f64());
        }
    }
}
