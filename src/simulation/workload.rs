//! What officers, residents, partners and moderators do, with retries as in real life, and what was acknowledged to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use super::faulty_store::FaultyStore;
use super::history::{History, read_states};
use super::random::Random;
use crate::fixture;
use crate::model::alerts::LogEntry;
use crate::model::bodies::PartnerReport;
use crate::model::{
    Actor, AreaId, AreaLimit, AreaSelector, BatchItem, BatchOperation, BatchOutcome, BatchRequest,
    CardHolder, CardId, Condition, DisasterType, FloodBatch, FloodState, HideWaiting, Moderation,
    ModerationAction, ReportContent, ReportKey, RequestKey, SenderHash, Timestamp, WaitingOrigin,
};
use crate::stores::{
    CardStore, EntryQuery, FeedStore, FloodStore, ModerationStore, SetFloodState, Store, StoreError,
};

const TRIES: usize = 3;
const AREAS: [u64; 5] = [1, 2, 5, 10, 30];

#[derive(Debug)]
pub(super) struct Workload {
    random: Arc<Random>,
    history: Arc<History>,
    batches: Mutex<Vec<(BatchRequest, Arc<FloodBatch>)>>,
    cards: Mutex<Vec<(CardId, ReportKey)>>,
    reports: Mutex<Vec<ReportKey>>,
    /// The posts that partners sent, and whether one of the tries was acknowledged.
    posts: Mutex<BTreeMap<i64, bool>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Set,
    Batch,
    RepeatBatch,
    Undo,
    Report,
    WaitingReport,
    Photo,
    Post,
    Moderate,
    HideSender,
}

impl Operation {
    pub(super) const ALL: [Self; 10] = [
        Self::Set,
        Self::Batch,
        Self::RepeatBatch,
        Self::Undo,
        Self::Report,
        Self::WaitingReport,
        Self::Photo,
        Self::Post,
        Self::Moderate,
        Self::HideSender,
    ];
}

fn sender(number: u64) -> SenderHash {
    SenderHash::new(number.to_be_bytes())
}

fn actor(subject: &str) -> Actor {
    Actor { subject: subject.to_owned(), username: None }
}

/// Tries until the store responds, at most [`TRIES`] times. `None`: nobody knows whether it had an effect.
async fn retried<T>(call: impl AsyncFn() -> Result<T, StoreError>) -> Option<Result<T, StoreError>> {
    for _ in 0..TRIES {
        match call().await {
            Err(StoreError::Unavailable { .. }) => {}
            known => return Some(known),
        }
    }
    None
}

impl Workload {
    pub(super) fn new(random: Arc<Random>, history: Arc<History>) -> Self {
        let (batches, cards) = (Mutex::default(), Mutex::default());
        Self { random, history, batches, cards, reports: Mutex::default(), posts: Mutex::default() }
    }

    pub(super) async fn run(self: Arc<Self>, operation: Operation, store: Arc<FaultyStore>) {
        let store = &*store;
        match operation {
            Operation::Set => self.set(store).await,
            Operation::Batch => self.batch(store).await,
            Operation::RepeatBatch => self.repeat_batch(store).await,
            Operation::Undo => self.undo(store).await,
            Operation::Report => self.report(store, None).await,
            Operation::WaitingReport => {
                let (sender, is_suspect) = (sender(self.random.below(3)), self.random.has_luck(20));
                self.report(store, Some(WaitingOrigin { sender: Some(sender), is_suspect })).await;
            }
            Operation::Photo => self.photo(store).await,
            Operation::Post => self.post(store).await,
            Operation::Moderate => self.moderate(store).await,
            Operation::HideSender => self.hide_sender(store).await,
        }
    }

    fn area(&self) -> AreaId {
        fixture::id(self.random.pick(&AREAS))
    }

    fn state(&self) -> Option<FloodState> {
        FloodState::try_from(self.random.below(5)).ok()
    }

    async fn set(&self, store: &FaultyStore) {
        let (area, state) = (self.area(), self.state());
        let change = store
            .set_flood_state(SetFloodState {
                area,
                state,
                by: actor("officer"),
                limit: AreaLimit::Everywhere,
            })
            .await;
        self.history.note(format_args!(
            "server {} sets area {area} to {state:?}: {}",
            store.server,
            match &change {
                Ok(change) => change.at.to_string(),
                Err(error) => error.to_string(),
            }
        ));
    }

    async fn batch(&self, store: &FaultyStore) {
        let Ok(states) = read_states(store).await else { return };
        let mut areas = AREAS.map(fixture::id).to_vec();
        areas.retain(|_| self.random.has_luck(50));
        let items = areas.into_iter().map(|area| BatchItem {
            area,
            state: self.state(),
            after: match states.get(&area) {
                _ if self.random.has_luck(30) => Condition::Any,
                Some((_, set_at, _)) => Condition::SetAt(*set_at),
                None => Condition::Dry,
            },
        });
        let changes = BatchOperation::Set(items.collect());
        self.send_batch(store, changes).await;
    }

    async fn send_batch(&self, store: &FaultyStore, changes: BatchOperation) {
        let id = u128::from(self.random.below(u64::MAX));
        let request = BatchRequest {
            changes,
            by: actor("officer"),
            limit: AreaLimit::Everywhere,
            note: None,
            request: Some(RequestKey { id, digest: [0; 32] }),
            preview: false,
        };
        let outcome = retried(async || store.change_floods(request.clone()).await).await;
        self.history.note(format_args!("server {} changes areas: {outcome:?}", store.server));
        if let Some(Ok(BatchOutcome::Done { batch, .. })) = outcome {
            self.batches.lock().unwrap().push((request, batch));
        }
    }

    fn random_batch(&self) -> Option<(BatchRequest, Arc<FloodBatch>)> {
        let batches = self.batches.lock().unwrap();
        (!batches.is_empty()).then(|| batches[self.random.index(batches.len())].clone())
    }

    /// Sends an acknowledged request again, as a phone does that comes back into the network.
    async fn repeat_batch(&self, store: &FaultyStore) {
        let Some((request, first)) = self.random_batch() else { return };
        match store.change_floods(request).await {
            Ok(BatchOutcome::Done { batch, .. }) if batch == first => {}
            Err(StoreError::Unavailable { .. }) => {}
            other => {
                self.history.violate(format_args!("a repeated batch {first:?} has the outcome {other:?}"));
            }
        }
    }

    async fn undo(&self, store: &FaultyStore) {
        let Some((_, batch)) = self.random_batch() else { return };
        self.send_batch(store, BatchOperation::Undo(batch.number)).await;
    }

    fn content(&self, store: &FaultyStore) -> ReportContent {
        let (east, north) = (self.random.below(50), self.random.below(40));
        let place = fixture::place(east as f64 / 10.0, north as f64 / 10.0);
        ReportContent { created_at: store.clock.now(), ..fixture::content(DisasterType::Flood, 0, place) }
    }

    async fn report(&self, store: &FaultyStore, waits: Option<WaitingOrigin>) {
        let id: CardId = format!("{:014x}", self.random.below(1 << 56)).parse().unwrap();
        let [username, network, language] = ["100200300", "telegram", "id"].map(str::to_owned);
        let holder = CardHolder { username, network, language, network_data: None };
        retried(async || store.create_card_as(&id, holder.clone()).await).await;
        let content = ReportContent { url: Some(id.to_string().into()), ..self.content(store) };
        let received = retried(async || match waits {
            None => store.receive_card_report(&id, content.clone()).await,
            Some(origin) => store.receive_waiting_report(&id, content.clone(), origin).await,
        });
        let outcome = received.await;
        // Of the outcome of a request without a response, the store alone knows.
        let stored = store.inner.card(&id).await.ok().and_then(|card| card.report);
        if let Some(key) = stored.filter(|_| waits.is_some()) {
            self.history.record_hidden(key);
        }
        match outcome {
            Some(Ok(report)) => {
                self.history.note(format_args!("server {} stores report {}", store.server, report.key));
                self.cards.lock().unwrap().push((id, report.key));
            }
            Some(Err(StoreError::Conflict { .. })) if stored.is_some() => {}
            Some(Err(StoreError::NotFound { .. })) if stored.is_none() => {}
            Some(Err(other)) => self.history.violate(format_args!("report of card {id}: {other}")),
            None => {}
        }
        self.reports.lock().unwrap().extend(stored);
    }

    async fn photo(&self, store: &FaultyStore) {
        let cards = self.cards.lock().unwrap().clone();
        if cards.is_empty() {
            return;
        }
        let (card, _) = &cards[self.random.index(cards.len())];
        let shown = store.show_card_image(card, "https://photos.example/1.jpg").await;
        self.history.note(format_args!("server {} shows a photo: {shown:?}", store.server));
    }

    async fn post(&self, store: &FaultyStore) {
        let post_id = i64::try_from(self.random.below(20)).unwrap();
        let content = ReportContent { source: "partner".into(), url: None, ..self.content(store) };
        let report = PartnerReport { post_id, content };
        let outcome = retried(async || store.receive_partner_report(report.clone()).await).await;
        *self.posts.lock().unwrap().entry(post_id).or_default() |= outcome.is_some();
    }

    async fn moderate(&self, store: &FaultyStore) {
        let reports = self.reports.lock().unwrap().clone();
        if reports.is_empty() {
            return;
        }
        let report = reports[self.random.index(reports.len())];
        let action = self.random.pick(&ModerationAction::ALL);
        let (by, reason) = (actor("moderator"), "a test".to_owned());
        let moderation =
            Moderation { report, made_at: None, action, by, limit: AreaLimit::Everywhere, reason };
        let changed = store.moderate(&moderation).await;
        self.history.note(format_args!("server {} moderates {report}, {action}: {changed:?}", store.server));
    }

    async fn hide_sender(&self, store: &FaultyStore) {
        let (sender, by) = (sender(self.random.below(3)), actor("moderator"));
        let request = HideWaiting { sender, by, limit: AreaLimit::Everywhere, reason: "a test".to_owned() };
        let hidden = store.hide_waiting(&request).await;
        self.history.note(format_args!("server {} hides the reports of a sender: {hidden:?}", store.server));
    }

    /// Checks that everything acknowledged is stored, once.
    pub(super) async fn check(&self, store: &dyn Store) {
        let batches = self.batches.lock().unwrap().clone();
        for (request, batch) in &batches {
            let query =
                crate::stores::FloodLogQuery { batch: Some(batch.number), most: 100, ..Default::default() };
            let log = store.all_flood_changes(&query).await.unwrap();
            let mut stored: Vec<_> =
                log.iter().map(|logged| (logged.change.area, logged.change.state)).collect();
            stored.sort_unstable_by_key(|(area, _)| *area);
            if stored != batch.changes || log.iter().any(|logged| logged.change.at != batch.at) {
                self.history
                    .violate(format_args!("the log has {stored:?} of the batch {batch:?} of {request:?}"));
            }
        }
        let all = EntryQuery {
            selector: AreaSelector::default(),
            area: None,
            from: Timestamp::EPOCH,
            until: Timestamp::LAST,
        };
        let entries = store.flood_entries(&all).await.unwrap().value;
        let undone: BTreeSet<_> = {
            let undoing = batches.iter().map(|(_, batch)| batch).filter(|batch| batch.undoes.is_some());
            undoing.flat_map(|batch| batch.changes.iter().map(|(area, _)| (*area, batch.at))).collect()
        };
        for (area, entries) in entries {
            let confirms = |entry: &&LogEntry| {
                let is_undone = entry.state.is_some() && undone.contains(&(area, entry.at));
                is_undone && entry.confirmed == Some(entry.at)
            };
            if let Some(entry) = entries.iter().find(confirms) {
                self.history.violate(format_args!("an undo confirms area {area}: {entry:?}"));
            }
        }
        let cards = self.cards.lock().unwrap().clone();
        for (card, report) in &cards {
            let stored = store.card(card).await.ok().and_then(|card| card.report);
            // An erased report has no card any more.
            if stored != Some(*report) && !self.history.was_moderated(*report) {
                self.history.violate(format_args!("card {card} has {stored:?}, not the report {report}"));
            }
        }
        let posts = self.posts.lock().unwrap().clone();
        let acknowledged = posts.values().filter(|acknowledged| **acknowledged).count();
        let reports = store.reports_from(Some(ReportKey::FIRST), 1_000).await.unwrap();
        let stored = reports.iter().filter(|report| &*report.content.source == "partner").count();
        // The fixture has a post, too.
        if !(acknowledged..=posts.len()).contains(&(stored - 1)) && !self.history.moderated_any() {
            self.history.violate(format_args!("{stored} posts are stored, and {} were sent", posts.len()));
        }
    }
}
