use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::Metrics;
use super::families::{Fraction, measured, new};

/// The metrics of outgoing calls.
pub(super) struct WebhookMetrics {
    outcomes: Family<Outcome, Counter>,
    behind: Family<WebhookLabel, Fraction>,
    off: Family<WebhookLabel, Gauge>,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryOutcome {
    /// The receiver has it.
    Sent,
    /// A try failed.
    Failed,
    /// The receiver refuses it, or no request can be made of it.
    Skipped,
    /// It was not told in time.
    Dropped,
}

/// The label of a call: its name in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WebhookLabel {
    call: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    call: String,
    outcome: &'static str,
}

impl DeliveryOutcome {
    const ALL: [Self; 4] = [Self::Sent, Self::Failed, Self::Skipped, Self::Dropped];

    fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Dropped => "dropped",
        }
    }
}

impl WebhookMetrics {
    pub(super) fn register(all: &mut Registry) -> Self {
        Self {
            outcomes: new(all, "outgoing_calls", "Outgoing calls by this server, by what became of them"),
            behind: measured(
                all,
                "outgoing_call_behind",
                "Age of the oldest event that the receiver of a call has not taken",
                Unit::Seconds,
                Family::default(),
            ),
            off: new(all, "outgoing_call_off", "1 if the receiver has switched the call off"),
        }
    }
}

/// Methods that describe outgoing calls.
impl Metrics {
    /// Creates the series of a call, so that its first event counts as an increase.
    pub(crate) fn calls_begin(&self, call: &str) {
        for outcome in DeliveryOutcome::ALL {
            self.called(call, outcome, 0);
        }
    }

    /// Counts tries or events of a call.
    pub(crate) fn called(&self, call: &str, outcome: DeliveryOutcome, count: u64) {
        let of = Outcome { call: call.to_owned(), outcome: outcome.name() };
        self.all().calls.outcomes.get_or_create(&of).inc_by(count);
    }

    /// Sets how old the oldest event is that the receiver has not taken, and whether the call is off.
    pub(crate) fn call_behind(&self, call: &str, behind: Duration, is_off: bool) {
        let of = WebhookLabel { call: call.to_owned() };
        self.all().calls.behind.get_or_create(&of).set(behind.as_secs_f64());
        self.all().calls.off.get_or_create(&of).set(is_off.into());
    }
}
