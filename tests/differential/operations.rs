//! Random operations on stores.

use std::collections::HashSet;
use std::fmt::Debug;
use std::time::Duration;

use proptest::prelude::*;
use siaga::model::{
    Actor, AreaLimit, AreaRule, AreaSelector, CARD_SOURCE, DisasterType, FloodState, ModerationAction,
    Period, ReportContent, Timestamp,
};
use siaga::stores::{FloodQuery, HistoryQuery, ReportQuery, SetFloodState, Window};

use crate::fixture::{self, now, place};
use crate::images::{OfImage, of_image};

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Moves the clock by seconds and milliseconds, forwards or back.
    Tick(i64),
    Set(SetFloodState),
    /// Sets areas in one batch, with optional preconditions (newest entry, or dry) and an optional request number.
    SetBatch(Vec<(SetFloodState, Option<bool>)>, Option<u8>),
    UndoBatch(u64, Option<u8>, AreaLimit),
    /// Changes of all areas before some minutes ago, optionally of one batch; limited.
    AllChanges(Option<u64>, Option<u64>, u32),
    CreateCard,
    ReceiveCard(CardChoice, Content),
    Moderate(u64, ModerationAction, AreaLimit),
    /// Erases reports older than some minutes, up to a limit.
    EraseOld(u64, u32),
    ModerationLog,
    FloodStates(FloodQuery),
    FloodArchive(HistoryQuery),
    FloodSeries(HistoryQuery),
    FloodLog(u64),
    FloodEntries(Option<u64>, Period),
    Reports(ReportQuery),
    ReportSummary(ReportQuery),
    Report(u64),
    OfImage(OfImage),
}

#[derive(Clone, Debug)]
pub(crate) enum CardChoice {
    /// A card of the fixture, or an unknown one.
    Named(&'static str),
    /// A created card, by index modulo their number.
    Made(usize),
}

/// The content of a report; its time is an offset from the clock in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) after: i64,
    pub(crate) disaster: DisasterType,
    pub(crate) has_image: bool,
    pub(crate) training: bool,
    pub(crate) place: (f64, f64),
}

pub(crate) fn moved(moment: Timestamp, by: i64) -> Timestamp {
    let duration = Duration::from_millis(by.unsigned_abs());
    if by < 0 { moment.saturating_sub(duration) } else { moment.saturating_add(duration) }
}

impl Content {
    pub(crate) fn at(&self, now: Timestamp) -> ReportContent {
        ReportContent {
            created_at: moved(now, self.after),
            source: CARD_SOURCE.into(),
            image_url: self.has_image.then(|| "http://example.org/1.jpg".into()),
            is_training: self.training,
            ..fixture::content(self.disaster, 0, place(self.place.0, self.place.1))
        }
    }
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
pub(crate) fn tick() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 1..=5_i64, 3 => 1_000..=3_600_000_i64, 1 => -5..=-1_i64, 1 => -3_600_000..=-1_000_i64]
}

fn period() -> impl Strategy<Value = Period> {
    let length = prop_oneof![1 => Just(0), 3 => 0..=7_200_000_u64, 2 => 0..=1_000_000_000_u64];
    (milliseconds(), length).prop_map(|(start, length)| {
        let start = moved(now(), start);
        Period::new(start, start.saturating_add(Duration::from_millis(length)), Duration::MAX).unwrap()
    })
}

fn history() -> impl Strategy<Value = HistoryQuery> {
    (selector(), period()).prop_map(|(selector, period)| HistoryQuery { selector, period })
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
    prop_oneof![Just(DisasterType::Flood), prop::sample::select(DisasterType::OWN.to_vec())]
}

fn reports() -> impl Strategy<Value = ReportQuery> {
    let last = prop_oneof![Just(0), Just(3_600_000), 0..=600_000_000_u64].prop_map(Duration::from_millis);
    let window = prop_oneof![last.prop_map(Window::Last), period().prop_map(Window::Within)];
    (selector(), prop::option::of(disaster()), any::<bool>(), window).prop_map(
        |(selector, disaster, training, window)| ReportQuery { selector, disaster, training, window },
    )
}

/// Inside areas, on borders and corners of them, and outside.
fn spot() -> impl Strategy<Value = (f64, f64)> {
    (0..=10_i32, 0..=10_i32).prop_map(|(x, y)| (f64::from(x) / 2.0, f64::from(y) / 2.0))
}

pub(crate) fn content() -> impl Strategy<Value = Content> {
    (milliseconds(), disaster(), any::<bool>(), prop::bool::weighted(0.2), spot()).prop_map(
        |(after, disaster, has_image, training, place)| Content {
            after,
            disaster,
            has_image,
            training,
            place,
        },
    )
}

pub(crate) fn card() -> impl Strategy<Value = CardChoice> {
    let named = prop::sample::select(vec!["fresh-card", "used-card", "Fresh-card", "no-such-card"]);
    prop_oneof![1 => named.prop_map(CardChoice::Named), 2 => (0..6_usize).prop_map(CardChoice::Made)]
}

/// Mostly no limit, so that most writes happen.
fn area_limit() -> impl Strategy<Value = AreaLimit> {
    let rule = |index: usize, value: &str| {
        let mut values: [Vec<String>; 4] = Default::default();
        values[index].push(value.to_owned());
        AreaRule::new(values).unwrap()
    };
    let within = |rules: Vec<AreaRule>| AreaLimit::Within(rules.into());
    prop_oneof![
        6 => Just(AreaLimit::Everywhere),
        2 => Just(within(vec![rule(3, "grogol")])),
        1 => Just(within(vec![rule(0, "ID-JK")])),
        1 => Just(within(vec![rule(1, "BDG"), rule(3, "köln, été")])),
        1 => Just(within(Vec::new())),
    ]
}

fn write() -> impl Strategy<Value = SetFloodState> {
    let by = prop::option::of(prop::sample::select(vec!["bpbd", "Ibu O'Neil"]));
    (area(), code(), by, area_limit()).prop_map(|(area, state, username, limit)| SetFloodState {
        area: fixture::id(area),
        state,
        by: Actor { subject: "test".to_owned(), username: username.map(str::to_owned) },
        limit,
    })
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    let batches = prop::collection::vec((write(), prop::option::weighted(0.3, any::<bool>())), 1..4);
    let request = || prop::option::of(0..4_u8);
    let writes = prop_oneof![
        5 => tick().prop_map(Operation::Tick),
        8 => write().prop_map(Operation::Set),
        6 => (batches, request())
            .prop_map(|(changes, request)| Operation::SetBatch(once_each(changes.into_iter()), request)),
        3 => (1..9_u64, request(), area_limit())
            .prop_map(|(batch, request, limit)| Operation::UndoBatch(batch, request, limit)),
        2 => (prop::option::of(0..100_u64), prop::option::of(1..9_u64), 1..6_u32)
            .prop_map(|(back, batch, most)| Operation::AllChanges(back, batch, most)),
        5 => Just(Operation::CreateCard),
        9 => (card(), content()).prop_map(|(card, content)| Operation::ReceiveCard(card, content)),
        4 => (1..20_u64, prop::sample::select(ModerationAction::ALL.to_vec()), area_limit())
            .prop_map(|(report, action, limit)| Operation::Moderate(report, action, limit)),
        1 => (10..200_u64, 1..3_u32).prop_map(|(minutes, most)| Operation::EraseOld(minutes, most)),
        12 => of_image().prop_map(Operation::OfImage),
    ];
    let reads = prop_oneof![
        1 => Just(Operation::ModerationLog),
        2 => floods().prop_map(Operation::FloodStates),
        3 => history().prop_map(Operation::FloodArchive),
        3 => history().prop_map(Operation::FloodSeries),
        1 => area().prop_map(Operation::FloodLog),
        2 => (prop::option::of(area()), period()).prop_map(|(area, period)| Operation::FloodEntries(area, period)),
        3 => reports().prop_map(Operation::Reports),
        2 => reports().prop_map(Operation::ReportSummary),
        1 => (1..20_u64).prop_map(Operation::Report),
    ];
    // Unboxed, the strategies are too large for the stack.
    prop_oneof![writes.boxed(), reads.boxed()]
}

/// Drops further changes of the same area.
fn once_each(
    changes: impl Iterator<Item = (SetFloodState, Option<bool>)>,
) -> Vec<(SetFloodState, Option<bool>)> {
    let mut named = HashSet::new();
    changes.filter(|(write, _)| named.insert(write.area)).collect()
}
