//! The Postgres and file stores against the memory store: all return the same results for the same changes of states,
//! moderation, images and history. All other behaviour is tested by the suite of `siaga-conformance`.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use siaga::folder::{Dataset, FolderRules, FolderWriter};
use siaga::model::{
    Actor, AreaLimit, AreaSelector, BatchItem, BatchOperation, BatchRequest, CardId, Clock, Condition, Layer,
    ManualClock, Moderation, Report, ReportKey, RequestKey, Timestamp,
};
use siaga::stores::file::OpenFile;
use siaga::stores::memory::MemoryStore;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{
    EntryQuery, FloodLogQuery, ModerationQuery, OpenStore, Resource, Revision, SetFloodState, Store,
    StoreError, Versioned,
};

#[path = "../common/postgres.rs"]
mod database;
#[path = "../common/file.rs"]
mod store_file;

mod images;
mod operations;

use database::Database;
use fixture::{block_on, now};
use images::operations_around_images;
use operations::{CardChoice, Operation, moved, operation};
use store_file::StoreFile;

/// A store with its own card identifiers.
struct Side {
    store: Arc<dyn Store>,
    cards: Vec<CardId>,
    /// The last upload turn of each card.
    turns: HashMap<CardId, u32>,
}

/// A comparable result, without card identifiers.
type Outcome = Result<String, &'static str>;

fn shown<T>(response: Result<T, StoreError>, show: impl FnOnce(T) -> String) -> Outcome {
    response.map(show).map_err(|error| match error {
        StoreError::NotFound { .. } => "not found",
        StoreError::Conflict { .. } => "a conflict",
        StoreError::OutsideLimit { .. } => "outside of the limit",
        other => panic!("{other:?}"),
    })
}

fn debug<T: Debug>(value: T) -> String {
    format!("{value:#?}")
}

fn of_layer(layer: Layer) -> String {
    let features = layer.features().map(|feature| {
        let properties = serde_json::to_string(&feature.properties).unwrap();
        format!("{properties} {:?}", feature.geometry)
    });
    features.collect::<Vec<_>>().join("\n")
}

fn of_report(report: &Report) -> String {
    of_layer(Layer::Reports(vec![Arc::new(report.clone())].into()))
}

impl Side {
    fn new(store: Arc<dyn Store>) -> Self {
        Self { store, cards: Vec::new(), turns: HashMap::new() }
    }

    fn card(&self, choice: &CardChoice) -> CardId {
        match choice {
            CardChoice::Made(number) if !self.cards.is_empty() => {
                self.cards[number % self.cards.len()].clone()
            }
            CardChoice::Made(_) => "no-such-card".parse().unwrap(),
            CardChoice::Named(name) => name.parse().unwrap(),
        }
    }

    async fn apply(&mut self, operation: &Operation, now: Timestamp) -> Outcome {
        let store = &self.store;
        match operation.clone() {
            Operation::Tick(_) => Ok(String::new()),
            Operation::Set(moderation) => shown(store.set_flood_state(moderation).await, debug),
            Operation::SetBatch(writes, request) => {
                let mut changes = Vec::new();
                let limit = writes[0].0.limit.clone();
                for (SetFloodState { area, state, .. }, after) in writes {
                    let newest = store.flood_log(area).await.unwrap().pop();
                    let after = match (after, newest) {
                        (Some(true), Some(newest)) => Condition::SetAt(newest.at),
                        (Some(_), _) => Condition::Dry,
                        (None, _) => Condition::Any,
                    };
                    changes.push(BatchItem { area, state, after });
                }
                shown(
                    store.change_floods(batch_request(BatchOperation::Set(changes), request, limit)).await,
                    debug,
                )
            }
            Operation::UndoBatch(batch, request, limit) => {
                let undo = BatchOperation::Undo(batch.try_into().unwrap());
                shown(store.change_floods(batch_request(undo, request, limit)).await, debug)
            }
            Operation::AllChanges(back, batch, most) => {
                let before = back.map(|minutes| now.saturating_sub(Duration::from_mins(minutes)));
                let batch = batch.map(|batch| batch.try_into().unwrap());
                let query = FloodLogQuery { before, batch, most, ..FloodLogQuery::default() };
                shown(store.all_flood_changes(&query).await, debug)
            }
            Operation::CreateCard => {
                let created = store.create_card(fixture::cards()[0].holder.clone()).await;
                let created = created.inspect(|card| self.cards.push(card.id.clone()));
                shown(created, |card| card.pkey.to_string())
            }
            Operation::ReceiveCard(choice, content) => {
                let received = store.receive_card_report(&self.card(&choice), content.at(now)).await;
                shown(received, |report| of_report(&report))
            }
            Operation::Moderate(report, action, limit) => {
                let by = Actor { subject: "test".to_owned(), username: None };
                let (report, reason) = (report.try_into().unwrap(), "spam".to_owned());
                let moderation = Moderation { report, made_at: None, action, by, limit, reason };
                shown(store.moderate(&moderation).await, debug)
            }
            Operation::EraseOld(minutes, most) => shown(
                store.erase_reports(now.saturating_sub(Duration::from_mins(minutes)), most).await,
                debug,
            ),
            Operation::ModerationLog => {
                let query = ModerationQuery { after: 0, before: None, most: 100 };
                shown(store.moderation_log(query).await, |found| debug(found.value))
            }
            Operation::FloodStates(query) => shown(store.flood_states(&query).await, value),
            Operation::FloodArchive(query) => shown(store.flood_archive(&query).await, value),
            Operation::FloodSeries(query) => shown(store.flood_series(&query).await, value),
            Operation::FloodLog(area) => shown(store.flood_log(fixture::id(area)).await, debug),
            Operation::FloodEntries(area, period) => {
                let (area, selector) = (area.map(fixture::id), AreaSelector::default());
                let query = EntryQuery { selector, area, from: period.start(), until: period.end() };
                shown(store.flood_entries(&query).await, |found| debug(found.value))
            }
            Operation::Reports(query) => shown(store.reports(&query).await, |found| {
                validity(found, |layer| of_layer(Layer::Reports(layer)))
            }),
            Operation::ReportSummary(query) => shown(store.report_summary(&query).await, value),
            Operation::Report(key) => {
                let key: ReportKey = key.try_into().unwrap();
                shown(store.report(key).await, |found| of_report(&found.value))
            }
            Operation::OfImage(operation) => self.apply_to_image(operation).await,
        }
    }

    async fn revisions(&self) -> [Revision; 2] {
        let [floods, reports] =
            [Resource::Floods, Resource::Reports].map(|resource| self.store.revision(resource));
        [floods.await.unwrap(), reports.await.unwrap()]
    }
}

/// A batch. Two batches with one number are different requests if their lengths differ.
fn batch_request(changes: BatchOperation, request: Option<u8>, limit: AreaLimit) -> BatchRequest {
    let digest = match &changes {
        BatchOperation::Set(changes) => changes.len().try_into().unwrap(),
        BatchOperation::Undo(_) => 0,
    };
    let by = Actor { subject: "desk".to_owned(), username: None };
    let request = request.map(|id| RequestKey { id: id.into(), digest: [digest; 32] });
    BatchRequest {
        changes,
        by,
        limit,
        note: request.map(|request| request.id.to_string()),
        request,
        preview: false,
    }
}

fn value<T: Debug>(found: Versioned<T>) -> String {
    validity(found, debug)
}

fn validity<T>(found: Versioned<T>, show: impl FnOnce(T) -> String) -> String {
    format!("{:?}\n{}", found.validity, show(found.value))
}

/// The fixture as read from a folder, with the ring orientation of the database.
fn dataset() -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    fixture::dataset().save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
    Dataset::load(folder.path().to_str().unwrap(), &FolderRules::default(), now()).unwrap()
}

/// Applies the operations to all stores and compares the results.
async fn compare(operations: Vec<Operation>) -> Result<(), TestCaseError> {
    let clock = Arc::new(ManualClock::new(now()));
    let mut memory = Side::new(Arc::new(MemoryStore::new(dataset(), Arc::clone(&clock) as Arc<dyn Clock>)));
    let (database, file) = (Database::with_fixture().await, StoreFile::with_fixture().await);
    let (mut of_database, mut of_file) = (database.settings(), file.settings());
    (of_database.clock, of_file.clock) = (Arc::clone(&clock) as _, Arc::clone(&clock) as _);
    let postgres = Side::new(OpenPostgres.open(&of_database).await.unwrap().store);
    let in_file = Side::new(OpenFile.open(&of_file).await.unwrap().store);
    let mut before = memory.revisions().await;
    let mut others =
        [("postgres", postgres.revisions().await, postgres), ("file", in_file.revisions().await, in_file)];
    for (number, operation) in operations.into_iter().enumerate() {
        if let Operation::Tick(by) = operation {
            clock.set(moved(clock.now(), by));
        }
        // Uploads of the same time are ordered by card id, which differs between stores.
        if matches!(operation, Operation::OfImage(_)) {
            clock.set(moved(clock.now(), 1));
        }
        let expected = memory.apply(&operation, clock.now()).await;
        let after = memory.revisions().await;
        let grew = [0, 1].map(|resource| after[resource].cmp(&before[resource]));
        for (name, before_of, side) in &mut others {
            let results = side.apply(&operation, clock.now()).await;
            let step = format!("{name}, {number}, {operation:?}");
            prop_assert!(results == expected, "{step}:\n{results:?}\n{expected:?}");
            let after_of = side.revisions().await;
            let grew_of = [0, 1].map(|resource| after_of[resource].cmp(&before_of[resource]));
            prop_assert_eq!(grew_of, grew, "the revisions of floods and reports, {}", step);
            *before_of = after_of;
        }
        before = after;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn all_stores_return_the_same_results_for_random_operations(operations in prop::collection::vec(operation(), 80)) {
        block_on(compare(operations))?;
    }

    #[test]
    fn all_stores_return_the_same_results_for_random_image_operations(
        operations in operations_around_images()
    ) {
        block_on(compare(operations))?;
    }
}
