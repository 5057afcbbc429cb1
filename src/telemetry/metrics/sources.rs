use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::Metrics;
use super::families::{Fraction, measured, new};

/// The metrics of the sources of the data.
pub(super) struct Sources {
    ages: Family<Source, Fraction>,
    statuses: Family<Source, Gauge>,
}

/// The label of a source: its name in the configuration.
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
                "Time since a source of data was last heard",
                Unit::Seconds,
                Family::default(),
            ),
            statuses: new(all, "source_status", "0 if a source is heard in time, 1 if late, 2 if silent"),
        }
    }
}

/// Methods that describe sources.
impl Metrics {
    /// Sets how long ago a source was last heard (`None` if it never was), and its status: 0 for ok, 1 for late, 2 for silent.
    pub(crate) fn source(&self, name: &str, age: Option<Duration>, status: i64) {
        let of = Source { source: name.to_owned() };
        self.all().sources.statuses.get_or_create(&of).set(status);
        if let Some(age) = age {
            self.all().sources.ages.get_or_create(&of).set(age.as_secs_f64());
        }
    }
}
