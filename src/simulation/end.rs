//! The end of a simulation: everything works again, and everything must have arrived.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rocket::tokio::time::sleep;
use serde_json::{Value, json};

use super::World;
use super::receivers::Behaviour;
use super::server::EVENTS;
use crate::fixture;
use crate::model::{Clock, FloodState, ReportKey};
use crate::stores::{AlertQuery, FloodQuery};

/// The longest wait between two tries of a webhook, with its jitter.
const LONGEST_WAIT: Duration = Duration::from_secs(380);
/// How many of these waits may pass until everything has arrived.
const MOST_WAITS: usize = 8;
/// What the servers need to poll, to renew the lease, and to send.
const MOMENT: Duration = Duration::from_secs(12);

impl World {
    /// Repairs everything, waits, and checks what must be so at the end.
    pub(super) async fn end(&mut self) {
        if self.history.has_violations() {
            return;
        }
        self.history.note("everything works again");
        while let Some(ended) = self.clients.join_next().await {
            ended.unwrap();
        }
        self.faults.happen.store(false, Ordering::Relaxed);
        self.store_clock.step_to(0);
        for server in &self.servers {
            server.store.is_away.store(false, Ordering::Relaxed);
            server.clock.step_to(0);
        }
        for kind in EVENTS {
            self.receivers.behave(kind, Behaviour::Accepts);
        }
        let mut missing = Vec::new();
        for _ in 0..MOST_WAITS {
            sleep(MOMENT).await;
            missing = self.missing_deliveries().await;
            if missing.is_empty() {
                break;
            }
            if !self.is_in_real_time {
                self.pass(LONGEST_WAIT).await;
            }
        }
        for missing in missing {
            self.history.violate(missing);
        }
        for number in 0..self.servers.len() {
            for reader in 0..self.readers.len() {
                let running = self.servers[number].running.as_ref().unwrap();
                let store = &self.servers[number].store;
                self.readers[reader].read(&self.history, store, &running.follower).await;
                self.readers[reader].check_end(&self.history, &*self.store).await;
            }
            self.check_alerts(number).await;
            self.check_attention(number).await;
        }
        self.workload.check(&*self.store).await;
    }

    async fn missing_deliveries(&self) -> Vec<String> {
        let deliveries = self.receivers.deliveries.lock().unwrap().clone();
        let first = ReportKey::try_from(fixture::reports().len() as u64 + 1).unwrap();
        let reports = self.store.reports_from(Some(first), 1_000).await.unwrap();
        let reports = reports.iter().map(|report| report.key).filter(|key| {
            !self.history.was_moderated(*key)
                && !deliveries.accepted_reports.contains(&key.number())
                && !deliveries.rejected_reports.contains(&key.number())
        });
        let mut missing: Vec<_> = reports.map(|key| format!("report {key} was not sent")).collect();
        let mut expected = Vec::new();
        for area in &fixture::areas() {
            let last = self.store.flood_log(area.id).await.unwrap().pop();
            if let Some(last) = last.filter(|last| last.received >= fixture::now()) {
                let state = last.state.map(FloodState::code);
                expected.push((
                    "state",
                    area.id,
                    vec![("state", json!(state)), ("last_updated", json!(last.at))],
                ));
            }
        }
        let now = self.store_clock.now();
        let alerts = AlertQuery::InForce(FloodQuery::default()).run(&*self.store, now).await.unwrap().value;
        for alert in alerts.features().filter(|alert| alert.message.sent >= fixture::now()) {
            expected.push(("alert", alert.area.id, vec![("sent", json!(alert.message.sent))]));
        }
        for (kind, area, members) in expected {
            let key = (kind.to_owned(), area.to_string());
            let last = deliveries.accepted.get(&key).map_or(&Value::Null, |(_, entry)| entry);
            let is_sent = members.iter().all(|(name, value)| last[name] == *value);
            if !is_sent && !deliveries.rejected.contains(&key) {
                missing.push(format!("the {kind} {members:?} of area {area} was not sent, but {last}"));
            }
        }
        missing
    }
}
