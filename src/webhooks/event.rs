use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::config::{EventKind, WebhookSettings};
use crate::model::{
    Card, CardHolder, CoveredData, GaugeStatus, LayerKind, MapLayer as _, Reason, Report, ReportKey,
    ReportLayer, SourceStatus, Timestamp,
};
use crate::schema::resources::{Sample, sample};
use crate::sources::SourceReport;
use crate::stores::GaugeReport;

pub(super) type Values = Map<String, Value>;

#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Sent as `webhook-id`: the same for every attempt.
    pub(super) id: String,
    pub(super) kind: EventKind,
    pub(super) at: Timestamp,
    pub(super) values: Values,
    pub(super) ack: Ack,
}

/// What the checkpoint records once an event was accepted, skipped or dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ack {
    Report(ReportKey),
    /// The marks of list entries, by key. `None` removes the mark of that key from the checkpoint.
    Entries(Vec<(String, Option<String>)>),
}

/// A list entry: the newest change of an area, an alert, an area that needs attention, a source, or a gauge. Keys are unique in the list.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Distinguishes successive entries with the same key. An entry without a mark (a source that reports again) is sent only
    /// after one with a mark.
    pub(super) mark: Option<String>,
    pub(super) at: Timestamp,
    pub(super) values: Values,
    /// The input for the event's identifier: a time, the area, and a state.
    id: (Timestamp, u64, u8),
}

impl Entry {
    pub(super) fn area(area: u64, mark: String, at: Timestamp, values: Values) -> Self {
        Self { key: area.to_string(), mark: Some(mark), at, values, id: (at, area, 0) }
    }

    /// Creates the entry of a source. `since`: when the event was first seen, so that its age includes retries.
    pub(super) fn source(source: &SourceReport, since: Timestamp) -> Self {
        let is_silent = source.status == SourceStatus::Silent;
        let last_heard = source.last_heard.unwrap_or(Timestamp::EPOCH);
        Self {
            key: source.name.clone(),
            mark: is_silent.then(String::new),
            at: since,
            values: object(source),
            id: (last_heard, 0, is_silent.into()),
        }
    }

    /// Creates the entry of a gauge. `since` as for a source.
    pub(super) fn gauge(gauge: &GaugeReport, since: Timestamp) -> Self {
        let is_silent = gauge.status == GaugeStatus::Silent;
        let last_heard = gauge.last_heard.unwrap_or(Timestamp::EPOCH);
        let digest = blake3::hash(gauge.gaugeid.as_bytes());
        let number = digest.as_bytes().first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        Self {
            key: gauge.gaugeid.clone(),
            mark: is_silent.then(String::new),
            at: since,
            values: object(gauge),
            // After a mute, the same silence is another event.
            id: (last_heard.max(gauge.muted.unwrap_or(last_heard)), number, is_silent.into()),
        }
    }

    pub(super) fn ack(&self) -> (String, Option<String>) {
        (self.key.clone(), self.mark.clone())
    }

    pub(super) fn order(&self) -> (Timestamp, u64) {
        (self.at, self.id.1)
    }
}

impl Event {
    /// Creates the event of a report. With `card`, it includes the data by which a messaging network reaches the sender.
    pub(super) fn report(
        webhook: &str,
        report: &Arc<Report>,
        photos: &Arc<str>,
        card: Option<&Card>,
    ) -> Self {
        let layer = ReportLayer::from(vec![Arc::clone(report)]).with_photos_at(Arc::clone(photos));
        let position = report.content.location.coord();
        let properties = object(&layer.feature(0).1);
        let values = report_values(properties, [position.x, position.y], card.map(|card| &card.holder));
        let at = report.content.created_at;
        let id = identifier(webhook, EventKind::Report, [(at, report.key.number(), 0)]);
        Self { id, kind: EventKind::Report, at, values, ack: Ack::Report(report.key) }
    }

    pub(super) fn entries(webhook: &str, kind: EventKind, entries: &[&Entry]) -> Self {
        let ids = entries.iter().map(|entry| entry.id);
        let (id, values) = match entries {
            [source] if kind == EventKind::Source => {
                (identifier(&format!("{webhook}\n{}", source.key), kind, ids), source.values.clone())
            }
            _ => {
                let values = entries.iter().map(|entry| entry.values.clone());
                (identifier(webhook, kind, ids), list_values(kind, values))
            }
        };
        let at = entries.iter().map(|entry| entry.at).min().unwrap_or(Timestamp::EPOCH);
        let ack = Ack::Entries(entries.iter().map(|entry| entry.ack()).collect());
        Self { id, kind, at, values, ack }
    }

    /// Returns an example event; with [`Sample::Hostile`], its texts try to break out of templates.
    pub(super) fn sample(webhook: &str, settings: &WebhookSettings, hostile: Sample, now: Timestamp) -> Self {
        let kind = settings.event;
        let layer = match kind {
            EventKind::Report => LayerKind::Reports,
            EventKind::Alert => LayerKind::Alerts,
            EventKind::Gauge => LayerKind::Gauges,
            EventKind::State | EventKind::Attention | EventKind::Source => LayerKind::Floods,
        };
        let layer = sample(layer, hostile, now);
        let mut features = layer.features().map(|feature| object(&feature.properties));
        let values = match kind {
            EventKind::Report => {
                let [username, network, language] = ["100200300", "telegram", "id"].map(str::to_owned);
                let holder = CardHolder { username, network, language, network_data: None };
                let report = features.next().unwrap_or_default();
                report_values(report, [106.83, -6.18], settings.personal.then_some(&holder))
            }
            EventKind::Alert => list_values(kind, features),
            EventKind::State | EventKind::Attention => {
                let since = now.saturating_sub(Duration::from_hours(20));
                let lapses = since.saturating_add(Duration::from_hours(24));
                let reasons = json!([Reason::Unconfirmed { at: now, since, lapses }]);
                let areas = features.map(|mut area| {
                    area.insert("last_updated".to_owned(), json!(now));
                    if kind == EventKind::Attention {
                        area.insert("reasons".to_owned(), reasons.clone());
                    }
                    area
                });
                list_values(kind, areas)
            }
            EventKind::Source => {
                let last_heard = now.saturating_sub(Duration::from_hours(1));
                object(&SourceReport {
                    name: "river-gauges".to_owned(),
                    covers: CoveredData::ALL.into(),
                    last_heard: Some(last_heard),
                    expected_by: Some(last_heard.saturating_add(Duration::from_mins(10))),
                    status: SourceStatus::Silent,
                })
            }
            EventKind::Gauge => list_values(kind, features.map(|gauge| object(&sample_gauge(&gauge, now)))),
        };
        let id = identifier(webhook, kind, [(now, 0, 0)]);
        Self { id, kind, at: now, values, ack: Ack::Entries(Vec::new()) }
    }

    /// Returns the variables of templates. Common variables take precedence over those of the event.
    pub(super) fn variables(&self, common: &Values) -> Values {
        let mut variables = self.values.clone();
        variables.extend(common.clone());
        variables.insert("webhook_id".to_owned(), json!(self.id));
        variables.insert("type".to_owned(), json!(self.kind.name()));
        variables.insert("timestamp".to_owned(), json!(self.at));
        variables
    }

    pub(super) fn json(&self) -> Vec<u8> {
        json!({ "type": self.kind.name(), "timestamp": self.at, "data": self.values })
            .to_string()
            .into_bytes()
    }
}

fn report_values(mut values: Values, [lng, lat]: [f64; 2], holder: Option<&CardHolder>) -> Values {
    values.extend([("lat".to_owned(), json!(lat)), ("lng".to_owned(), json!(lng))]);
    if let Some(holder) = holder {
        values.extend([
            ("network".to_owned(), json!(holder.network)),
            ("username".to_owned(), json!(holder.username)),
            ("language".to_owned(), json!(holder.language)),
            ("network_data".to_owned(), json!(holder.network_data)),
        ]);
    }
    values
}

fn sample_gauge(properties: &Values, now: Timestamp) -> GaugeReport {
    let text = |key: &str| properties[key].as_str().unwrap_or_default().to_owned();
    GaugeReport {
        gaugeid: text("gaugeid"),
        gaugenameid: text("gaugenameid"),
        status: GaugeStatus::Silent,
        last_heard: Some(now.saturating_sub(Duration::from_hours(1))),
        silent_since: Some(now),
        muted: None,
        lat: -6.633_43,
        lng: 106.837_16,
    }
}

fn list_values(kind: EventKind, entries: impl Iterator<Item = Values>) -> Values {
    let name = match kind {
        EventKind::Alert => "alerts",
        EventKind::Gauge => "gauges",
        _ => "areas",
    };
    Map::from_iter([(name.to_owned(), entries.map(Value::Object).collect())])
}

pub(super) fn object(properties: &impl serde::Serialize) -> Values {
    match serde_json::to_value(properties) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// Derives the identifier from the content of the event, so that a request repeated after a crash has the same identifier.
fn identifier(
    webhook: &str,
    kind: EventKind,
    parts: impl IntoIterator<Item = (Timestamp, u64, u8)>,
) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(format!("{webhook}\n{}", kind.name()).as_bytes());
    for (at, number, state) in parts {
        hash.update(&at.to_utc().timestamp_millis().to_be_bytes());
        hash.update(&number.to_be_bytes());
        hash.update(&[state]);
    }
    let mut id = "msg_".to_owned();
    id.push_str(&hash.finalize().to_hex()[..32]);
    id
}
