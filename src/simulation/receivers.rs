use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rocket::tokio::time::sleep;
use serde_json::Value;

use super::history::History;
use super::random::Random;
use crate::model::Timestamp;
use crate::webhooks::{Outcome, Request, TIMEOUT, Transport};

/// How long after it was hidden a report may still be sent: the time of the reads before the request.
const HIDING: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    Accepts,
    IsSlow,
    Fails,
    Hangs,
    RejectsSome,
    AsksToWait,
}

impl Behaviour {
    pub(super) const ALL: [Self; 6] =
        [Self::Accepts, Self::IsSlow, Self::Fails, Self::Hangs, Self::RejectsSome, Self::AsksToWait];
}

/// The receivers of all webhooks. The name of a webhook is the type of its events.
#[derive(Debug)]
pub(super) struct Receivers {
    pub(super) random: Arc<Random>,
    pub(super) history: Arc<History>,
    behaviours: Mutex<BTreeMap<String, Behaviour>>,
    pub(super) deliveries: Mutex<Deliveries>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    /// The identifiers of the requests about each report.
    report_ids: BTreeMap<u64, String>,
    pub(super) accepted_reports: BTreeSet<u64>,
    pub(super) rejected_reports: BTreeSet<u64>,
    /// Areas of requests that the receiver has rejected, by list.
    pub(super) rejected: BTreeSet<(String, String)>,
    /// The newest time sent for each area.
    sent_times: BTreeMap<String, Timestamp>,
    /// The last accepted entry of each list and area, with the number of its request.
    pub(super) accepted: BTreeMap<(String, String), (u64, Value)>,
    requests: u64,
}

impl Receivers {
    pub(super) fn new(random: Arc<Random>, history: Arc<History>) -> Self {
        let (behaviours, deliveries) = (Mutex::default(), Mutex::default());
        Self { random, history, behaviours, deliveries }
    }

    pub(super) fn behave(&self, kind: &str, behaviour: Behaviour) {
        self.behaviours.lock().unwrap().insert(kind.to_owned(), behaviour);
    }

    /// Checks what a request contains when it is sent. Returns its number.
    fn check_request(&self, server: usize, id: &str, kind: &str, data: &Value) -> u64 {
        if let Some(since) = self.history.without_lease_for(server) {
            self.history
                .violate(format_args!("server {server} sends {since:?} after another took the lease"));
        }
        let mut deliveries = self.deliveries.lock().unwrap();
        if kind == "report" {
            let key = report_key(data);
            if self.history.is_hidden(key.try_into().unwrap(), HIDING) {
                self.history.violate(format_args!("report {key} is sent though it is hidden"));
            }
            if deliveries.report_ids.entry(key).or_insert_with(|| id.to_owned()) != id {
                self.history.violate(format_args!("report {key} is sent with two identifiers"));
            }
        }
        for entry in entries(data).filter(|_| kind == "state") {
            let area = entry["area_id"].as_str().unwrap();
            let at = Timestamp::parse(entry["last_updated"].as_str().unwrap()).unwrap();
            let newest = deliveries.sent_times.entry(area.to_owned()).or_insert(at);
            if at < *newest {
                self.history.violate(format_args!("area {area} is sent as of {at} after {newest}"));
            }
            *newest = (*newest).max(at);
        }
        deliveries.requests += 1;
        deliveries.requests
    }

    fn accept(&self, number: u64, kind: &str, data: &Value) {
        let mut deliveries = self.deliveries.lock().unwrap();
        if kind == "report" {
            deliveries.accepted_reports.insert(report_key(data));
        }
        for entry in entries(data) {
            let area = entry["area_id"].as_str().unwrap().to_owned();
            let last = deliveries.accepted.entry((kind.to_owned(), area)).or_default();
            if last.0 < number {
                *last = (number, entry.clone());
            }
        }
    }

    fn reject(&self, kind: &str, data: &Value) {
        let mut deliveries = self.deliveries.lock().unwrap();
        if kind == "report" {
            deliveries.rejected_reports.insert(report_key(data));
        }
        for entry in entries(data) {
            let area = entry["area_id"].as_str().unwrap().to_owned();
            deliveries.rejected.insert((kind.to_owned(), area));
        }
    }
}

fn report_key(data: &Value) -> u64 {
    data["pkey"].as_str().unwrap().parse().unwrap()
}

fn entries(data: &Value) -> impl Iterator<Item = &Value> {
    let list = data.get("areas").or(data.get("alerts")).and_then(Value::as_array);
    list.into_iter().flatten()
}

pub(super) struct Client {
    pub(super) server: usize,
    pub(super) receivers: Arc<Receivers>,
}

#[async_trait]
impl Transport for Client {
    async fn send(&self, request: Request) -> Outcome {
        let Receivers { random, history, behaviours, .. } = &*self.receivers;
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let id = request.headers["webhook-id"].to_str().unwrap();
        let (kind, data) = (body["type"].as_str().unwrap(), &body["data"]);
        let number = self.receivers.check_request(self.server, id, kind, data);
        let behaviour = behaviours.lock().unwrap().get(kind).copied().unwrap_or(Behaviour::Accepts);
        history.note(format_args!("server {} sends {kind} {id}: {behaviour:?}", self.server));
        let (status, retry_after) = match behaviour {
            Behaviour::RejectsSome if random.has_luck(50) => (400, None),
            Behaviour::Accepts | Behaviour::RejectsSome => (200, None),
            Behaviour::IsSlow => {
                sleep(Duration::from_millis(random.below(10_000))).await;
                (204, None)
            }
            Behaviour::Fails => (503, None),
            Behaviour::Hangs => {
                // The receiver may have the event although it does not respond.
                sleep(TIMEOUT).await;
                return Outcome::Failed("the time is over".to_owned());
            }
            Behaviour::AsksToWait => (429, Some(Duration::from_secs(random.below(100)))),
        };
        match status {
            200 | 204 => self.receivers.accept(number, kind, data),
            400 => self.receivers.reject(kind, data),
            _ => {}
        }
        Outcome::Response { status, retry_after }
    }
}
