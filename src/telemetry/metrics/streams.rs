use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::families::{Fraction, Labels, measured, new};
use super::{Metrics, gauge};

pub(super) struct Streams {
    open: Family<Labels<0>, Gauge>,
    events: Counter,
    delay: Family<Labels<0>, Fraction>,
}

impl Streams {
    pub(super) fn register(all: &mut Registry) -> Self {
        Self {
            open: new(all, "streams", "Streams of changes, and requests that wait for one"),
            events: new(all, "stream_events", "Events sent to streams"),
            delay: measured(
                all,
                "change_delay",
                "Time from the newest change of a flood state until this server read it",
                Unit::Seconds,
                Family::default(),
            ),
        }
    }
}

impl Metrics {
    pub(crate) fn set_open_streams(&self, streams: u64) {
        self.all().streams.open.get_or_create(&[]).set(gauge(streams));
    }

    pub(crate) fn count_stream_event(&self) {
        self.all().streams.events.inc();
    }

    /// Sets the delay from the newest change of a flood state until this server read it.
    pub(crate) fn set_change_delay(&self, delay: Duration) {
        self.all().streams.delay.get_or_create(&[]).set(delay.as_secs_f64());
    }
}
