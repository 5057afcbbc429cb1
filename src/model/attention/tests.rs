use geo::{MultiPolygon, Rect};
use serde_json::{json, value::to_raw_value};

use super::*;
use crate::fixture;
use crate::model::{DisasterType, Gauge, GaugeSettings, Observation, Quality, ReportContent, Tags};

const MINUTE: Duration = Duration::from_mins(1);

fn start() -> Timestamp {
    Timestamp::parse("2017-02-19T00:00:00Z").unwrap()
}

fn minute(minute: u64) -> Timestamp {
    start().saturating_add(MINUTE * u32::try_from(minute).unwrap())
}

fn id(number: u64) -> AreaId {
    number.try_into().unwrap()
}

/// Returns areas in a row from 106° E on the equator, each 1.1 km wide.
fn areas(count: u64) -> AreaSet {
    let area = |number: u64| {
        let west = 106.0 + 0.01 * number as f64;
        let outline = MultiPolygon::new(vec![Rect::new((west, 0.0), (west + 0.01, 0.01)).to_polygon()]);
        Area { id: id(number), outline, ..fixture::areas()[0].clone() }
    };
    AreaSet::new((0..count).map(area).collect()).unwrap()
}

fn report(key: u64, area: u64, at: Timestamp, depth: Option<u32>) -> Arc<Report> {
    let report_data = depth.map(|depth| to_raw_value(&json!({ "flood_depth": depth })).unwrap());
    let content = fixture::content(DisasterType::Flood, 0, Position::new(106.0, 0.0).unwrap());
    let url = Some(format!("card{key}").into());
    Arc::new(Report {
        key: key.try_into().unwrap(),
        content: ReportContent { created_at: at, url, report_data, ..content },
        tags: Tags { local_area_id: Some(id(area)), ..Tags::default() },
    })
}

fn gauge(lng: f64, alerts: &[u64]) -> ObservedGauge {
    let reading = |(number, alert): (usize, &u64)| {
        let alert = AlertLevel::try_from(*alert).unwrap();
        let observed_at = minute(10 * number as u64);
        Observation {
            observed_at,
            level: 750.0,
            alert,
            label: alert.label().into(),
            reported: None,
            quality: Quality::default(),
        }
    };
    let location = Position::new(lng, 0.005).unwrap();
    let gauge = Gauge {
        id: "M1".to_owned(),
        name: "Manggarai".to_owned(),
        region_code: None,
        location,
        settings: GaugeSettings::default(),
        mute: None,
    };
    ObservedGauge::new(Arc::new(gauge), alerts.iter().enumerate().map(reading).collect())
}

fn scene<'s>(areas: &'s AreaSet, reports: &'s [Arc<Report>], now: Timestamp) -> AttentionInput<'s> {
    AttentionInput {
        areas,
        states: HashMap::new(),
        changed: HashMap::new(),
        reports,
        waiting: &[],
        gauges: &[],
        now,
    }
}

fn listed(scene: &AttentionInput<'_>) -> Vec<u64> {
    attention(scene, &AttentionRules::default()).iter().map(|listed| listed.area_id.number()).collect()
}

#[test]
fn a_report_newer_than_the_last_change_puts_its_area_on_the_list() {
    let areas = areas(5);
    let reports =
        [report(1, 1, minute(10), None), report(2, 2, minute(20), None), report(3, 3, minute(30), None)];
    let mut scene = scene(&areas, &reports, minute(40));
    assert_eq!(listed(&scene), [3, 2, 1], "the newest first");
    scene.changed = [(id(3), minute(31)), (id(2), minute(20)), (id(1), minute(9))].into();
    assert_eq!(listed(&scene), [1]);
    scene.now = minute(9);
    assert_eq!(listed(&scene), [] as [u64; 0], "those of the future do not count");
    scene.now = minute(24 * 60 + 11);
    assert_eq!(listed(&scene), [] as [u64; 0], "nor do old ones");
}

#[test]
fn a_state_that_nobody_confirmed_is_on_the_list_before_its_alert_lapses() {
    let areas = areas(2);
    let mut scene = scene(&areas, &[], minute(20 * 60 - 1));
    let (state, last_updated, since) = (FloodState::Minor, minute(3 * 60), Some(start()));
    let standing = CurrentState { state, last_updated, flooded_since: since, confirmed: since };
    scene.states.insert(id(1), standing);
    assert_eq!(listed(&scene), [] as [u64; 0]);
    scene.now = minute(20 * 60);
    let lapses = minute(24 * 60);
    let expected = Reason::Unconfirmed { at: minute(20 * 60), since: start(), lapses };
    assert_eq!(attention(&scene, &AttentionRules::default())[0].reasons, [expected]);
}

#[test]
fn areas_near_a_gauge_are_on_the_list_while_it_has_an_alarm() {
    let areas = areas(10);
    // The gauge is in the middle of area 4: 560 m from areas 3 and 5, and 1.7 km from area 2.
    let lng = 106.045;
    for (alerts, expected) in [(&[4, 2, 1][..], &[3, 4, 5][..]), (&[2, 2, 3], &[]), (&[3], &[]), (&[], &[])] {
        let gauges = [gauge(lng, alerts)];
        let scene = AttentionInput { gauges: &gauges, ..scene(&areas, &[], minute(40)) };
        assert_eq!(listed(&scene), expected, "{alerts:?}");
    }
    let gauges = [gauge(lng, &[4, 2, 1])];
    let changed = [(id(3), minute(9)), (id(4), minute(10)), (id(5), minute(25))].into();
    let scene = AttentionInput { gauges: &gauges, changed, ..scene(&areas, &[], minute(40)) };
    assert_eq!(listed(&scene), [3], "the others were set since the alarm began");
    let none = AttentionRules { gauge_distance: Metres(0), ..AttentionRules::default() };
    assert_eq!(attention(&scene, &none), []);
}

#[test]
fn two_recent_cards_suggest_the_band_of_their_median_depth() {
    let areas = areas(1);
    let suggested = |depths: &[Option<u32>]| {
        let reports: Vec<_> =
            (1..).zip(depths).map(|(key, depth)| report(key, 0, minute(key), *depth)).collect();
        let found = attention(&scene(&areas, &reports, minute(30)), &AttentionRules::default());
        found[0].suggested.as_ref().map(|suggested| suggested.state.code())
    };
    assert_eq!(suggested(&[Some(60)]), None);
    assert_eq!(suggested(&[Some(60), Some(80), Some(77)]), Some(3));
    assert_eq!(suggested(&[Some(20), Some(30)]), Some(2));
    assert_eq!(suggested(&[Some(20), None]), Some(2));
    assert_eq!(suggested(&[None, None]), Some(1));
    let old = [report(1, 0, minute(0), Some(60)), report(2, 0, minute(200), Some(60))];
    let found = attention(&scene(&areas, &old, minute(201)), &AttentionRules::default());
    assert_eq!(found[0].suggested, None, "the first is older than three hours");
    let mut partner = Report::clone(&report(3, 0, minute(199), None));
    partner.content.source = "partner".into();
    let with_partner = [Arc::new(partner), report(2, 0, minute(200), None)];
    let found = attention(&scene(&areas, &with_partner, minute(201)), &AttentionRules::default());
    assert_eq!((found[0].reasons.len(), &found[0].suggested), (1, &None), "a partner's report has no card");
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % most
    }
}

type Setting = (u64, Timestamp, u64);

/// Returns a made-up flood with the proportions of the flood of February 2017. Officers set 337 areas within 73 hours, 203 of
/// them after reports; the median time from the first report to the change is 43 minutes. Of 84 areas with three or more reports,
/// officers set 41. Nine of ten reported depths agree with the state.
fn made_up_flood(dice: &mut Dice) -> (Vec<Setting>, Vec<Arc<Report>>) {
    let (mut set, mut reports) = (Vec::new(), Vec::new());
    let mut add = |area: u64, minutes: u64, depth: u32| {
        let key = reports.len() as u64 + 1;
        reports.push(report(key, area, minute(minutes), Some(depth)));
    };
    for area in 0..337 {
        let at = 180 + dice.below(70 * 60);
        let state = 2 + dice.below(3);
        let depth = [40, 100, 170][state as usize - 2];
        if area < 203 {
            let ahead = 1 + dice.below(86);
            let count = if area < 41 { 3 + dice.below(4) } else { 1 + dice.below(2) };
            for number in 0..count {
                let agrees = dice.below(10) > 0;
                add(area, at - ahead + number.min(ahead), if agrees { depth } else { 10 });
            }
        }
        set.push((area, minute(at), state));
    }
    for area in 337..380 {
        let first = dice.below(70 * 60);
        (0..3).for_each(|number| add(area, first + 10 * number, 30));
    }
    while reports.len() < 1_200 {
        // Most reports arrive after officers set the area, or come from areas that officers never set.
        let (area, at) = (dice.below(600), dice.below(73 * 60));
        let was_set = set.get(usize::try_from(area).unwrap()).map(|(_, at, _)| *at);
        if was_set.is_none_or(|set| minute(at) > set) {
            let key = reports.len() as u64 + 1;
            reports.push(report(key, area, minute(at), Some(30)));
        }
    }
    (set, reports)
}

#[test]
fn the_list_has_more_than_half_of_the_floods_before_they_were_set() {
    let areas = areas(600);
    let (set, reports) = made_up_flood(&mut Dice(2017));
    assert_eq!(reports.len(), 1_200);
    let (mut named, mut suggested, mut agreed) = (0, 0, 0);
    for (area, at, state) in &set {
        let now = at.saturating_sub(Duration::from_millis(1));
        let changed = set.iter().filter(|(_, set, _)| *set <= now).map(|(area, set, _)| (id(*area), *set));
        let scene = AttentionInput { changed: changed.collect(), ..scene(&areas, &reports, now) };
        let found = attention(&scene, &AttentionRules::default());
        let Some(listed) = found.iter().find(|listed| listed.area_id == id(*area)) else { continue };
        named += 1;
        if let Some(suggestion) = &listed.suggested {
            suggested += 1;
            agreed += u32::from(u64::from(suggestion.state.code()) == *state);
        }
    }
    let count = u32::try_from(set.len()).unwrap();
    assert!(named * 100 >= count * 55, "{named} of {count}");
    assert!(suggested > 0 && agreed * 10 >= suggested * 8, "{agreed} of {suggested}");
}

#[test]
fn reports_that_wait_for_review_count_and_are_marked_but_suggest_nothing() {
    let areas = areas(3);
    let waiting = [report(1, 1, minute(1), Some(60)), report(2, 1, minute(2), Some(80))];
    let mut scene = scene(&areas, &[], minute(3));
    scene.waiting = &waiting;
    let [listed] = &attention(&scene, &AttentionRules::default())[..] else { panic!("one area") };
    let Reason::Reports { report_ids, waiting_ids, .. } = &listed.reasons[0] else { panic!("{listed:?}") };
    assert_eq!((report_ids.len(), waiting_ids), (2, report_ids));
    assert_eq!(listed.suggested, None);
    let seen = [report(3, 1, minute(3), Some(60)), report(4, 1, minute(3), Some(60))];
    scene.reports = &seen;
    let [listed] = &attention(&scene, &AttentionRules::default())[..] else { panic!("one area") };
    let suggested = listed.suggested.as_ref().unwrap();
    assert_eq!((suggested.state, suggested.evidence.report_ids.len()), (FloodState::from_depth(60.0), 2));
}
