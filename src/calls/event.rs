use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::lists::Listed;
use crate::config::EventKind;
use crate::model::{
    Card, Covered, MapLayer as _, Reason, Report, ReportKey, ReportLayer, SourceStatus, Timestamp,
};
use crate::resources::{Sample, sample};
use crate::sources::SourceReport;

/// Something that a call tells, with what it tells.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Identifies it: a repeated call has the same.
    pub(super) id: String,
    pub(super) kind: EventKind,
    pub(super) at: Timestamp,
    pub(super) values: Map<String, Value>,
    /// How far the call has come when the receiver has it.
    pub(super) passed: Passed,
}

/// What a call has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    Report(ReportKey),
    /// The marks of what stands on a list, by area; `None` for an area that left the list.
    Listed(Vec<(u64, Option<String>)>),
    /// Whether a source is silent.
    Source(String, bool),
}

impl Event {
    /// Returns the event that a report was received. With its card, it has what the network needs to reach its sender.
    pub(super) fn report(call: &str, report: &Arc<Report>, photos: &Arc<str>, card: Option<&Card>) -> Self {
        let layer = ReportLayer::from(vec![Arc::clone(report)]).with_photos_at(Arc::clone(photos));
        let mut values = object(&layer.feature(0).1);
        let place = report.content.location.coord();
        values.extend([("lat".to_owned(), json!(place.y)), ("lng".to_owned(), json!(place.x))]);
        if let Some(Card { holder, .. }) = card {
            values.extend([
                ("network".to_owned(), json!(holder.network)),
                ("username".to_owned(), json!(holder.username)),
                ("language".to_owned(), json!(holder.language)),
                ("network_data".to_owned(), json!(holder.network_data)),
            ]);
        }
        let at = report.content.created_at;
        let id = identifier(call, EventKind::Report, [(at, report.key.number(), 0)]);
        Self { id, kind: EventKind::Report, at, values, passed: Passed::Report(report.key) }
    }

    /// Returns the event that things came onto a list, of which there is at least one.
    pub(super) fn listed(call: &str, kind: EventKind, things: &[&Listed]) -> Self {
        let id = identifier(call, kind, things.iter().map(|thing| (thing.at, thing.area, 0)));
        let at = things.iter().map(|thing| thing.at).min().unwrap_or(Timestamp::EPOCH);
        let name = if kind == EventKind::Alert { "alerts" } else { "areas" };
        let all = things.iter().map(|thing| Value::Object(thing.values.clone())).collect();
        let passed = things.iter().map(|thing| thing.told()).collect();
        let values = Map::from_iter([(name.to_owned(), Value::Array(all))]);
        Self { id, kind, at, values, passed: Passed::Listed(passed) }
    }

    /// Returns the event that a source has fallen silent, or is heard again. It waits since a moment.
    pub(super) fn source(call: &str, source: &SourceReport, since: Timestamp) -> Self {
        let is_silent = source.status == SourceStatus::Silent;
        let heard = source.last_heard.unwrap_or(Timestamp::EPOCH);
        let of = format!("{call}\n{}", source.name);
        let id = identifier(&of, EventKind::Source, [(heard, 0, is_silent.into())]);
        let (kind, passed) = (EventKind::Source, Passed::Source(source.name.clone(), is_silent));
        Self { id, kind, at: since, values: object(source), passed }
    }

    /// Returns a made-up event, with texts that are easy to get wrong if it is `hostile`.
    pub(super) fn sample(
        call: &str,
        kind: EventKind,
        personal: bool,
        hostile: Sample,
        now: Timestamp,
    ) -> Self {
        let mut event = match kind {
            EventKind::Report => {
                let layer = sample(crate::model::LayerKind::Reports, hostile, now);
                let mut values = layer.features().next().map(|of| object(&of.properties)).unwrap_or_default();
                values.extend([("lat".to_owned(), json!(-6.18)), ("lng".to_owned(), json!(106.83))]);
                if personal {
                    values.extend([
                        ("network".to_owned(), json!("telegram")),
                        ("username".to_owned(), json!("100200300")),
                        ("language".to_owned(), json!("id")),
                        ("network_data".to_owned(), Value::Null),
                    ]);
                }
                Self { id: String::new(), kind, at: now, values, passed: Passed::Report(ReportKey::FIRST) }
            }
            EventKind::State => {
                let layer = sample(crate::model::LayerKind::Floods, hostile, now);
                let areas = layer.features().map(|of| {
                    let mut area = object(&of.properties);
                    area.insert("last_updated".to_owned(), json!(now));
                    Value::Object(area)
                });
                let values = Map::from_iter([("areas".to_owned(), areas.collect())]);
                Self { id: String::new(), kind, at: now, values, passed: Passed::Listed(Vec::new()) }
            }
            EventKind::Alert => {
                let layer = sample(crate::model::LayerKind::Alerts, hostile, now);
                let alerts = layer.features().map(|of| Value::Object(object(&of.properties)));
                let values = Map::from_iter([("alerts".to_owned(), alerts.collect())]);
                Self { id: String::new(), kind, at: now, values, passed: Passed::Listed(Vec::new()) }
            }
            EventKind::Attention => {
                let layer = sample(crate::model::LayerKind::Floods, hostile, now);
                let areas = layer.features().map(|of| {
                    let mut area = object(&of.properties);
                    area.insert("last_updated".to_owned(), json!(now));
                    let since = now.before(Duration::from_hours(20));
                    let lapses = since.after(Duration::from_hours(24));
                    let reasons = vec![Reason::Unconfirmed { at: now, since, lapses }];
                    area.insert("reasons".to_owned(), json!(reasons));
                    Value::Object(area)
                });
                let values = Map::from_iter([("areas".to_owned(), areas.collect())]);
                Self { id: String::new(), kind, at: now, values, passed: Passed::Listed(Vec::new()) }
            }
            EventKind::Source => {
                let (name, heard) = ("river-gauges".to_owned(), now.before(Duration::from_hours(1)));
                let source = SourceReport {
                    name,
                    covers: Covered::ALL.into(),
                    last_heard: Some(heard),
                    expected_by: Some(heard.after(Duration::from_mins(10))),
                    status: SourceStatus::Silent,
                };
                Self::source(call, &source, now)
            }
        };
        event.id = identifier(call, kind, [(now, 0, 0)]);
        event
    }

    /// Returns the values for templates: those of the event, and those that every event has.
    pub(super) fn variables(&self, common: &Map<String, Value>) -> Map<String, Value> {
        let mut all = self.values.clone();
        all.extend(common.clone());
        all.insert("webhook_id".to_owned(), json!(self.id));
        all.insert("type".to_owned(), json!(self.kind.name()));
        all.insert("timestamp".to_owned(), json!(self.at));
        all
    }

    /// Returns the body without a template.
    pub(super) fn json(&self) -> Vec<u8> {
        json!({ "type": self.kind.name(), "timestamp": self.at, "data": self.values })
            .to_string()
            .into_bytes()
    }
}

/// Returns the properties of something that is a JSON object.
pub(super) fn object(properties: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(properties) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// Returns an identifier that follows from what the event tells, so that a call which is sent again after a crash has the same.
fn identifier(call: &str, kind: EventKind, parts: impl IntoIterator<Item = (Timestamp, u64, u8)>) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(format!("{call}\n{}", kind.name()).as_bytes());
    for (at, number, state) in parts {
        hash.update(&at.to_utc().timestamp_millis().to_be_bytes());
        hash.update(&number.to_be_bytes());
        hash.update(&[state]);
    }
    let mut id = "msg_".to_owned();
    id.push_str(&hash.finalize().to_hex()[..32]);
    id
}
