//! Which areas need the attention of whoever sets flood states, and why. It never sets a state.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use geo::{Distance, Euclidean, MapCoords, Point};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AlertLevel, Area, AreaId, AreaSet, CARD_SOURCE, FloodState, Number, ObservedGauge, Position, Report,
    ReportKey, Standing, Timestamp, alerts, duration,
};

/// When an area needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AttentionRules {
    /// After how long a state that nobody confirmed needs attention. **Default: `20h`**, four hours before its alert lapses
    #[serde(with = "duration")]
    pub(crate) unconfirmed: Duration,
    /// How far back reports and readings count. **Default: `24h`**
    #[serde(with = "duration")]
    pub(crate) window: Duration,
    /// How near a gauge with an alarm must be, in metres; `0` leaves gauges out. **Default: `1000`**
    pub(crate) gauge_distance: Metres,
    /// How many reports from different cards suggest a state. **Default: `2`**
    pub(crate) suggesting: Reports,
    /// How recent these reports must be. **Default: `3h`**
    #[serde(with = "duration")]
    pub(crate) suggesting_within: Duration,
}

/// A distance in metres.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub(crate) struct Metres(u32);

/// A number of reports, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub(crate) struct Reports(u32);

/// A number that is not [`Metres`] or [`Reports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from {least} to {most}")]
pub(crate) struct InvalidRule {
    least: u32,
    most: u32,
}

impl TryFrom<Number> for Metres {
    type Error = InvalidRule;

    fn try_from(number: Number) -> Result<Self, InvalidRule> {
        const MOST: u32 = 100_000;
        number.get().filter(|metres| *metres <= MOST).map(Self).ok_or(InvalidRule { least: 0, most: MOST })
    }
}

impl TryFrom<Number> for Reports {
    type Error = InvalidRule;

    fn try_from(number: Number) -> Result<Self, InvalidRule> {
        const MOST: u32 = 1_000;
        number
            .get()
            .filter(|count| (1..=MOST).contains(count))
            .map(Self)
            .ok_or(InvalidRule { least: 1, most: MOST })
    }
}

impl From<Metres> for u32 {
    fn from(metres: Metres) -> Self {
        metres.0
    }
}

impl From<Reports> for u32 {
    fn from(reports: Reports) -> Self {
        reports.0
    }
}

impl Default for AttentionRules {
    fn default() -> Self {
        Self {
            unconfirmed: Duration::from_hours(20),
            window: Duration::from_hours(24),
            gauge_distance: Metres(1_000),
            suggesting: Reports(2),
            suggesting_within: Duration::from_hours(3),
        }
    }
}

/// What is known of the areas. Reports and readings older than the window do not count.
#[derive(Debug)]
pub(crate) struct Scene<'s> {
    pub(crate) areas: &'s AreaSet,
    /// The states of the flooded areas.
    pub(crate) standing: HashMap<AreaId, Standing>,
    /// When each area last changed, if it did within the window.
    pub(crate) changed: HashMap<AreaId, Timestamp>,
    /// Reports of floods that readers may see.
    pub(crate) reports: &'s [Arc<Report>],
    pub(crate) gauges: &'s [ObservedGauge],
    pub(crate) now: Timestamp,
}

/// An area that needs attention.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Attention {
    pub(crate) area_id: AreaId,
    /// The newest reason first.
    pub(crate) reasons: Vec<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suggested: Option<Suggestion>,
}

/// Why an area needs attention.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "lowercase")]
pub(crate) enum Reason {
    /// Residents have reported a flood since the area last changed.
    Reports { at: Timestamp, first: Timestamp, report_ids: Vec<ReportKey>, depths: Vec<f64> },
    /// Nobody has confirmed the state for long.
    Unconfirmed { at: Timestamp, since: Timestamp, lapses: Timestamp },
    /// A gauge nearby has had an alarm since the area last changed.
    Gauge { at: Timestamp, gaugeid: String, gaugenameid: String, alert: u8, label: String },
}

impl Reason {
    /// Returns since when the reason holds, or when it was last renewed.
    pub(crate) fn at(&self) -> Timestamp {
        match self {
            Self::Reports { at, .. } | Self::Unconfirmed { at, .. } | Self::Gauge { at, .. } => *at,
        }
    }
}

/// The state that reports of an area suggest, and these reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Suggestion {
    pub(crate) state: FloodState,
    pub(crate) evidence: Evidence,
}

/// What suggests a state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Evidence {
    pub(crate) report_ids: Vec<ReportKey>,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
    /// The depths in centimetres that the reports give, in their order.
    pub(crate) depths: Vec<f64>,
    /// The names of gauges nearby that have an alarm, each with its label.
    pub(crate) gauges: Vec<String>,
}

/// Returns the areas that need attention, the newest reason first. Costs O(areas + reports + areas × gauges with an alarm).
pub(crate) fn attention(scene: &Scene<'_>, rules: &AttentionRules) -> Vec<Attention> {
    let mut found: BTreeMap<AreaId, Attention> = BTreeMap::new();
    let mut add = |area_id, reason| {
        let none = || Attention { area_id, reasons: Vec::new(), suggested: None };
        found.entry(area_id).or_insert_with(none).reasons.push(reason);
    };
    for (area, reports) in &scene.new_reports(rules) {
        add(*area, told(reports));
    }
    for (area, Standing { since, .. }) in &scene.standing {
        let at = since.after(rules.unconfirmed);
        if at <= scene.now {
            add(*area, Reason::Unconfirmed { at, since: *since, lapses: since.after(alerts::CONFIRMED_FOR) });
        }
    }
    for gauge in scene.gauges {
        let Some((at, alert, label)) = alarm(gauge) else { continue };
        for area in scene.areas {
            let is_new = scene.changed.get(&area.id).is_none_or(|changed| at > *changed);
            if is_new && is_near(area, gauge.gauge.location, rules.gauge_distance) {
                add(
                    area.id,
                    Reason::Gauge {
                        at,
                        gaugeid: gauge.gauge.id.clone(),
                        gaugenameid: gauge.gauge.name.clone(),
                        alert: alert.number(),
                        label: label.to_owned(),
                    },
                );
            }
        }
    }
    let reports = scene.new_reports(rules);
    let mut found: Vec<_> = found.into_values().collect();
    for area in &mut found {
        area.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.at()));
        area.suggested =
            reports.get(&area.area_id).and_then(|reports| scene.suggestion(reports, &area.reasons, rules));
    }
    // By number, the order of areas with equally new reasons is always the same.
    found.sort_by_key(|area| std::cmp::Reverse(area.reasons.first().map(Reason::at)));
    found
}

impl Scene<'_> {
    /// Returns the reports of each area that were made since it last changed, oldest first.
    fn new_reports(&self, rules: &AttentionRules) -> BTreeMap<AreaId, Vec<&Report>> {
        let from = self.now.before(rules.window);
        let mut of_areas: BTreeMap<AreaId, Vec<&Report>> = BTreeMap::new();
        for report in self.reports {
            let made = report.content.created_at;
            if report.content.is_training || made < from || made > self.now {
                continue;
            }
            let Some(area) = report.tags.local_area_id else { continue };
            if self.changed.get(&area).is_none_or(|changed| made > *changed) {
                of_areas.entry(area).or_default().push(report);
            }
        }
        for reports in of_areas.values_mut() {
            reports.sort_by_key(|report| (report.content.created_at, report.key));
        }
        of_areas
    }

    /// Returns what the reports of an area suggest.
    fn suggestion(
        &self,
        reports: &[&Report],
        reasons: &[Reason],
        rules: &AttentionRules,
    ) -> Option<Suggestion> {
        let from = self.now.before(rules.suggesting_within);
        // A card has one report.
        let is_recent =
            |report: &&&Report| &*report.content.source == CARD_SOURCE && report.content.created_at >= from;
        let recent: Vec<_> = reports.iter().filter(is_recent).copied().collect();
        let (first, last) = (recent.first()?.content.created_at, recent.last()?.content.created_at);
        if recent.len() < rules.suggesting.0 as usize {
            return None;
        }
        let depths: Vec<_> = recent.iter().filter_map(|report| depth(report)).collect();
        let gauges = reasons.iter().filter_map(|reason| match reason {
            Reason::Gauge { gaugenameid, label, .. } => Some(format!("{gaugenameid}: {label}")),
            _ => None,
        });
        Some(Suggestion {
            state: median(&depths).map_or(FloodState::Unknown, FloodState::of_depth),
            evidence: Evidence {
                report_ids: recent.iter().map(|report| report.key).collect(),
                first,
                last,
                depths,
                gauges: gauges.collect(),
            },
        })
    }
}

/// The reason that residents have reported a flood. There is at least one report.
fn told(reports: &[&Report]) -> Reason {
    let made = |report: Option<&&Report>| report.map_or(Timestamp::EPOCH, |report| report.content.created_at);
    Reason::Reports {
        at: made(reports.last()),
        first: made(reports.first()),
        report_ids: reports.iter().map(|report| report.key).collect(),
        depths: reports.iter().filter_map(|report| depth(report)).collect(),
    }
}

/// Returns the depth that a report gives, in centimetres.
fn depth(report: &Report) -> Option<f64> {
    let data: Value = serde_json::from_str(report.content.report_data.as_ref()?.get()).ok()?;
    data.get("flood_depth")?.as_f64().filter(|depth| (0.0..=10_000.0).contains(depth))
}

fn median(depths: &[f64]) -> Option<f64> {
    let mut sorted = depths.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

/// Returns since when a gauge has had its alarm without interruption, with its level and the agency's name for that.
fn alarm(gauge: &ObservedGauge) -> Option<(Timestamp, AlertLevel, &str)> {
    let rings = |alert| alert <= AlertLevel::Alert;
    let newest = gauge.observations.last().filter(|reading| rings(reading.alert))?;
    let ringing = gauge.observations.iter().rev().take_while(|reading| rings(reading.alert));
    let since = ringing.last().map_or(newest.observed_at, |reading| reading.observed_at);
    Some((since, newest.alert, &newest.label))
}

/// Returns whether an area, or a part of it, is at most this far from a place.
fn is_near(area: &Area, place: Position, Metres(most): Metres) -> bool {
    const METRES_A_DEGREE: f64 = 111_320.0;
    let place = place.coord();
    let east = METRES_A_DEGREE * place.y.to_radians().cos();
    let most = f64::from(most);
    if most == 0.0 {
        return false;
    }
    let Some(bounds) = area.geometry().bounds() else { return false };
    let beyond = |low: f64, high: f64, at: f64| (low - at).max(at - high).max(0.0);
    let (x, y) =
        (beyond(bounds.min().x, bounds.max().x, place.x), beyond(bounds.min().y, bounds.max().y, place.y));
    if (x * east).hypot(y * METRES_A_DEGREE) > most {
        return false;
    }
    // In metres around the place: over such distances the Earth is flat.
    let outline = area
        .outline
        .map_coords(|at| geo::Coord { x: (at.x - place.x) * east, y: (at.y - place.y) * METRES_A_DEGREE });
    Euclidean.distance(&outline, &Point::new(0.0, 0.0)) <= most
}

#[cfg(test)]
mod tests {
    use geo::{MultiPolygon, Rect};
    use serde_json::{json, value::to_raw_value};

    use super::*;
    use crate::model::{DisasterType, Gauge, Observation, ReportContent, Tags};

    const MINUTE: Duration = Duration::from_mins(1);

    fn start() -> Timestamp {
        Timestamp::parse("2017-02-19T00:00:00Z").unwrap()
    }

    fn minute(minute: u64) -> Timestamp {
        start().after(MINUTE * u32::try_from(minute).unwrap())
    }

    fn id(number: u64) -> AreaId {
        number.try_into().unwrap()
    }

    /// Areas in a row, each 1.1 km wide, from 106° E, on the equator.
    fn areas(count: u64) -> AreaSet {
        let area = |number: u64| {
            let west = 106.0 + 0.01 * number as f64;
            Area {
                id: id(number),
                geom_id: String::new(),
                name: format!("RW {number}"),
                parent_name: String::new(),
                city_name: String::new(),
                city_code: String::new(),
                region_code: String::new(),
                attributes: None,
                outline: MultiPolygon::new(vec![Rect::new((west, 0.0), (west + 0.01, 0.01)).to_polygon()]),
            }
        };
        AreaSet::new((0..count).map(area).collect()).unwrap()
    }

    fn report(key: u64, area: u64, at: Timestamp, depth: Option<u32>) -> Arc<Report> {
        let data = depth.map(|depth| to_raw_value(&json!({ "flood_depth": depth })).unwrap());
        Arc::new(Report {
            key: key.try_into().unwrap(),
            content: ReportContent {
                created_at: at,
                source: CARD_SOURCE.into(),
                url: Some(format!("card{key}").into()),
                image_url: None,
                disaster_type: DisasterType::Flood,
                report_data: data,
                title: "".into(),
                text: "".into(),
                location: Position::new(106.0, 0.0).unwrap(),
                is_training: false,
                partner_code: None,
                partner_icon: None,
            },
            tags: Tags { local_area_id: Some(id(area)), ..Tags::default() },
        })
    }

    fn gauge(lng: f64, alerts: &[u64]) -> ObservedGauge {
        let reading = |(number, alert): (usize, &u64)| {
            let alert = AlertLevel::try_from(*alert).unwrap();
            let observed_at = minute(10 * number as u64);
            Observation { observed_at, level: 750.0, alert, label: alert.label().into() }
        };
        let location = Position::new(lng, 0.005).unwrap();
        let gauge = Gauge { id: "M1".to_owned(), name: "Manggarai".to_owned(), region_code: None, location };
        ObservedGauge {
            gauge: Arc::new(gauge),
            observations: alerts.iter().enumerate().map(reading).collect(),
        }
    }

    fn scene<'s>(areas: &'s AreaSet, reports: &'s [Arc<Report>], now: Timestamp) -> Scene<'s> {
        Scene { areas, standing: HashMap::new(), changed: HashMap::new(), reports, gauges: &[], now }
    }

    fn listed(scene: &Scene<'_>) -> Vec<u64> {
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
        scene.standing.insert(id(1), Standing { state: FloodState::Minor, since: start() });
        assert_eq!(listed(&scene), [] as [u64; 0]);
        scene.now = minute(20 * 60);
        let lapses = minute(24 * 60);
        let expected = Reason::Unconfirmed { at: minute(20 * 60), since: start(), lapses };
        assert_eq!(attention(&scene, &AttentionRules::default())[0].reasons, [expected]);
    }

    #[test]
    fn areas_near_a_gauge_are_on_the_list_while_it_has_an_alarm() {
        let areas = areas(10);
        // In the middle of area 4. Area 2 begins 1.7 km from it, area 3 ends 560 m from it.
        let lng = 106.045;
        for (alerts, expected) in
            [(&[4, 2, 1][..], &[3, 4, 5][..]), (&[2, 2, 3], &[]), (&[3], &[]), (&[], &[])]
        {
            let gauges = [gauge(lng, alerts)];
            let scene = Scene { gauges: &gauges, ..scene(&areas, &[], minute(40)) };
            assert_eq!(listed(&scene), expected, "{alerts:?}");
        }
        let gauges = [gauge(lng, &[4, 2, 1])];
        let changed = [(id(3), minute(9)), (id(4), minute(10)), (id(5), minute(25))].into();
        let scene = Scene { gauges: &gauges, changed, ..scene(&areas, &[], minute(40)) };
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
        assert_eq!(
            (found[0].reasons.len(), &found[0].suggested),
            (1, &None),
            "a partner's report has no card"
        );
    }

    /// Numbers that are always the same: `SplitMix64`.
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

    /// An area, and when it was set to which state.
    type Setting = (u64, Timestamp, u64);

    /// A made-up flood with the proportions of that of February 2017: 337 areas are set within 73 hours, 203 of them after
    /// reports, the first of which came 43 minutes before in the median; of 84 areas with three reports or more, 41 are set; the
    /// depths agree in nine of ten. Returns when each area was set to which state, and the reports.
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
            // Most reports come after the area was set, or from areas that are never set.
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
    fn the_list_names_more_than_half_of_the_floods_before_they_were_set() {
        let areas = areas(600);
        let (set, reports) = made_up_flood(&mut Dice(2017));
        assert_eq!(reports.len(), 1_200);
        let (mut named, mut suggested, mut agreed) = (0, 0, 0);
        for (area, at, state) in &set {
            let now = at.before(Duration::from_millis(1));
            let changed =
                set.iter().filter(|(_, set, _)| *set <= now).map(|(area, set, _)| (id(*area), *set));
            let scene = Scene { changed: changed.collect(), ..scene(&areas, &reports, now) };
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
}
