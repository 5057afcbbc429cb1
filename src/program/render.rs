//! The command `siaga render`, which shows authors of templates the result without a server.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::Failure;
use crate::Builder;
use crate::data::folder::{Dataset, DatasetError};
use crate::formats::EncodeContext;
use crate::model::{AreaSelector, Layer, LayerKind, Timestamp};
use crate::stores::memory::MemoryStore;
use crate::stores::{
    AlertQuery, AreaQuery, FloodQuery, GaugeListQuery, GaugeQuery, JudgedGauges, LayerQuery, ReportQuery,
    Store, Window,
};

#[derive(Args)]
pub(super) struct RenderCommand {
    /// The name of the format; it does not need to be enabled.
    #[arg(long, value_name = "NAME")]
    format: String,
    /// What to write: floods, reports, gauges, infrastructure, boundaries, alerts or areas.
    #[arg(long, value_name = "NAME", value_parser = layer)]
    layer: LayerKind,
    /// Maximum age of reports and readings.
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = humantime::parse_duration)]
    last: Duration,
    /// A data folder to read instead of the configured store, or `demo`.
    data: Option<String>,
}

fn layer(text: &str) -> Result<LayerKind, String> {
    let kind = LayerKind::ALL.into_iter().find(|kind| kind.name() == text);
    kind.ok_or_else(|| format!("must be one of [{}]", LayerKind::NAMES.join(", ")))
}

/// Renders a layer of the configured store or of a data set. Warns if the layer is empty.
pub(super) async fn run(builder: &Builder, command: RenderCommand) -> Result<(), Failure> {
    let RenderCommand { format, layer, last, data } = command;
    let config = builder.checked_without_templates()?;
    let format = builder.format_to_try(&config, &format, layer)?;
    let settings = builder.settings()?;
    let store = match data {
        None => builder.open_any().await?,
        Some(data) => {
            let dataset = Dataset::load(&data, &settings.rules, settings.clock.now());
            let dataset = dataset.map_err(|error| match error {
                DatasetError::Unknown(name) => {
                    format!("{name:?} must be a data folder, demo or empty").into()
                }
                error => Failure::from(error),
            })?;
            Arc::new(MemoryStore::new(dataset, Arc::clone(&settings.clock)))
        }
    };
    let store = JudgedGauges::new(store, config.gauges.clone(), Arc::clone(&settings.clock));
    let (max_features, now) = (config.limits.features.get().into(), settings.clock.now());
    let layer = read_layer(&store, query(layer, last), max_features, now).await;
    store.close().await;
    let layer = layer?.with_photos_at(&config.photos_url().into()).issued_by(&config.issuer().into());
    if layer.is_empty() {
        eprintln!("siaga: warning: there is nothing to write; for older reports and readings, see --last");
    }
    let now = format.time_step().map_or(now, |step| now.floor(step));
    let context = EncodeContext::new(now, config.time_zone, config.base_url.as_str());
    let mut out = Vec::new();
    format.encode(&layer, &context, &mut out).map_err(|error| format!("{error}: {}", error.source))?;
    Ok(io::stdout().write_all(&out)?)
}

/// Reads a layer. Fails if it has more features than a response may have.
async fn read_layer(
    store: &dyn Store,
    query: LayerQuery,
    max: u64,
    now: Timestamp,
) -> Result<Layer, Failure> {
    let count = match &query {
        LayerQuery::Reports(query) => store.count_reports(query, max + 1).await?,
        LayerQuery::Gauges(query) => store.count_readings(&query.readings, max + 1).await?,
        _ => 0,
    };
    if count > max {
        return Err(format!("more than {max} reports or readings; choose a shorter --last").into());
    }
    Ok(query.run(store, now).await?.value)
}

fn query(kind: LayerKind, last: Duration) -> LayerQuery {
    let (selector, window) = (AreaSelector::default(), Window::Last(last));
    match kind {
        LayerKind::Floods => LayerQuery::Floods(FloodQuery::default()),
        LayerKind::Reports => {
            LayerQuery::Reports(ReportQuery { selector, disaster: None, training: false, window })
        }
        LayerKind::Gauges => {
            let readings = GaugeQuery { selector, window, with_failed: false };
            LayerQuery::Gauges(GaugeListQuery { readings, with_silent: false, only_latest: false })
        }
        LayerKind::Infrastructure => LayerQuery::Infrastructure(selector, None),
        LayerKind::Boundaries => LayerQuery::Boundaries(None),
        LayerKind::Alerts => LayerQuery::Alerts(AlertQuery::InForce(FloodQuery::default()), false),
        LayerKind::Areas => LayerQuery::Areas(AreaQuery::default()),
    }
}
