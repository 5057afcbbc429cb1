//! What is done to the stores.

use std::collections::HashSet;
use std::fmt::Debug;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::value::to_raw_value;
use siaga::model::{
    Actor, AreaSelector, DisasterType, FloodState, InfrastructureKind, ModerationAction, Period, Position,
    ReportContent, Timestamp,
};
use siaga::stores::{FloodQuery, ReportQuery, ReportSeriesQuery, SetFloodState, Window};

use crate::fixture::{self, now, place};
use crate::images::{OfImage, of_image};

/// Something that is done about many areas.
#[derive(Clone, Debug)]
pub(crate) enum OfOrder {
    /// Sets areas in one order, each perhaps after its newest entry or if it is dry, perhaps with a number of the request.
    Order(Vec<(SetFloodState, Option<bool>)>, Option<u8>),
    UndoBatch(u64, Option<u8>),
    AllChanges {
        back: Option<u64>,
        batch: Option<u64>,
        most: u32,
    },
}

/// Something that is done to all stores.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Moves the clock by seconds and milliseconds, forwards or back.
    Tick(i64),
    Set(SetFloodState),
    OfOrder(OfOrder),
    CreateCard(Holder),
    Card(CardChoice),
    ReceiveCard(CardChoice, Content),
    ReceivePost(i64, Content),
    StoreGauge(Sent),
    Moderate(u64, ModerationAction),
    /// Erases the reports of more than some minutes ago, but not more than a number.
    EraseOld(u64, u32),
    ModerationLog,
    Floods(FloodQuery),
    FloodStates(FloodQuery),
    FloodArchive(AreaSelector, Span),
    FloodSeries(AreaSelector, Span),
    FloodLog(u64),
    /// The newest changes of an area before an entry, counted from the newest, and how many.
    LatestChanges(u64, Option<usize>, u32),
    FloodEntries(Option<u64>, Span),
    Reports(Asked, Time),
    CountReports(Asked, Time, u64),
    ReportSummary(Asked, Time),
    ReportSeries(Asked, Span),
    Report(u64),
    Gauges(AreaSelector, Time),
    CountReadings(AreaSelector, Time, u64),
    Infrastructure(AreaSelector, Option<InfrastructureKind>),
    Boundaries(Option<&'static str>),
    OfImage(OfImage),
}

/// Which reports are asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) selector: AreaSelector,
    pub(crate) disaster: Option<DisasterType>,
    pub(crate) training: bool,
}

/// Which card is meant.
#[derive(Clone, Debug)]
pub(crate) enum CardChoice {
    /// One of the fixture, or of none.
    Named(&'static str),
    /// One of those made, counted round.
    Made(usize),
}

/// For whom a card is made.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    pub(crate) username: &'static str,
    pub(crate) data: Option<&'static str>,
}

/// What a report says; its time is that of the clock and some milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) after: i64,
    pub(crate) disaster: DisasterType,
    pub(crate) text: &'static str,
    pub(crate) data: bool,
    pub(crate) training: bool,
    pub(crate) place: (f64, f64),
}

/// A gauge and its readings, with times counted in seconds from [`now`].
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) gauge: &'static str,
    pub(crate) name: &'static str,
    pub(crate) place: (f64, f64),
    pub(crate) readings: Vec<(i64, f64, u64)>,
}

/// A period: its start, in milliseconds from [`now`], and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span(i64, u64);

/// A window of time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Time {
    Last(u64),
    Within(Span),
}

/// A moment as many milliseconds from another.
pub(crate) fn moved(moment: Timestamp, by: i64) -> Timestamp {
    let duration = Duration::from_millis(by.unsigned_abs());
    if by < 0 { moment.before(duration) } else { moment.after(duration) }
}

impl Span {
    pub(crate) fn period(self) -> Period {
        let start = moved(now(), self.0);
        Period::new(start, start.after(Duration::from_millis(self.1)), Duration::MAX).unwrap()
    }
}

impl Asked {
    pub(crate) fn at(self, time: Time) -> ReportQuery {
        let Self { selector, disaster, training } = self;
        ReportQuery { selector, disaster, training, window: time.window() }
    }

    /// The floods of each hour, unless another disaster is asked for.
    pub(crate) fn hourly(self, span: Span) -> ReportSeriesQuery {
        let Self { selector, disaster, training } = self;
        let disaster = disaster.unwrap_or(DisasterType::Flood);
        ReportSeriesQuery { selector, disaster, training, period: span.period() }
    }
}

impl Time {
    pub(crate) fn window(self) -> Window {
        match self {
            Self::Last(milliseconds) => Window::Last(Duration::from_millis(milliseconds)),
            Self::Within(span) => Window::Within(span.period()),
        }
    }
}

impl Content {
    pub(crate) fn at(&self, now: Timestamp, source: &str) -> ReportContent {
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
            is_training: self.training,
            partner_code: self.training.then(|| self.text.into()),
            partner_icon: self.data.then(|| "http://example.org/icon.png".into()),
        }
    }
}

pub(crate) fn position((x, y): (f64, f64)) -> Position {
    place(x, y)
}

pub(crate) fn milliseconds() -> impl Strategy<Value = i64> {
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

pub(crate) fn span() -> impl Strategy<Value = Span> {
    let length = prop_oneof![1 => Just(0), 3 => 0..=7_200_000_u64, 2 => 0..=1_000_000_000_u64];
    (milliseconds(), length).prop_map(|(start, length)| Span(start, length))
}

pub(crate) fn time() -> impl Strategy<Value = Time> {
    let last = prop_oneof![Just(0), Just(3_600_000), 0..=600_000_000_u64];
    prop_oneof![last.prop_map(Time::Last), span().prop_map(Time::Within)]
}

pub(crate) fn selector() -> impl Strategy<Value = AreaSelector> {
    let city = prop::option::of(prop::sample::select(vec!["jbd", "bdg", "sby", "ID-JK", "ID-JB"]));
    let region = prop::option::of(prop::sample::select(vec!["ID-JK", "ID-JB", "ID-JT"]));
    (city, region).prop_map(|(city, region)| AreaSelector {
        city: city.map(str::to_owned),
        region: region.map(str::to_owned),
    })
}

pub(crate) fn area() -> impl Strategy<Value = u64> {
    prop_oneof![8 => prop::sample::select(vec![1, 2, 5, 10, 30]), 1 => Just(7)]
}

pub(crate) fn code() -> impl Strategy<Value = Option<FloodState>> {
    prop::option::weighted(0.7, prop::sample::select(FloodState::ALL.to_vec()))
}

pub(crate) fn floods() -> impl Strategy<Value = FloodQuery> {
    (selector(), code()).prop_map(|(selector, minimum_state)| FloodQuery { selector, minimum_state })
}

pub(crate) fn disaster() -> impl Strategy<Value = DisasterType> {
    prop_oneof![Just(DisasterType::Flood), prop::sample::select(DisasterType::OWN.to_vec())]
}

pub(crate) fn asked() -> impl Strategy<Value = Asked> {
    (selector(), prop::option::of(disaster()), any::<bool>())
        .prop_map(|(selector, disaster, training)| Asked { selector, disaster, training })
}

pub(crate) fn spot() -> impl Strategy<Value = (f64, f64)> {
    prop_oneof![
        // Inside areas, and on borders and corners of them.
        4 => (0..=10_i32, 0..=10_i32).prop_map(|(x, y)| (f64::from(x) / 2.0, f64::from(y) / 2.0)),
        1 => (-5.0..20.0, -5.0..10.0),
        1 => Just((50.0, 50.0)),
    ]
}

pub(crate) fn content() -> impl Strategy<Value = Content> {
    let text = prop::sample::select(vec!["", "Air \"setinggi\" lutut\n☔", " blanks \t", "\\N\\.'{}"]);
    (milliseconds(), disaster(), text, any::<bool>(), prop::bool::weighted(0.2), spot()).prop_map(
        |(after, disaster, text, data, training, place)| Content {
            after,
            disaster,
            text,
            data,
            training,
            place,
        },
    )
}

pub(crate) fn card() -> impl Strategy<Value = CardChoice> {
    let named = prop::sample::select(vec!["fresh-card", "used-card", "Fresh-card", "no-such-card"]);
    prop_oneof![1 => named.prop_map(CardChoice::Named), 2 => (0..6_usize).prop_map(CardChoice::Made)]
}

pub(crate) fn sent() -> impl Strategy<Value = Sent> {
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

fn order() -> impl Strategy<Value = SetFloodState> {
    let by = prop::option::of(prop::sample::select(vec!["bpbd", "Ibu O'Neil"]));
    (area(), code(), by).prop_map(|(area, state, username)| SetFloodState {
        area: fixture::id(area),
        state,
        by: Actor { subject: "test".to_owned(), username: username.map(str::to_owned) },
    })
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    let ordered = prop::collection::vec((order(), prop::option::weighted(0.3, any::<bool>())), 1..4);
    let request = || prop::option::of(0..4_u8);
    let data = prop::option::of(prop::sample::select(vec!["{}", "{\"b\": 1.0,\"a\":null, \"b\":2}"]));
    let holder = (prop::sample::select(vec!["", "Ibu O'Neil"]), data);
    let holder = holder.prop_map(|(username, data)| Holder { username, data });
    let kind = prop::sample::select(vec![
        InfrastructureKind::Floodgates,
        InfrastructureKind::Pumps,
        InfrastructureKind::Waterways,
    ]);
    let writes = prop_oneof![
        5 => tick().prop_map(Operation::Tick),
        8 => order().prop_map(Operation::Set),
        6 => (ordered, request()).prop_map(|(orders, request)| {
            Operation::OfOrder(OfOrder::Order(once_each(orders.into_iter()), request))
        }),
        3 => (1..9_u64, request())
            .prop_map(|(batch, request)| Operation::OfOrder(OfOrder::UndoBatch(batch, request))),
        2 => (prop::option::of(0..100_u64), prop::option::of(1..9_u64), 1..6_u32)
            .prop_map(|(back, batch, most)| Operation::OfOrder(OfOrder::AllChanges { back, batch, most })),
        3 => holder.prop_map(Operation::CreateCard),
        5 => (card(), content()).prop_map(|(card, content)| Operation::ReceiveCard(card, content)),
        4 => (0..8_i64, content()).prop_map(|(post, content)| Operation::ReceivePost(post, content)),
        4 => sent().prop_map(Operation::StoreGauge),
        4 => (1..20_u64, prop::sample::select(ModerationAction::ALL.to_vec()))
            .prop_map(|(report, action)| Operation::Moderate(report, action)),
        1 => (10..200_u64, 1..3_u32).prop_map(|(minutes, most)| Operation::EraseOld(minutes, most)),
        12 => of_image().prop_map(Operation::OfImage),
    ];
    let reads = prop_oneof![
        1 => card().prop_map(Operation::Card),
        1 => Just(Operation::ModerationLog),
        2 => floods().prop_map(Operation::Floods),
        2 => floods().prop_map(Operation::FloodStates),
        3 => (selector(), span()).prop_map(|(selector, span)| Operation::FloodArchive(selector, span)),
        3 => (selector(), span()).prop_map(|(selector, span)| Operation::FloodSeries(selector, span)),
        1 => area().prop_map(Operation::FloodLog),
        2 => (area(), prop::option::of(0..4_usize), 0..4_u32)
            .prop_map(|(area, back, most)| Operation::LatestChanges(area, back, most)),
        2 => (prop::option::of(area()), span()).prop_map(|(area, span)| Operation::FloodEntries(area, span)),
        3 => (asked(), time()).prop_map(|(asked, time)| Operation::Reports(asked, time)),
        2 => (asked(), time(), 0..20_u64)
            .prop_map(|(asked, time, most)| Operation::CountReports(asked, time, most)),
        2 => (asked(), time()).prop_map(|(asked, time)| Operation::ReportSummary(asked, time)),
        2 => (asked(), span()).prop_map(|(asked, span)| Operation::ReportSeries(asked, span)),
        1 => (1..20_u64).prop_map(Operation::Report),
        2 => (selector(), time()).prop_map(|(selector, time)| Operation::Gauges(selector, time)),
        2 => (selector(), time(), 0..20_u64)
            .prop_map(|(selector, time, most)| Operation::CountReadings(selector, time, most)),
        1 => (selector(), prop::option::of(kind))
            .prop_map(|(selector, kind)| Operation::Infrastructure(selector, kind)),
        1 => prop::option::of(prop::sample::select(vec!["ID-JK", "ID-JB", "ID-JT"])).prop_map(Operation::Boundaries),
    ];
    prop_oneof![writes, reads]
}

/// Leaves out orders for areas that were named before.
fn once_each(
    orders: impl Iterator<Item = (SetFloodState, Option<bool>)>,
) -> Vec<(SetFloodState, Option<bool>)> {
    let mut named = HashSet::new();
    orders.filter(|(order, _)| named.insert(order.area)).collect()
}
