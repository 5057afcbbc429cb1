use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use futures::future::join_all;
use reqwest::Client;
use serde_json::{Value, json};
use tracing::{info, warn};

use super::collector::{Collector, MAX_AGE, Omissions};
use super::feed::{Alert, Feed};
use super::gauge::GaugeState;
use super::schedule::Schedule;
use super::siaga::SiagaClient;
use super::source::{self, Failure};

/// The most observations of a body: about 40 KB. Siaga accepts 100 KiB by default.
const MAX_OBSERVATIONS: usize = 500;
/// The most gauges of a feed that are sent at the same time.
const MAX_CONNECTIONS: usize = 4;
/// The alert level of a gauge without alarm.
const NORMAL: u8 = 4;
/// The most rejected gauges of a round that are logged.
const MAX_LOGGED: usize = 10;

/// Reads one feed and sends what is new. Remembers in memory what Siaga has accepted.
#[derive(Debug)]
pub struct FeedReader {
    feed: Feed,
    client: Client,
    siaga: Arc<SiagaClient>,
    gauges: HashMap<String, GaugeState>,
    fetch: Schedule,
    send: Schedule,
}

/// What happened in a round.
#[derive(Debug, Default)]
pub struct Round {
    /// Whether the feed or Siaga failed.
    pub failed: bool,
    /// The number of readings that Siaga accepted.
    pub sent: usize,
    /// A line for each reason why readings were left out.
    pub omissions: Vec<String>,
    /// Siaga's message for each gauge that it rejected.
    pub rejected: Vec<String>,
}

impl FeedReader {
    /// Creates a reader whose first round is due at once.
    pub(crate) fn new(feed: Feed, siaga: Arc<SiagaClient>, timeout: Duration) -> Result<Self, String> {
        let (fetch, send) = (Schedule::default(), Schedule::default());
        Ok(Self { feed, client: source::client(timeout)?, siaga, gauges: HashMap::new(), fetch, send })
    }

    /// Reads the feed and sends new readings, each if it is due.
    pub async fn round(&mut self, now: DateTime<Utc>) -> Round {
        let mut round = Round::default();
        if self.fetch.wait(now).is_zero() {
            self.read(now, &mut round).await;
        }
        if self.send.wait(now).is_zero() {
            self.send(now, &mut round).await;
        }
        round
    }

    /// Reads the feed and sends nothing. Returns also what would be sent, with a line for each gauge.
    pub async fn preview(&mut self, now: DateTime<Utc>) -> (Round, String) {
        let mut round = Round::default();
        self.read(now, &mut round).await;
        let describe = |(id, state): (&String, &GaugeState)| {
            let (at, level) = state.pending.last_key_value()?;
            Some(format!("\n  {id:?}: {}", self.body(id, state, &[(*at, *level)])))
        };
        let mut gauges: Vec<_> = self.gauges.iter().filter_map(describe).collect();
        gauges.sort_unstable();
        (round, format!("feed {}: {} gauges to send{}", self.feed.name, gauges.len(), gauges.concat()))
    }

    /// Returns the time until the next round is due.
    #[must_use]
    pub fn wait(&self, now: DateTime<Utc>) -> Duration {
        let fetch = self.fetch.wait(now);
        let has_pending = self.gauges.values().any(|state| !state.pending.is_empty());
        if has_pending { fetch.min(self.send.wait(now)) } else { fetch }
    }

    async fn read(&mut self, now: DateTime<Utc>, round: &mut Round) {
        let Self { feed, client, gauges, .. } = self;
        let mut collector = Collector { feed, now, gauges, omissions: Omissions::default() };
        let result = source::read(client, &mut collector).await;
        let (mut omissions, oldest) = (collector.omissions, now.timestamp_millis() - MAX_AGE);
        gauges.retain(|id, GaugeState { location, sent, pending, .. }| {
            let mut sendable = if location.is_some() { std::mem::take(pending) } else { BTreeMap::new() };
            omissions.add(("the gauge has no location: set `location`", ""), pending.len(), id);
            *pending = sendable.split_off(&oldest);
            omissions.add(("Siaga did not accept it within 24 hours", ""), sendable.len(), id);
            !pending.is_empty() || *sent >= Some(oldest)
        });
        for line in omissions.lines() {
            warn!("feed {}: {line}", feed.name);
            round.omissions.push(line);
        }
        match result {
            Ok(()) => self.fetch.succeeded(now, feed.every()),
            Err(failure) => pause(&mut self.fetch, now, &failure, &feed.name, round),
        }
    }

    /// Sends the oldest readings of each gauge. If Siaga fails, the others remain for the next round.
    async fn send(&mut self, now: DateTime<Utc>, round: &mut Round) {
        let oldest = |(id, state): (&String, &GaugeState)| Some((*state.pending.keys().next()?, id.clone()));
        let mut ids: Vec<_> = self.gauges.iter().filter_map(oldest).collect();
        // Oldest first, so that no gauge waits for ever if Siaga accepts only some in each round.
        ids.sort_unstable();
        let (mut chunks, mut failure) = (ids.chunks(MAX_CONNECTIONS), None);
        while let Some(ids) = chunks.next().filter(|_| failure.is_none()) {
            let results = join_all(ids.iter().map(|(_, id)| self.put(id, now))).await;
            for ((_, id), (levels, result)) in ids.iter().zip(results) {
                // Also after a rejection: these readings would be rejected again.
                let newest = levels.last().map(|(at, _)| *at).filter(|_| result.is_ok());
                match result {
                    Ok(None) => round.sent += levels.len(),
                    Ok(Some(message)) => round.rejected.push(format!("{id:?}: {message}")),
                    Err(error) => failure = Some(error),
                }
                if let (Some(state), Some(newest)) = (self.gauges.get_mut(id), newest) {
                    state.sent = Some(newest);
                    state.pending = state.pending.split_off(&(newest + 1));
                }
            }
        }
        match failure {
            None => self.send.succeeded(now, Duration::ZERO),
            Some(error) => pause(&mut self.send, now, &error, &format!("{}: Siaga", self.feed.name), round),
        }
        for line in round.rejected.iter().take(MAX_LOGGED) {
            warn!("feed {}: Siaga rejects gauge {line}", self.feed.name);
        }
        let (name, sent, rejected) = (&self.feed.name, round.sent, round.rejected.len());
        info!("feed {name}: sent {sent} readings, {rejected} gauges rejected");
    }

    /// Sends the oldest readings of a gauge. Returns them with Siaga's response.
    async fn put(&self, id: &str, now: DateTime<Utc>) -> (Vec<(i64, f64)>, Result<Option<String>, Failure>) {
        let state = &self.gauges[id];
        let levels: Vec<_> = state.pending.clone().into_iter().take(MAX_OBSERVATIONS).collect();
        let result = self.siaga.put(&self.body(id, state, &levels), now).await;
        (levels, result)
    }

    /// Returns the body of `PUT /floodgauges`.
    fn body(&self, id: &str, state: &GaugeState, levels: &[(i64, f64)]) -> Value {
        let settings = self.feed.gauge(id);
        // Siaga computes the alert level from thresholds.
        let is_normal = settings.thresholds.is_empty() && self.feed.alert == Some(Alert::Normal);
        let alert = is_normal.then_some(NORMAL);
        let observation = |&(at, level): &(i64, f64)| {
            let at = DateTime::from_timestamp_millis(at).unwrap_or_default();
            json!({ "observed_at": at.to_rfc3339_opts(SecondsFormat::Millis, true), "level": level, "alert": alert })
        };
        let mut body = json!({
            "gaugeid": self.feed.gaugeid(id),
            "gaugenameid": state.name.as_deref().unwrap_or(id),
            "location": state.location,
            "observations": levels.iter().map(observation).collect::<Vec<_>>(),
        });
        if !settings.thresholds.is_empty() {
            body["thresholds"] = json!(settings.thresholds);
        }
        body
    }
}

/// Lets a schedule wait after a failure.
fn pause(schedule: &mut Schedule, now: DateTime<Utc>, failure: &Failure, name: &str, round: &mut Round) {
    let pause = schedule.failed(now, failure.retry_after);
    warn!("feed {name}: {}; trying again in {pause:?}", failure.reason);
    round.failed = true;
}
