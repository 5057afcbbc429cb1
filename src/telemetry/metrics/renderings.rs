use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::families::{Buckets, Histograms, Labels, histograms, new};
use super::{InFlight, Metrics};

pub(super) struct Renderings {
    durations: Histograms<Rendering>,
    sizes: Histograms<Rendering>,
    waiting: Family<Labels<1>, Gauge>,
    cancelled: Counter,
    rejected: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Rendering {
    resource: &'static str,
    format: String,
}

impl Renderings {
    pub(super) fn register(all: &mut Registry) -> Self {
        Self {
            durations: histograms(
                all,
                "rendering_duration",
                "Time to render a response, without the wait for a permit",
                Unit::Seconds,
                Buckets::TIMES,
            ),
            sizes: histograms(
                all,
                "rendering",
                "Size of the responses rendered, before compression",
                Unit::Bytes,
                Buckets::SIZES,
            ),
            waiting: new(all, "renderings_waiting", "Renderings that wait for memory or a core"),
            cancelled: new(
                all,
                "renderings_cancelled",
                "Renderings stopped because no request waited for them any more",
            ),
            rejected: new(
                all,
                "renderings_rejected",
                "Renderings rejected because too many waited for memory or a core",
            ),
        }
    }
}

impl Metrics {
    pub(crate) fn rendered(&self, resource: &'static str, format: &str, took: Duration, bytes: usize) {
        let Renderings { durations, sizes, .. } = &self.all().renderings;
        let labels = Rendering { resource, format: format.to_owned() };
        durations.get_or_create(&labels).observe(took.as_secs_f64());
        sizes.get_or_create(&labels).observe(bytes as f64);
    }

    /// Counts a rendering as waiting until the returned value is dropped.
    #[must_use]
    pub(crate) fn rendering_waits(&self, lane: &'static str) -> InFlight {
        let gauge = self.all().renderings.waiting.get_or_create_owned(&[("lane", lane)]);
        gauge.inc();
        InFlight(gauge)
    }

    pub(crate) fn rendering_cancelled(&self) {
        self.all().renderings.cancelled.inc();
    }

    pub(crate) fn rendering_rejected(&self) {
        self.all().renderings.rejected.inc();
    }
}
