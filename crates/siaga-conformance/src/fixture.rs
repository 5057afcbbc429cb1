//! A small data set with many edge cases.

#![allow(dead_code, unreachable_pub, reason = "included as a module by tests, which use parts of it")]

use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeZone, Utc};
use geo::{Coord, LineString, MultiPolygon, Polygon};
use serde_json::value::to_raw_value;

use siaga::folder::Dataset;
use siaga::model::alerts::{Issuer, Status, entries, messages};
use siaga::model::{
    Actor, AlertLayer, AlertLevel, Area, AreaId, AreaLayer, AreaLevel, AreaSelector, AreaSet, BoundaryLayer,
    CARD_SOURCE, Card, CardHolder, Course, DisasterType, FloodChange, FloodLayer, FloodState, FloodStatus,
    Gauge, GaugeLayer, GaugeSettings, Infrastructure, InfrastructureKind, InfrastructureLayer,
    InfrastructureShape, Layer, Locator, Observation, ObservedGauge, PartnerPost, Places, Position, Quality,
    Region, Report, ReportContent, ReportKey, StateChange, Timestamp,
};

/// The current time of the fixture, a few hours after the last change of its log.
#[must_use]
pub fn now() -> Timestamp {
    Utc.with_ymd_and_hms(2016, 12, 19, 16, 8, 52).unwrap().into()
}

#[must_use]
pub fn id(number: u64) -> AreaId {
    number.try_into().unwrap()
}

#[must_use]
pub fn state(code: u64) -> FloodState {
    code.try_into().unwrap()
}

/// Five areas: 1 and 2 share a border, 5 has a hole, 10 fills the hole and has a second part, 30 is in another city and touches
/// others at corners. Area 2 has attributes. Names have spaces, umlauts and markup, or are empty.
#[must_use]
pub fn areas() -> AreaSet {
    let area = |number, name: &str, parent: &str, outline| Area {
        id: id(number),
        geom_id: format!("317404000400900{number}"),
        name: name.to_owned(),
        parent_name: parent.to_owned(),
        city_name: "JAKARTA BARAT".to_owned(),
        city_code: "jbd".to_owned(),
        region_code: "ID-JK".to_owned(),
        attributes: None,
        outline: MultiPolygon(outline),
    };
    let elsewhere = Area {
        city_name: "BANDUNG".to_owned(),
        city_code: "bdg".to_owned(),
        region_code: "ID-JB".to_owned(),
        ..area(30, "RW 30", "", vec![Polygon::new(square(3.0, 0.0, 1.0), vec![])])
    };
    let attributes = r#"{"District":"Kota \"Tua\" & <Utara>","district_id":3174.0,"RT":[1,2],"none":null}"#;
    let with_attributes = Area {
        attributes: attributes.to_owned().try_into().ok(),
        ..area(2, "RW 02 & <Söhne>, \"X\"", "KÖLN, ÉTÉ", vec![Polygon::new(square(1.0, 0.0, 1.0), vec![])])
    };
    AreaSet::new(vec![
        elsewhere,
        area(
            10,
            "",
            "PULAU",
            vec![Polygon::new(square(1.0, 2.0, 1.0), vec![]), Polygon::new(square(4.0, 1.0, 1.0), vec![])],
        ),
        area(5, "RW 09", "GROGOL", vec![Polygon::new(square(0.0, 1.0, 3.0), vec![square(1.0, 2.0, 1.0)])]),
        with_attributes,
        area(1, "RW 01", "GROGOL", vec![Polygon::new(square(0.0, 0.0, 1.0), vec![])]),
    ])
    .unwrap()
}

/// Returns a closed square, counter-clockwise, in hundredths of a degree from 106.8 E, 6.2 S.
fn square(x: f64, y: f64, side: f64) -> LineString<f64> {
    let at = |x: f64, y: f64| Coord { x: 106.8 + x / 100.0, y: -6.2 + y / 100.0 };
    LineString(vec![at(x, y), at(x + side, y), at(x + side, y + side), at(x, y + side), at(x, y)])
}

/// A log of the six days before [`now`]. Area 5 rose to 4 and fell to 2, its current state. Area 30 has had state 3 since the
/// beginning. Area 1 was flooded and cleared.
#[must_use]
pub fn log() -> Vec<FloodChange> {
    let entry = |day, hour, minute, area, code: Option<u64>| {
        let at = Utc.with_ymd_and_hms(2016, 12, day, hour, minute, 35).unwrap().into();
        let by = Actor { subject: "import".to_owned(), username: Some("bpbd".to_owned()) };
        FloodChange { area: id(area), state: code.map(state), at, received: at, by }
    };
    vec![
        entry(13, 8, 0, 30, Some(3)),
        entry(14, 6, 10, 5, Some(1)),
        entry(14, 7, 30, 1, Some(2)),
        entry(14, 9, 0, 5, Some(4)),
        entry(15, 1, 0, 1, None),
        entry(19, 13, 41, 5, Some(2)),
    ]
}

/// Two provinces: ID-JK around all areas, and ID-JB east of ID-JK.
#[must_use]
pub fn regions() -> Vec<Arc<Region>> {
    let region = |code: &str, name: &str, x| {
        let outline = MultiPolygon(vec![Polygon::new(square(x, -3.0, 8.0), vec![])]);
        Arc::new(Region { code: code.to_owned(), name: name.to_owned(), outline })
    };
    vec![region("ID-JB", "Jawa Barat", 6.0), region("ID-JK", "DKI Jakarta", -2.0)]
}

/// One city with its own boundary, sby, far away from all areas.
#[must_use]
pub fn cities() -> Vec<Arc<Region>> {
    let outline = MultiPolygon(vec![Polygon::new(square(39.0, 39.0, 2.0), vec![])]);
    vec![Arc::new(Region { code: "sby".to_owned(), name: "Surabaya".to_owned(), outline })]
}

/// A place in hundredths of a degree from 106.8 E, 6.2 S.
#[must_use]
pub fn place(x: f64, y: f64) -> Position {
    Position::new(106.8 + x / 100.0, -6.2 + y / 100.0).unwrap()
}

#[must_use]
pub fn content(disaster_type: DisasterType, minutes_ago: u64, place: Position) -> ReportContent {
    let data = serde_json::json!({ "report_type": disaster_type.name(), "flood_depth": 80 });
    ReportContent {
        created_at: now().saturating_sub(Duration::from_mins(minutes_ago)),
        source: CARD_SOURCE.into(),
        url: Some("used-card".into()),
        image_url: None,
        disaster_type,
        report_data: Some(to_raw_value(&data).unwrap()),
        title: "".into(),
        text: "Air \"setinggi\" lutut\n& <naik> ☔".into(),
        location: place,
        is_training: false,
        partner_code: None,
        partner_icon: None,
    }
}

/// Eight reports in order of keys: a flood in area 1 ten minutes ago, a wind in area 30, a drain, a partner's flood in area 1 two
/// hours ago, a haze in the city sby outside all areas, two floods of the same minute in area 5, and a flood in the year 2099.
#[must_use]
pub fn reports() -> Vec<Report> {
    let partner = ReportContent {
        source: "partner".into(),
        url: None,
        report_data: None,
        image_url: Some("http://example.org/1.jpg".into()),
        ..content(DisasterType::Flood, 120, place(0.5, 0.5))
    };
    let future = ReportContent {
        created_at: Utc.with_ymd_and_hms(2099, 1, 1, 0, 0, 0).unwrap().into(),
        ..content(DisasterType::Flood, 0, place(0.5, 0.5))
    };
    let contents = [
        content(DisasterType::Flood, 10, place(0.5, 0.5)),
        content(DisasterType::Wind, 20, place(3.5, 0.5)),
        content(DisasterType::Prep, 5, place(0.5, 0.5)),
        partner,
        content(DisasterType::Haze, 30, place(40.0, 40.0)),
        content(DisasterType::Flood, 15, place(0.5, 1.5)),
        content(DisasterType::Flood, 15, place(0.5, 2.5)),
        future,
    ];
    let locator = Locator::new(Arc::new(areas()), regions(), cities());
    (1..)
        .zip(contents)
        .map(|(number, content)| Report {
            key: u64::try_into(number).unwrap(),
            tags: locator.locate(content.location),
            content,
        })
        .collect()
}

/// Two cards: `fresh-card` has no report yet, `used-card` has report 1.
#[must_use]
pub fn cards() -> Vec<Card> {
    let card = |pkey, id: &str, report| Card {
        pkey,
        id: id.parse().unwrap(),
        holder: CardHolder {
            username: "Ibu O'Neil".to_owned(),
            network: "telegram".to_owned(),
            language: "id".to_owned(),
            network_data: None,
        },
        report,
        created_at: None,
    };
    vec![card(1, "fresh-card", None), card(2, "used-card", Some(ReportKey::FIRST))]
}

/// The post of the partner's report.
#[must_use]
pub fn partner_posts() -> Vec<PartnerPost> {
    vec![PartnerPost { post_id: 4711, report: 4.try_into().unwrap() }]
}

#[must_use]
pub fn reading(minutes_ago: u64, level: f64) -> Observation {
    let observed_at = now().saturating_sub(Duration::from_mins(minutes_ago));
    let alert = AlertLevel::Normal;
    Observation {
        observed_at,
        level,
        alert,
        label: alert.label().into(),
        reported: None,
        quality: Quality::default(),
    }
}

/// Three gauges. The first has two readings in the last hour and one before. The second is below zero and listed by ID-JB. The
/// third has no reading in the last hours.
#[must_use]
pub fn gauges() -> Vec<ObservedGauge> {
    let gauge = |id: &str, name: &str, region: &str, x, observations| {
        let gauge = Gauge {
            id: id.to_owned(),
            name: name.to_owned(),
            region_code: Some(region.to_owned()),
            location: place(x, 1.0),
            settings: GaugeSettings::default(),
            mute: None,
        };
        ObservedGauge::new(Arc::new(gauge), observations)
    };
    vec![
        gauge(
            "TMA00001",
            "Bendung Katulampa",
            "ID-JK",
            0.0,
            vec![reading(90, 20.0), reading(60, 30.0), reading(5, 40.5)],
        ),
        gauge("TMA00002", "Waduk", "ID-JB", 7.0, vec![reading(10, -165.0)]),
        gauge("TMA00003", "Pos Depok", "ID-JK", 1.0, vec![reading(300, 100.0)]),
    ]
}

/// One floodgate, two pumps (one in another city) and a waterway.
#[must_use]
pub fn infrastructure() -> Vec<Infrastructure> {
    let locator = Locator::new(Arc::new(areas()), regions(), cities());
    let feature = |kind, name: &str, x, shape| Infrastructure {
        id: if name == "Pompa B" { "P-17".to_owned() } else { String::new() },
        kind,
        name: name.to_owned(),
        tags: locator.locate(place(x, 0.5)),
        shape,
    };
    let at = |x| InfrastructureShape::Place(place(x, 0.5));
    let course = InfrastructureShape::Course(Course::new(&[place(0.0, 0.5), place(2.0, 0.7)]).unwrap());
    vec![
        feature(InfrastructureKind::Waterways, "Ciliwung", 0.5, course),
        feature(InfrastructureKind::Pumps, "Pompa B", 1.5, at(1.5)),
        feature(InfrastructureKind::Pumps, "Pompa A", 3.5, at(3.5)),
        feature(InfrastructureKind::Floodgates, "Pintu Air", 0.5, at(0.5)),
    ]
}

#[must_use]
pub fn places() -> Places {
    Places::new(Arc::new(areas()), regions(), cities()).with_infrastructure(infrastructure())
}

#[must_use]
pub fn dataset() -> Dataset {
    Dataset {
        places: places(),
        flood_log: log(),
        gauges: gauges(),
        reports: reports(),
        cards: cards(),
        partner_posts: partner_posts(),
        ..Dataset::default()
    }
}

/// A flood map with these states: pairs of area and code. Other areas have no state.
#[must_use]
pub fn layer(states: &[(u64, u64)]) -> Layer {
    let areas = areas();
    let since = now().saturating_sub(Duration::from_hours(1));
    let status = |area: &Area| {
        let known = states.iter().find(|(number, _)| id(*number) == area.id);
        let change = |&(_, code): &(u64, u64)| StateChange { state: Some(state(code)), at: since };
        known.map_or(FloodStatus::NEVER_FLOODED, |known| FloodStatus::after_first(change(known)))
    };
    let selected = areas.iter().map(status).enumerate().collect();
    Layer::Floods(FloodLayer::new(Arc::new(areas), selected))
}

/// A layer of each kind with all features of the fixture.
#[must_use]
pub fn layers() -> Vec<Layer> {
    vec![
        layer(&[(1, 1), (2, 2), (5, 3), (10, 4), (30, 1)]),
        Layer::Reports(reports().into_iter().map(Arc::new).collect::<Vec<_>>().into()),
        Layer::Gauges(GaugeLayer(gauges())),
        Layer::Infrastructure(InfrastructureLayer(infrastructure().into_iter().map(Arc::new).collect())),
        Layer::Boundaries(BoundaryLayer(regions())),
        Layer::Alerts(alerts()),
        Layer::Areas(outlines()),
    ]
}

/// The outlines of all areas of the fixture, of the larger areas that contain them, and of the cities.
#[must_use]
pub fn outlines() -> AreaLayer {
    let areas = Arc::new(areas());
    let places = Places::new(Arc::clone(&areas), Vec::new(), Vec::new());
    let outlines_at = |level| places.area_layer(&AreaSelector::default(), level).outlines().to_vec();
    AreaLayer::new(areas, AreaLevel::ALL.into_iter().flat_map(outlines_at).collect())
}

/// All messages derived from the log of the fixture, as an exercise.
#[must_use]
pub fn alerts() -> AlertLayer {
    let areas = Arc::new(areas());
    let from_log = areas.iter().enumerate().flat_map(|(position, area)| {
        let log = log().into_iter().filter(|change| change.area == area.id).map(|change| change.change());
        let all = messages(&entries(log), Timestamp::EPOCH, now());
        all.into_iter().map(move |message| (position, message))
    });
    let layer = AlertLayer::new(Arc::clone(&areas), from_log.collect());
    let issuer = Issuer::new(None, "siaga.example.org", Status::Exercise);
    layer.at("alerts".to_owned()).changed(now()).issued_by(Arc::new(issuer))
}

#[must_use]
pub fn empty_layer() -> Layer {
    Layer::Floods(FloodLayer::new(Arc::default(), Vec::new()))
}

/// Runs a future on several threads, so that spawned tasks race.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut runtime = rocket::tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(4).enable_all().build().expect("threads").block_on(future)
}
