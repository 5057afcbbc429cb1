use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::config::{EventKind, WebhookSettings};
use crate::model::{
    Card, CardHolder, CoveredData, LayerKind, MapLayer as _, Reason, Report, ReportKey, ReportLayer,
    SourceStatus, Timestamp,
};
use crate::schema::resources::{Sample, sample};
use crate::sources::SourceReport;

/// The values of an event or of a part of it, by their names.
pub(super) type Values = Map<String, Value>;

/// Something that a call sends.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Identifies it: a repeated call has the same.
    pub(super) id: String,
    pub(super) kind: EventKind,
    pub(super) at: Timestamp,
    pub(super) values: Values,
    pub(super) ack: Ack,
}

/// What a checkpoint records once an event is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ack {
    Report(ReportKey),
    /// The marks of entries of a list, by their keys; `None` removes one.
    Entries(Vec<(String, Option<String>)>),
}

/// An entry of a list: the newest change of an area, an alert, an area that needs attention, or a source. Each has a key of its own.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Distinguishes this entry from earlier ones with its key. An entry without a mark is sent only after one with a mark.
    pub(super) mark: Option<String>,
    pub(super) at: Timestamp,
    pub(super) values: Values,
    /// What the identifier of its event is made of: a time, the area, and a state.
    id: (Timestamp, u64, u8),
}

impl Entry {
    pub(super) fn area(area: u64, mark: String, at: Timestamp, values: Values) -> Self {
        Self { key: area.to_string(), mark: Some(mark), at, values, id: (at, area, 0) }
    }

    /// Returns the entry of a source. Its event has waited since `since`.
    pub(super) fn source(source: &SourceReport, since: Timestamp) -> Self {
        let is_silent = source.status == SourceStatus::Silent;
        let heard = source.last_heard.unwrap_or(Timestamp::EPOCH);
        Self {
            key: source.name.clone(),
            mark: is_silent.then(String::new),
            at: since,
            values: object(source),
            id: (heard, 0, is_silent.into()),
        }
    }

    pub(super) fn ack(&self) -> (String, Option<String>) {
        (self.key.clone(), self.mark.clone())
    }

    /// Returns the key by which entries are sorted: the oldest first.
    pub(super) fn order(&self) -> (Timestamp, u64) {
        (self.at, self.id.1)
    }
}

impl Event {
    /// Returns the event that a report was received. With its card, it has what the network needs to reach its sender.
    pub(super) fn report(call: &str, report: &Arc<Report>, photos: &Arc<str>, card: Option<&Card>) -> Self {
        let layer = ReportLayer::from(vec![Arc::clone(report)]).with_photos_at(Arc::clone(photos));
        let place = report.content.location.coord();
        let properties = object(&layer.feature(0).1);
        let values = report_values(properties, [place.x, place.y], card.map(|card| &card.holder));
        let at = report.content.created_at;
        let id = identifier(call, EventKind::Report, [(at, report.key.number(), 0)]);
        Self { id, kind: EventKind::Report, at, values, ack: Ack::Report(report.key) }
    }

    /// Returns the event of entries of a list: of one source, or of at least one alert or area.
    pub(super) fn entries(call: &str, kind: EventKind, entries: &[&Entry]) -> Self {
        let ids = entries.iter().map(|entry| entry.id);
        let (id, values) = match entries {
            [source] if kind == EventKind::Source => {
                (identifier(&format!("{call}\n{}", source.key), kind, ids), source.values.clone())
            }
            _ => {
                let all = entries.iter().map(|entry| entry.values.clone());
                (identifier(call, kind, ids), list_values(kind, all))
            }
        };
        let at = entries.iter().map(|entry| entry.at).min().unwrap_or(Timestamp::EPOCH);
        let ack = Ack::Entries(entries.iter().map(|entry| entry.ack()).collect());
        Self { id, kind, at, values, ack }
    }

    /// Returns a made-up event of a call, with texts that are easy to get wrong if it is `hostile`.
    pub(super) fn sample(call: &str, settings: &WebhookSettings, hostile: Sample, now: Timestamp) -> Self {
        let kind = settings.on;
        let layer = match kind {
            EventKind::Report => LayerKind::Reports,
            EventKind::Alert => LayerKind::Alerts,
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
                let since = now.before(Duration::from_hours(20));
                let lapses = since.after(Duration::from_hours(24));
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
                let heard = now.before(Duration::from_hours(1));
                object(&SourceReport {
                    name: "river-gauges".to_owned(),
                    covers: CoveredData::ALL.into(),
                    last_heard: Some(heard),
                    expected_by: Some(heard.after(Duration::from_mins(10))),
                    status: SourceStatus::Silent,
                })
            }
        };
        let id = identifier(call, kind, [(now, 0, 0)]);
        Self { id, kind, at: now, values, ack: Ack::Entries(Vec::new()) }
    }

    /// Returns the values for templates: those of the event, and those that every event has.
    pub(super) fn variables(&self, common: &Values) -> Values {
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

/// Returns the values of a report with these properties.
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

/// Returns the values of several alerts or areas.
fn list_values(kind: EventKind, entries: impl Iterator<Item = Values>) -> Values {
    let name = if kind == EventKind::Alert { "alerts" } else { "areas" };
    Map::from_iter([(name.to_owned(), entries.map(Value::Object).collect())])
}

/// Returns the properties of something that is a JSON object.
pub(super) fn object(properties: &impl serde::Serialize) -> Values {
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
