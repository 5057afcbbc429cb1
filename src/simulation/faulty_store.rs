use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rocket::tokio::time::{Instant, sleep};
use serde_json::Value;

use super::history::History;
use super::random::Random;
use crate::model::alerts::LogEntry;
use crate::model::bodies::PartnerReport;
use crate::model::{
    AreaId, BatchOutcome, BatchRequest, Card, CardHolder, CardId, Clock, FloodChange, FloodLayer, GaugeLayer,
    HiddenReports, HideWaiting, Moderation, ModerationEntry, Places, Report, ReportContent, ReportKey,
    ReportLayer, Timestamp, WaitingOrigin, WaitingReports,
};
use crate::stores::{
    Decorator, EntryQuery, FloodQuery, GaugeQuery, ModerationQuery, ReceiveOutcome, ReportQuery, Resource,
    Revision, SetFloodState, Store, StoreError, Versioned, WaitingQuery, WebhookState,
};

/// How far the revision of one server may be behind the writes of others. [`Store::revision`] allows a second.
const MAX_LAG: Duration = Duration::from_millis(900);

/// How long a call takes without faults. The slower the store, the less often the followers poll it.
const USUAL_DELAY: Duration = Duration::from_millis(5);

/// How often and how long the store fails, for all servers.
#[derive(Debug)]
pub(super) struct StoreFaults {
    pub(super) random: Arc<Random>,
    pub(super) failing_percent: u64,
    pub(super) longest_millis: u64,
    pub(super) lags: bool,
    pub(super) happen: AtomicBool,
}

impl StoreFaults {
    /// Draws how often the store fails, and how long a call takes, up to `longest_millis`.
    pub(super) fn new(random: &Arc<Random>, longest_millis: u64, lags: bool) -> Self {
        Self {
            failing_percent: random.pick(&[0, 0, 2, 10]),
            longest_millis: random.pick(&[1, 20, 300, 1_000]).min(longest_millis),
            lags,
            happen: AtomicBool::new(false),
            random: Arc::clone(random),
        }
    }
}

/// The store as one server sees it: slow, failing before or after the effect, sometimes out of reach, and with revisions that
/// show the writes of other servers late.
#[derive(Debug)]
pub(super) struct FaultyStore {
    pub(super) server: usize,
    pub(super) inner: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) faults: Arc<StoreFaults>,
    pub(super) history: Arc<History>,
    pub(super) is_away: AtomicBool,
    seen: Mutex<HashMap<Resource, (Instant, Revision)>>,
}

impl FaultyStore {
    pub(super) fn new(
        server: usize,
        inner: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        faults: Arc<StoreFaults>,
        history: Arc<History>,
    ) -> Self {
        let (is_away, seen) = (AtomicBool::new(false), Mutex::default());
        Self { server, inner, clock, faults, history, is_away, seen }
    }

    async fn fail_perhaps(&self) -> Result<(), StoreError> {
        let StoreFaults { random, failing_percent, longest_millis, .. } = &*self.faults;
        if !self.faults.happen.load(Ordering::Relaxed) {
            sleep(USUAL_DELAY).await;
            return Ok(());
        }
        if random.has_luck(50) {
            sleep(Duration::from_millis(random.below(longest_millis + 1))).await;
        }
        if self.is_away.load(Ordering::Relaxed) || random.has_luck(*failing_percent) {
            let retry_after = Duration::from_secs(1);
            return Err(StoreError::Unavailable { retry_after, source: "a fault on purpose".into() });
        }
        Ok(())
    }

    /// Forgets the revisions, because a server sees its own writes at once.
    async fn record_write(&self) {
        self.seen.lock().unwrap().clear();
        self.history.record_states(self.server).await;
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with faults", self.inner)
    }
}

/// Implements methods that fail before the inner store has an effect, or after it. Reads and writes differ in the record.
macro_rules! faulty {
    (
        reads { $(async fn $read:ident($($read_argument:ident: $read_type:ty),*) -> $read_result:ty;)+ }
        writes { $(async fn $write:ident($($write_argument:ident: $write_type:ty),*) -> $write_result:ty;)+ }
    ) => {
        #[async_trait]
        impl Decorator for FaultyStore {
            fn inner(&self) -> &dyn Store {
                &*self.inner
            }

            $(async fn $read(&self, $($read_argument: $read_type),*) -> Result<$read_result, StoreError> {
                self.fail_perhaps().await?;
                self.inner.$read($($read_argument),*).await
            })+

            $(async fn $write(&self, $($write_argument: $write_type),*) -> Result<$write_result, StoreError> {
                self.fail_perhaps().await?;
                let result = self.inner.$write($($write_argument),*).await;
                self.record_write().await;
                self.fail_perhaps().await?;
                result
            })+

            async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
                self.fail_perhaps().await?;
                let seen = self.seen.lock().unwrap().get(&resource).copied();
                if let Some((at, revision)) = seen
                    && at.elapsed() < MAX_LAG
                    && self.faults.lags
                    && self.faults.happen.load(Ordering::Relaxed)
                    && self.faults.random.has_luck(50)
                {
                    return Ok(revision);
                }
                let at = Instant::now();
                let revision = self.inner.revision(resource).await?;
                self.seen.lock().unwrap().insert(resource, (at, revision));
                Ok(revision)
            }

            async fn put_webhook_state(&self, name: &str, version: u64, text: &str) -> Result<bool, StoreError> {
                self.fail_perhaps().await?;
                let is_stored = self.inner.put_webhook_state(name, version, text).await?;
                if name == "*" && is_stored {
                    let until = serde_json::from_str::<Value>(text).unwrap()["until"].as_i64().unwrap();
                    self.history.record_lease((until != 0).then_some(self.server));
                }
                self.fail_perhaps().await?;
                Ok(is_stored)
            }
        }
    };
}

faulty! {
    reads {
        async fn floods(query: &FloodQuery) -> Versioned<FloodLayer>;
        async fn flood_entries(query: &EntryQuery) -> Versioned<Vec<(AreaId, Vec<LogEntry>)>>;
        async fn reports(query: &ReportQuery) -> Versioned<ReportLayer>;
        async fn report(key: ReportKey) -> Versioned<Arc<Report>>;
        async fn reports_from(first: Option<ReportKey>, most: u32) -> Vec<Arc<Report>>;
        async fn waiting_reports(query: WaitingQuery) -> WaitingReports;
        async fn moderation_log(query: ModerationQuery) -> Versioned<Vec<ModerationEntry>>;
        async fn card(id: &CardId) -> Arc<Card>;
        async fn gauges(query: &GaugeQuery) -> Versioned<GaugeLayer>;
        async fn recent_readings(since: Timestamp) -> Versioned<GaugeLayer>;
        async fn places() -> Versioned<Arc<Places>>;
        async fn webhook_states() -> BTreeMap<String, WebhookState>;
        async fn open_writes() -> BTreeSet<String>;
        async fn last_heard() -> BTreeMap<String, Timestamp>;
    }
    writes {
        async fn set_flood_state(change: SetFloodState) -> FloodChange;
        async fn change_floods(request: BatchRequest) -> BatchOutcome;
        async fn create_card_as(id: &CardId, holder: CardHolder) -> Arc<Card>;
        async fn receive_card_report(id: &CardId, content: ReportContent) -> Arc<Report>;
        async fn receive_waiting_report(id: &CardId, content: ReportContent, origin: WaitingOrigin) -> Arc<Report>;
        async fn receive_partner_report(report: PartnerReport) -> ReceiveOutcome;
        async fn show_card_image(id: &CardId, image: &str) -> bool;
        async fn moderate(moderation: &Moderation) -> bool;
        async fn hide_waiting(request: &HideWaiting) -> HiddenReports;
    }
}
