use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};

use super::process::Process;
use super::renderings::Renderings;
use super::sources::Sources;
use super::streams::Streams;
use super::webhooks::WebhookMetrics;
use super::{Rejection, ReportOrigin, UploadStep};

pub(super) type Labels<const COUNT: usize> = [(&'static str, &'static str); COUNT];

pub(super) type Histograms<L> = Family<L, Histogram, Buckets>;

pub(super) type Fraction = Gauge<f64, AtomicU64>;

pub(super) struct Families {
    pub(super) registry: Registry,
    pub(super) process: Process,
    pub(super) responses: Family<Responses, Counter>,
    pub(super) durations: Histograms<Requests>,
    pub(super) in_flight: Gauge,
    pub(super) requests_rejected: Family<Labels<1>, Counter>,
    pub(super) bytes: Family<Route, Counter>,
    pub(super) flood_changes: Counter,
    pub(super) reports: Family<Labels<1>, Counter>,
    pub(super) readings: Counter,
    pub(super) unknown_cards: Counter,
    pub(super) uploads: Family<Labels<1>, Counter>,
    pub(super) uploads_waiting: Gauge,
    pub(super) push_subscriptions: Gauge,
    pub(super) flooded_areas: Family<Labels<1>, Gauge>,
    pub(super) streams: Streams,
    pub(super) gauges: Family<Labels<1>, Gauge>,
    pub(super) alerts: Family<Labels<1>, Gauge>,
    pub(super) alert_unconfirmed: Family<Labels<0>, Fraction>,
    pub(super) data_ages: Family<Labels<1>, Fraction>,
    pub(super) sources: Sources,
    pub(super) webhooks: WebhookMetrics,
    pub(super) store_operations: Histograms<Labels<1>>,
    pub(super) listener_up: Family<Labels<0>, Gauge>,
    pub(super) connections: Family<Labels<1>, Gauge>,
    pub(super) calls_waiting: Family<Labels<0>, Gauge>,
    pub(super) retries: Counter,
    pub(super) cache_hits: Counter,
    pub(super) cache_waits: Counter,
    pub(super) cache_misses: Counter,
    pub(super) cache_bytes: Gauge,
    pub(super) renderings: Renderings,
    pub(super) stale_responses: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Responses {
    pub(super) method: &'static str,
    pub(super) route: String,
    pub(super) status: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Requests {
    pub(super) method: &'static str,
    pub(super) route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Route {
    pub(super) route: String,
}

#[derive(Clone, Copy)]
pub(super) struct Buckets(&'static [f64]);

impl Buckets {
    /// Buckets in seconds, up to `limits.timeout`.
    pub(super) const TIMES: Self =
        Self(&[0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0]);
    /// Buckets in bytes, from 1 KiB to 256 MiB.
    pub(super) const SIZES: Self = Self(&[
        1024.0,
        4096.0,
        16384.0,
        65536.0,
        262_144.0,
        1_048_576.0,
        4_194_304.0,
        16_777_216.0,
        67_108_864.0,
        268_435_456.0,
    ]);
}

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

impl Default for Families {
    fn default() -> Self {
        let mut registry = Registry::default();
        let process = Process::register(&mut registry);
        let all = registry.sub_registry_with_prefix("siaga");
        register_version(all);
        let families = Self {
            responses: new(all, "requests", "Responses sent"),
            durations: histograms(
                all,
                "request_duration",
                "Time from the head of a request to the head of its response",
                Unit::Seconds,
                Buckets::TIMES,
            ),
            in_flight: new(all, "requests_in_flight", "Requests being handled"),
            requests_rejected: new(all, "requests_rejected", "Requests rejected, by reason"),
            bytes: measured(all, "response", "Size of response bodies", Unit::Bytes, Family::default()),
            flood_changes: new(all, "flood_changes", "Flood states set or cleared by requests"),
            reports: new(all, "reports", "Reports accepted"),
            readings: new(all, "readings", "Gauge readings stored"),
            unknown_cards: new(all, "unknown_cards", "Unknown cards named without a credential"),
            uploads: new(all, "uploads", "Uploads of images, by what became of them"),
            uploads_waiting: new(
                all,
                "uploads_waiting",
                "Uploads not processed yet, of all servers on the store",
            ),
            push_subscriptions: new(
                all,
                "push_subscriptions",
                "Phones that have subscribed to push messages",
            ),
            flooded_areas: new(all, "flooded_areas", "Areas by their flood state"),
            streams: Streams::register(all),
            gauges: new(all, "gauges", "Gauges, by status: ok, suspect, silent, never or muted"),
            alerts: new(all, "alerts", "Alerts in force, by type"),
            alert_unconfirmed: measured(
                all,
                "alert_unconfirmed",
                "The longest time since the state of an alert in force was last set",
                Unit::Seconds,
                Family::default(),
            ),
            data_ages: measured(
                all,
                "data_age",
                "Time since the newest flood change, report and gauge reading",
                Unit::Seconds,
                Family::default(),
            ),
            sources: Sources::register(all),
            webhooks: WebhookMetrics::register(all),
            store_operations: histograms(
                all,
                "store_operation",
                "Time of calls of the store, by method",
                Unit::Seconds,
                Buckets::TIMES,
            ),
            listener_up: new(all, "listener_up", "Whether the store is notified of changes by other servers"),
            connections: new(all, "database_connections", "Connections to the database"),
            calls_waiting: new(
                all,
                "database_calls_waiting",
                "Calls of the store that wait for a connection to the database",
            ),
            retries: new(all, "database_retries", "Calls of the store tried again because of a lock"),
            cache_hits: new(all, "cache_hits", "Responses found in the cache"),
            cache_waits: new(all, "cache_waits", "Responses that another request was already waiting for"),
            cache_misses: new(all, "cache_misses", "Renderings started"),
            cache_bytes: measured(
                all,
                "cache",
                "Size of the cached responses",
                Unit::Bytes,
                Gauge::default(),
            ),
            renderings: Renderings::register(all),
            stale_responses: new(
                all,
                "stale_responses",
                "Responses returned from the cache while the store was unavailable",
            ),
            process,
            registry,
        };
        families.init_counters();
        families
    }
}

impl Families {
    /// Creates the series of counters with few labels at 0, so that their first event counts as an increase.
    fn init_counters(&self) {
        for step in [UploadStep::Received, UploadStep::Published, UploadStep::Refused, UploadStep::Postponed]
        {
            drop(self.uploads.get_or_create(&step.labels()));
        }
        for why in Rejection::ALL {
            drop(self.requests_rejected.get_or_create(&why.labels()));
        }
        for origin in [ReportOrigin::Card, ReportOrigin::Partner] {
            drop(self.reports.get_or_create(&origin.labels()));
        }
    }
}

fn register_version(all: &mut Registry) {
    let version = [("version".into(), env!("CARGO_PKG_VERSION").into())].into_iter();
    let build: Gauge = new(all.sub_registry_with_labels(version), "build", "Version of the program");
    build.set(1);
}

pub(super) fn new<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    add(registry, name, help, M::default())
}

pub(super) fn add<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

pub(super) fn measured<M: Metric + Clone>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    unit: Unit,
    metric: M,
) -> M {
    registry.register_with_unit(name, help, unit, metric.clone());
    metric
}

pub(super) fn histograms<L>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    unit: Unit,
    buckets: Buckets,
) -> Histograms<L>
where
    Histograms<L>: Metric + Clone,
    L: Clone + std::hash::Hash + Eq,
{
    measured(registry, name, help, unit, Family::new_with_constructor(buckets))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::super::{CacheUse, DeliveryOutcome, Metrics};

    /// The suffixes that names of samples can have.
    const PARTS: [&str; 5] = ["", "_total", "_bucket", "_sum", "_count"];
    const PAGE: &str = include_str!("../../../docs/operating.md");

    /// Returns metrics with a value in each family, because empty families are not written.
    fn all_used() -> Metrics {
        let metrics = Metrics::default();
        drop(metrics.request_started());
        metrics.count_response("GET", "/v1/floods", 200, Duration::from_millis(1), 1);
        metrics.flooded_areas([1; 4]);
        metrics.set_open_streams(1);
        metrics.count_stream_event();
        metrics.set_change_delay(Duration::from_secs(1));
        metrics.gauges("ok", 1);
        metrics.alerts("Alert", 1);
        metrics.alert_unconfirmed(Duration::from_secs(1));
        metrics.data_age("reports", Duration::from_secs(1));
        metrics.source("desk", Some(Duration::from_secs(1)), 0);
        metrics.count_deliveries("thanks", DeliveryOutcome::Sent, 1);
        metrics.set_webhook_behind("thanks", Duration::from_secs(1), false);
        drop(metrics.store_operation("floods"));
        metrics.set_listener_up(true);
        metrics.set_connections(1, 1);
        metrics.set_calls_waiting(1);
        metrics.count_cache_use(CacheUse::Hit);
        metrics.rendered("floods", "topojson", Duration::from_millis(1), 1);
        drop(metrics.rendering_waits("small"));
        metrics
    }

    /// Returns the written metrics and their labels, with names as on the page `operating.md`.
    fn written(metrics: &Metrics) -> Vec<(String, BTreeSet<String>)> {
        let text = metrics.text().unwrap();
        let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        let labelled = types.map(|(name, kind)| {
            let samples = text.lines().filter(|line| !line.starts_with('#'));
            let samples = samples.filter_map(|line| {
                let (part, rest) = line.strip_prefix(name)?.split_once('{')?;
                PARTS.contains(&part).then(|| rest.split_once('}'))?
            });
            let labels =
                samples.flat_map(|(labels, _)| labels.split("\",").filter_map(|label| label.split_once('=')));
            let labels = labels.map(|(label, _)| label.to_owned()).filter(|label| label != "le").collect();
            (if kind == "counter" { format!("{name}_total") } else { name.to_owned() }, labels)
        });
        labelled.collect()
    }

    #[test]
    fn the_page_documents_exactly_the_metrics_and_their_labels() {
        let rows =
            PAGE.lines().filter(|line| line.starts_with("| `siaga_") || line.starts_with("| `process_"));
        let quoted =
            |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let mut listed = Vec::new();
        for row in rows {
            let cells: Vec<&str> = row.split('|').collect();
            listed.extend(quoted(cells[1]).into_iter().map(|name| (name, quoted(cells[2]))));
        }
        let written = written(&all_used());
        for (name, labels) in &written {
            let Some((_, documented)) = listed.iter().find(|(listed, _)| listed == name) else {
                panic!("docs/operating.md lacks {name}");
            };
            let missing: Vec<_> = labels.iter().filter(|label| !documented.contains(label)).collect();
            assert!(missing.is_empty(), "docs/operating.md lacks labels of {name}: {missing:?}");
        }
        for (name, _) in &listed {
            assert!(written.iter().any(|(written, _)| written == name), "there is no {name}");
        }
    }
}
