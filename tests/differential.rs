//! The store in Postgres against the one in memory: whatever is done to both, both answer the same.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::value::{RawValue, to_raw_value};
use siaga::conformance::block_on;
use siaga::conformance::fixture::{self, now, place};
use siaga::datasets::{Dataset, FolderWriter};
use siaga::model::intake::{GaugeReadings, PartnerReport};
use siaga::model::{
    Actor, AlertLevel, AreaSelector, CARD_SOURCE, Card, CardHolder, CardId, Clock, DisasterType, FloodState,
    InfrastructureKind, Layer, ManualClock, Observation, Period, Position, Report, ReportContent, ReportKey,
    Timestamp,
};
use siaga::stores::memory::MemoryStore;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{
    FloodQuery, GaugeQuery, HistoryQuery, InfrastructureQuery, OpenStore, ReportQuery, Resource, Revision,
    SetFloodState, Store, StoreError, StoreSettings, Versioned, Window,
};

#[path = "common/postgres.rs"]
mod database;

use database::Database;

const RESOURCES: [Resource; 5] =
    [Resource::Floods, Resource::Reports, Resource::Gauges, Resource::Infrastructure, Resource::Boundaries];

/// Something that is done to both stores.
#[derive(Clone, Debug)]
enum Operation {
    /// Moves the clock by seconds and milliseconds, forwards or back.
    Tick(i64),
    Set(SetFloodState),
    CreateCard(Holder),
    Card(CardChoice),
    ReceiveCard(CardChoice, Content),
    ReceivePost(i64, Content),
    StoreGauge(Sent),
    Floods(FloodQuery),
    FloodStates(FloodQuery),
    FloodArchive(AreaSelector, Span),
    FloodSeries(AreaSelector, Span),
    FloodLog(u64),
    Reports(AreaSelector, Option<DisasterType>, Time),
    ReportSummary(AreaSelector, Option<DisasterType>, Time),
    ReportSeries(AreaSelector, DisasterType, Span),
    Report(u64),
    Gauges(AreaSelector, Time),
    Infrastructure(AreaSelector, Option<InfrastructureKind>),
    Boundaries(Option<&'static str>),
}

/// Which card is meant.
#[derive(Clone, Debug)]
enum CardChoice {
    /// One of the fixture, or of none.
    Named(&'static str),
    /// One of those made, counted round.
    Made(usize),
}

/// For whom a card is made.
#[derive(Clone, Debug)]
struct Holder {
    username: &'static str,
    data: Option<&'static str>,
}

/// What a report says; its time is that of the clock and some milliseconds.
#[derive(Clone, Debug)]
struct Content {
    after: i64,
    disaster: DisasterType,
    text: &'static str,
    data: bool,
    place: (f64, f64),
}

/// A gauge and its readings, with times counted in seconds from [`now`].
#[derive(Clone, Debug)]
struct Sent {
    gauge: &'static str,
    name: &'static str,
    place: (f64, f64),
    readings: Vec<(i64, f64, u64)>,
}

/// A period: its start, in milliseconds from [`now`], and its length.
#[derive(Clone, Copy, Debug)]
struct Span(i64, u64);

/// A window of time.
#[derive(Clone, Copy, Debug)]
enum Time {
    Last(u64),
    Within(Span),
}

/// A moment as many milliseconds from another.
fn moved(moment: Timestamp, by: i64) -> Timestamp {
    let duration = Duration::from_millis(by.unsigned_abs());
    if by < 0 { moment.before(duration) } else { moment.after(duration) }
}

impl Span {
    fn period(self) -> Period {
        let start = moved(now(), self.0);
        Period::new(start, start.after(Duration::from_millis(self.1)), Duration::MAX).unwrap()
    }
}

impl Time {
    fn window(self) -> Window {
        match self {
            Self::Last(milliseconds) => Window::Last(Duration::from_millis(milliseconds)),
            Self::Within(span) => Window::Within(span.period()),
        }
    }
}

impl Content {
    fn at(&self, now: Timestamp, source: &str) -> ReportContent {
        let data =
            self.data.then(|| to_raw_value(&serde_json::json!({ "b": 1.50, "a": [null, "☔"] })).unwrap());
        ReportContent {
            created_at: moved(now, self.after),
            source: source.into(),
            url: self.data.then(|| "card".into()),
            image_url: (!self.data).then(|| "http://example.org/1.jpg".into()),
            disaster_type: self.disaster,
            report_data: data,
            title: self.text.into(),
            text: self.text.into(),
            location: position(self.place),
        }
    }
}

fn position((x, y): (f64, f64)) -> Position {
    place(x, y)
}

fn milliseconds() -> impl Strategy<Value = i64> {
    const HOUR: i64 = 3_600_000;
    prop_oneof![
        2 => Just(0),
        3 => -3_i64..=3,
        3 => -2 * HOUR..=2 * HOUR,
        2 => (-2_i64..=2).prop_map(|hours| hours * HOUR),
        1 => -200 * HOUR..=30 * HOUR,
    ]
}

/// Steps of the clock: mostly forwards, sometimes back; between them it stands still.
fn tick() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 1..=5_i64, 3 => 1_000..=3_600_000_i64, 1 => -5..=-1_i64, 1 => -3_600_000..=-1_000_i64]
}

fn span() -> impl Strategy<Value = Span> {
    let length = prop_oneof![1 => Just(0), 3 => 0..=7_200_000_u64, 2 => 0..=1_000_000_000_u64];
    (milliseconds(), length).prop_map(|(start, length)| Span(start, length))
}

fn time() -> impl Strategy<Value = Time> {
    let last = prop_oneof![Just(0), Just(3_600_000), 0..=600_000_000_u64];
    prop_oneof![last.prop_map(Time::Last), span().prop_map(Time::Within)]
}

fn selector() -> impl Strategy<Value = AreaSelector> {
    let city = prop::option::of(prop::sample::select(vec!["jbd", "bdg", "sby", "ID-JK", "ID-JB"]));
    let region = prop::option::of(prop::sample::select(vec!["ID-JK", "ID-JB", "ID-JT"]));
    (city, region).prop_map(|(city, region)| AreaSelector {
        city: city.map(str::to_owned),
        region: region.map(str::to_owned),
    })
}

fn area() -> impl Strategy<Value = u64> {
    prop_oneof![8 => prop::sample::select(vec![1, 2, 5, 10, 30]), 1 => Just(7)]
}

fn code() -> impl Strategy<Value = Option<FloodState>> {
    prop::option::weighted(0.7, prop::sample::select(FloodState::ALL.to_vec()))
}

fn floods() -> impl Strategy<Value = FloodQuery> {
    (selector(), code()).prop_map(|(selector, minimum_state)| FloodQuery { selector, minimum_state })
}

fn disaster() -> impl Strategy<Value = DisasterType> {
    prop_oneof![Just(DisasterType::Flood), prop::sample::select(DisasterType::ALL.to_vec())]
}

fn spot() -> impl Strategy<Value = (f64, f64)> {
    prop_oneof![
        // Inside areas, and on borders and corners of them.
        4 => (0..=10_i32, 0..=10_i32).prop_map(|(x, y)| (f64::from(x) / 2.0, f64::from(y) / 2.0)),
        1 => (-5.0..20.0, -5.0..10.0),
        1 => Just((50.0, 50.0)),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    let text = prop::sample::select(vec!["", "Air \"setinggi\" lutut\n☔", " blanks \t", "\\N\\.'{}"]);
    (milliseconds(), disaster(), text, any::<bool>(), spot())
        .prop_map(|(after, disaster, text, data, place)| Content { after, disaster, text, data, place })
}

fn card() -> impl Strategy<Value = CardChoice> {
    let named = prop::sample::select(vec!["fresh-card", "used-card", "Fresh-card", "no-such-card"]);
    prop_oneof![1 => named.prop_map(CardChoice::Named), 2 => (0..6_usize).prop_map(CardChoice::Made)]
}

fn sent() -> impl Strategy<Value = Sent> {
    let gauge = prop::sample::select(vec!["TMA00001", "TMA00002", "tma1", "TMA 4 ☔"]);
    let name = prop::sample::select(vec!["Bendung Katulampa", "Pos"]);
    let known = prop::sample::select(vec![(0.0, 1.0), (7.0, 1.0), (3.5, 0.5), (50.0, 50.0)]);
    let seconds = prop_oneof![-6_i64..=1, -10_000_i64..=10_000];
    let level = prop_oneof![prop::sample::select(vec![0.0, -165.0, 30.0, 40.5, 1e-300]), -1e6..1e6];
    let readings = prop::collection::vec((seconds, level, 1..=4_u64), 0..5);
    (gauge, name, known, readings).prop_map(|(gauge, name, place, readings)| Sent {
        gauge,
        name,
        place,
        readings,
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let by = prop::option::of(prop::sample::select(vec!["bpbd", "Ibu O'Neil"]));
    let order = (area(), code(), by).prop_map(|(area, state, username)| SetFloodState {
        area: fixture::id(area),
        state,
        by: Actor { subject: "test".to_owned(), username: username.map(str::to_owned) },
    });
    let data = prop::option::of(prop::sample::select(vec!["{}", "{\"b\": 1.0,\"a\":null, \"b\":2}"]));
    let holder = (prop::sample::select(vec!["", "Ibu O'Neil"]), data);
    let holder = holder.prop_map(|(username, data)| Holder { username, data });
    let kind = prop::sample::select(vec![
        InfrastructureKind::Floodgates,
        InfrastructureKind::Pumps,
        InfrastructureKind::Waterways,
    ]);
    let asked = || (selector(), prop::option::of(disaster()), time());
    let writes = prop_oneof![
        5 => tick().prop_map(Operation::Tick),
        8 => order.prop_map(Operation::Set),
        3 => holder.prop_map(Operation::CreateCard),
        5 => (card(), content()).prop_map(|(card, content)| Operation::ReceiveCard(card, content)),
        4 => (0..8_i64, content()).prop_map(|(post, content)| Operation::ReceivePost(post, content)),
        4 => sent().prop_map(Operation::StoreGauge),
    ];
    let reads = prop_oneof![
        1 => card().prop_map(Operation::Card),
        2 => floods().prop_map(Operation::Floods),
        2 => floods().prop_map(Operation::FloodStates),
        3 => (selector(), span()).prop_map(|(selector, span)| Operation::FloodArchive(selector, span)),
        3 => (selector(), span()).prop_map(|(selector, span)| Operation::FloodSeries(selector, span)),
        1 => area().prop_map(Operation::FloodLog),
        3 => asked().prop_map(|(selector, disaster, time)| Operation::Reports(selector, disaster, time)),
        2 => asked().prop_map(|(selector, disaster, time)| Operation::ReportSummary(selector, disaster, time)),
        2 => (selector(), disaster(), span())
            .prop_map(|(selector, disaster, span)| Operation::ReportSeries(selector, disaster, span)),
        1 => (1..20_u64).prop_map(Operation::Report),
        2 => (selector(), time()).prop_map(|(selector, time)| Operation::Gauges(selector, time)),
        1 => (selector(), prop::option::of(kind))
            .prop_map(|(selector, kind)| Operation::Infrastructure(selector, kind)),
        1 => prop::option::of(prop::sample::select(vec!["ID-JK", "ID-JB", "ID-JT"])).prop_map(Operation::Boundaries),
    ];
    prop_oneof![writes, reads]
}

/// What one of the stores knows by other names than the other: the cards it has made.
struct Side {
    store: Arc<dyn Store>,
    cards: Vec<CardId>,
}

/// An answer as text that can be compared: the identifiers of cards are not in it.
type Shown = Result<String, &'static str>;

fn shown<T>(answer: Result<T, StoreError>, show: impl FnOnce(T) -> String) -> Shown {
    answer.map(show).map_err(|error| match error {
        StoreError::NotFound { .. } => "not found",
        StoreError::Conflict { .. } => "a conflict",
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
    of_layer(Layer::Reports(siaga::model::ReportLayer(vec![Arc::new(report.clone())])))
}

fn of_card(card: &Card) -> String {
    debug((card.pkey, &card.holder, card.report))
}

impl Side {
    fn card(&self, choice: &CardChoice) -> CardId {
        match choice {
            CardChoice::Made(number) if !self.cards.is_empty() => {
                self.cards[number % self.cards.len()].clone()
            }
            CardChoice::Made(_) => "no-such-card".parse().unwrap(),
            CardChoice::Named(name) => name.parse().unwrap(),
        }
    }

    async fn answer(&mut self, operation: &Operation, now: Timestamp) -> Shown {
        let store = &self.store;
        match operation.clone() {
            Operation::Tick(_) => Ok(String::new()),
            Operation::Set(order) => shown(store.set_flood_state(order).await, debug),
            Operation::CreateCard(Holder { username, data }) => {
                let network_data = data.map(|data| RawValue::from_string(data.to_owned()).unwrap());
                let (username, network, language) =
                    (username.to_owned(), "telegram".to_owned(), "id".to_owned());
                let made = store.create_card(CardHolder { username, network, language, network_data }).await;
                let made = made.inspect(|card| self.cards.push(card.id.clone()));
                shown(made, |card| of_card(&card))
            }
            Operation::Card(choice) => shown(store.card(&self.card(&choice)).await, |card| of_card(&card)),
            Operation::ReceiveCard(choice, content) => {
                let content = content.at(now, CARD_SOURCE);
                let received = store.receive_card_report(&self.card(&choice), content).await;
                shown(received, |report| of_report(&report))
            }
            Operation::ReceivePost(post_id, content) => {
                let content = content.at(now, PartnerReport::FEED);
                shown(store.receive_partner_report(PartnerReport { post_id, content }).await, debug)
            }
            Operation::StoreGauge(sent) => shown(store.store_gauge(readings(sent)).await, debug),
            Operation::Floods(query) => {
                shown(store.floods(&query).await, |found| of_layer(Layer::Floods(found.value)))
            }
            Operation::FloodStates(query) => shown(store.flood_states(&query).await, value),
            Operation::FloodArchive(selector, span) => {
                shown(store.flood_archive(&HistoryQuery { selector, period: span.period() }).await, value)
            }
            Operation::FloodSeries(selector, span) => {
                shown(store.flood_series(&HistoryQuery { selector, period: span.period() }).await, value)
            }
            Operation::FloodLog(area) => shown(store.flood_log(fixture::id(area)).await, debug),
            Operation::Reports(selector, disaster, time) => {
                let query = ReportQuery { selector, disaster, window: time.window() };
                shown(store.reports(&query).await, |found| of_layer(Layer::Reports(found.value)))
            }
            Operation::ReportSummary(selector, disaster, time) => {
                let query = ReportQuery { selector, disaster, window: time.window() };
                shown(store.report_summary(&query).await, value)
            }
            Operation::ReportSeries(selector, disaster, span) => {
                shown(store.report_series(&selector, disaster, span.period()).await, value)
            }
            Operation::Report(key) => {
                let key: ReportKey = key.try_into().unwrap();
                shown(store.report(key).await, |found| of_report(&found.value))
            }
            Operation::Gauges(selector, time) => {
                let query = GaugeQuery { selector, window: time.window() };
                // The province is not among the properties.
                shown(store.gauges(&query).await, |found| debug(found.value))
            }
            Operation::Infrastructure(selector, kind) => {
                let found = store.infrastructure(&InfrastructureQuery { selector, kind }).await;
                shown(found, |found| of_layer(Layer::Infrastructure(found.value)))
            }
            Operation::Boundaries(code) => {
                shown(store.boundaries(code).await, |found| of_layer(Layer::Boundaries(found.value)))
            }
        }
    }

    async fn revisions(&self) -> [Revision; 5] {
        let mut revisions = [Revision(0); 5];
        for (resource, revision) in RESOURCES.into_iter().zip(&mut revisions) {
            *revision = self.store.revision(resource).await.unwrap();
        }
        revisions
    }
}

fn value<T: Debug>(found: Versioned<T>) -> String {
    debug(found.value)
}

fn readings(Sent { gauge, name, place, readings }: Sent) -> GaugeReadings {
    let observations = readings.into_iter().map(|(seconds, level, alert)| {
        let alert = AlertLevel::try_from(alert).unwrap();
        let observed_at = moved(now(), seconds * 1_000);
        Observation { observed_at, level, alert, label: alert.label().into() }
    });
    GaugeReadings {
        id: gauge.to_owned(),
        name: name.to_owned(),
        location: position(place),
        observations: observations.collect(),
    }
}

/// The fixture as it is read from a folder, with its rings wound as the database has them.
fn dataset() -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    fixture::dataset().save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
    Dataset::load(folder.path().to_str().unwrap(), now()).unwrap()
}

/// Does everything to both stores and compares all they say.
async fn compare(operations: Vec<Operation>) -> Result<(), TestCaseError> {
    let clock = Arc::new(ManualClock::new(now()));
    let memory = Arc::new(MemoryStore::new(dataset(), Arc::clone(&clock) as Arc<dyn Clock>));
    let database = Database::with_fixture().await;
    let settings = StoreSettings { clock: Arc::clone(&clock) as _, ..database.settings() };
    let postgres = OpenPostgres.open(&settings).await.unwrap().store;
    let mut memory = Side { store: memory, cards: Vec::new() };
    let mut postgres = Side { store: postgres, cards: Vec::new() };
    let mut before = (memory.revisions().await, postgres.revisions().await);
    for (number, operation) in operations.into_iter().enumerate() {
        if let Operation::Tick(by) = operation {
            clock.set(moved(clock.now(), by));
        }
        let expected = memory.answer(&operation, clock.now()).await;
        let answered = postgres.answer(&operation, clock.now()).await;
        prop_assert!(answered == expected, "{number}, {operation:?}:\n{answered:?}\n{expected:?}");
        let after = (memory.revisions().await, postgres.revisions().await);
        for (index, resource) in RESOURCES.into_iter().enumerate() {
            let grew = (after.0[index] > before.0[index], after.1[index] > before.1[index]);
            prop_assert!(
                grew.0 == grew.1,
                "{number}, {operation:?}: the revision of {resource:?} grew {grew:?}"
            );
            prop_assert!(after.1[index] >= before.1[index], "{number}, {operation:?}: {resource:?} fell");
        }
        before = after;
    }
    Ok(())
}

/// The same cases at every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 24,
        rng_seed: RngSeed::Fixed(2016),
        max_shrink_iters: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_is_done_both_stores_answer_the_same(operations in prop::collection::vec(operation(), 60)) {
        block_on(compare(operations))?;
    }
}

/// Every kind of operation is among those tried, so that none is left out unseen.
#[test]
fn each_operation_is_tried_often() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::new(config());
    let mut counts: HashMap<String, usize> = HashMap::new();
    for _ in 0..24 * 60 {
        let operation = debug(operation().new_tree(&mut runner).unwrap().current());
        let name = operation.split('(').next().unwrap().to_owned();
        *counts.entry(name).or_default() += 1;
    }
    assert_eq!(counts.len(), 19, "{counts:?}");
    assert!(counts.values().all(|count| *count > 10), "{counts:?}");
}
