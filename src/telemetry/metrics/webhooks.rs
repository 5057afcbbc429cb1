use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::Metrics;
use super::families::{Fraction, measured, new};

pub(super) struct WebhookMetrics {
    outcomes: Family<Outcome, Counter>,
    behind: Family<WebhookLabel, Fraction>,
    off: Family<WebhookLabel, Gauge>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryOutcome {
    /// The receiver accepted a request.
    Sent,
    /// A request failed, and Siaga retries it.
    Failed,
    /// Siaga skipped an event: the receiver rejects it, or its request cannot be rendered.
    Skipped,
    /// Siaga dropped an event that was older than `max_age`.
    Dropped,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WebhookLabel {
    webhook: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    webhook: String,
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
            outcomes: new(
                all,
                "webhook_requests",
                "Requests of webhooks by this server, by outcome; skipped and dropped count events",
            ),
            behind: measured(
                all,
                "webhook_behind",
                "Age of the oldest event that the receiver of a webhook has not accepted",
                Unit::Seconds,
                Family::default(),
            ),
            off: new(all, "webhook_off", "1 if the receiver has switched the webhook off"),
        }
    }
}

impl Metrics {
    /// Creates the series of a webhook at 0, so that its first event counts as an increase.
    pub(crate) fn init_webhook(&self, webhook: &str) {
        for outcome in DeliveryOutcome::ALL {
            self.count_deliveries(webhook, outcome, 0);
        }
    }

    pub(crate) fn count_deliveries(&self, webhook: &str, outcome: DeliveryOutcome, count: u64) {
        let labels = Outcome { webhook: webhook.to_owned(), outcome: outcome.name() };
        self.all().webhooks.outcomes.get_or_create(&labels).inc_by(count);
    }

    /// Sets the age of the oldest event that the receiver has not accepted, and whether the webhook is disabled.
    pub(crate) fn set_webhook_behind(&self, webhook: &str, behind: Duration, is_off: bool) {
        let labels = WebhookLabel { webhook: webhook.to_owned() };
        self.all().webhooks.behind.get_or_create(&labels).set(behind.as_secs_f64());
        self.all().webhooks.off.get_or_create(&labels).set(is_off.into());
    }
}
