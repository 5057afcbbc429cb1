//! Finds the areas that need the attention of the officers who set flood states, and why. Never sets a state.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Not;
use std::sync::Arc;
use std::time::Duration;

use geo::{Distance, Euclidean, MapCoords, Point};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AlertLevel, Area, AreaId, AreaSet, CARD_SOURCE, CurrentState, FloodState, GaugeStatus, Number,
    ObservedGauge, Position, Quality, Report, ReportKey, Timestamp, alerts, duration,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AttentionRules {
    /// A state needs attention this long after its last confirmation. **Default: `20h`**, four hours before its alert lapses
    #[serde(with = "duration")]
    pub(crate) unconfirmed: Duration,
    /// How far back reports and readings count. **Default: `24h`**
    #[serde(with = "duration")]
    pub(crate) window: Duration,
    /// The maximum distance of an area from a gauge with an alarm, in metres; `0` ignores gauges. **Default: `1000`**
    pub(crate) gauge_distance: Metres,
    /// How many reports from different cards suggest a state. **Default: `2`**
    pub(crate) suggesting: Reports,
    /// The maximum age of reports that suggest a state. **Default: `3h`**
    #[serde(with = "duration")]
    pub(crate) suggesting_within: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub(crate) struct Metres(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub(crate) struct Reports(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from {min} to {max}")]
pub(crate) struct InvalidRule {
    min: u32,
    max: u32,
}

impl TryFrom<Number> for Metres {
    type Error = InvalidRule;

    fn try_from(number: Number) -> Result<Self, InvalidRule> {
        const MAX: u32 = 100_000;
        number.get().filter(|metres| *metres <= MAX).map(Self).ok_or(InvalidRule { min: 0, max: MAX })
    }
}

impl TryFrom<Number> for Reports {
    type Error = InvalidRule;

    fn try_from(number: Number) -> Result<Self, InvalidRule> {
        const MAX: u32 = 1_000;
        number
            .get()
            .filter(|count| (1..=MAX).contains(count))
            .map(Self)
            .ok_or(InvalidRule { min: 1, max: MAX })
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

/// The input of [`attention`]. Reports and readings older than the window do not count.
#[derive(Debug)]
pub(crate) struct AttentionInput<'s> {
    pub(crate) areas: &'s AreaSet,
    pub(crate) states: HashMap<AreaId, CurrentState>,
    /// The time of the last change of each area that changed within the window.
    pub(crate) changed: HashMap<AreaId, Timestamp>,
    pub(crate) reports: &'s [Arc<Report>],
    pub(crate) waiting: &'s [Arc<Report>],
    pub(crate) gauges: &'s [ObservedGauge],
    pub(crate) now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Attention {
    pub(crate) area_id: AreaId,
    /// The reasons, newest first.
    pub(crate) reasons: Vec<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suggested: Option<Suggestion>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "lowercase")]
pub(crate) enum Reason {
    /// Residents have reported a flood since the area last changed. `waiting_ids` are the reports that still wait for review.
    Reports {
        at: Timestamp,
        first: Timestamp,
        report_ids: Vec<ReportKey>,
        waiting_ids: Vec<ReportKey>,
        depths: Vec<f64>,
    },
    /// The state has not been confirmed for a long time.
    Unconfirmed { at: Timestamp, since: Timestamp, lapses: Timestamp },
    /// A gauge nearby has had an alarm since the area last changed.
    Gauge {
        at: Timestamp,
        gaugeid: String,
        gaugenameid: String,
        alert: u8,
        label: String,
        /// Whether the newest reading is suspect.
        #[serde(skip_serializing_if = "Not::not")]
        suspect: bool,
        /// The time of the newest reading, if the gauge is silent.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_heard: Option<Timestamp>,
    },
}

impl Reason {
    pub(crate) fn at(&self) -> Timestamp {
        match self {
            Self::Reports { at, .. } | Self::Unconfirmed { at, .. } | Self::Gauge { at, .. } => *at,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Suggestion {
    pub(crate) state: FloodState,
    pub(crate) evidence: Evidence,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Evidence {
    pub(crate) report_ids: Vec<ReportKey>,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
    /// The reported depths in centimetres, in the order of the reports.
    pub(crate) depths: Vec<f64>,
    pub(crate) gauges: Vec<String>,
}

/// Returns the areas that need attention, newest reason first. Costs O(areas + reports + areas × gauges with an alarm).
pub(crate) fn attention(input: &AttentionInput<'_>, rules: &AttentionRules) -> Vec<Attention> {
    let mut found: BTreeMap<AreaId, Attention> = BTreeMap::new();
    let mut add = |area_id, reason| {
        let without_reasons = || Attention { area_id, reasons: Vec::new(), suggested: None };
        found.entry(area_id).or_insert_with(without_reasons).reasons.push(reason);
    };
    let reports = input.new_reports(rules);
    let waiting: HashSet<_> = input.waiting.iter().map(|report| report.key).collect();
    for (area, reports) in &reports {
        add(*area, reports_reason(reports, &waiting));
    }
    for (area, CurrentState { confirmed, last_updated, .. }) in &input.states {
        let since = confirmed.unwrap_or(*last_updated);
        let at = since.saturating_add(rules.unconfirmed);
        if at <= input.now {
            add(
                *area,
                Reason::Unconfirmed { at, since, lapses: since.saturating_add(alerts::CONFIRMED_FOR) },
            );
        }
    }
    for gauge in input.gauges {
        let status = gauge.activity.as_ref().map(|activity| activity.status);
        if status == Some(GaugeStatus::Muted) {
            continue;
        }
        let last_heard = gauge.observations.last().filter(|_| status == Some(GaugeStatus::Silent));
        let last_heard = last_heard.map(|last| last.observed_at);
        let Some(Alarm { since: at, alert, label, is_suspect }) = alarm(gauge) else { continue };
        for area in input.areas {
            let is_new = input.changed.get(&area.id).is_none_or(|changed| at > *changed);
            if is_new && is_near(area, gauge.gauge.location, rules.gauge_distance) {
                add(
                    area.id,
                    Reason::Gauge {
                        at,
                        gaugeid: gauge.gauge.id.clone(),
                        gaugenameid: gauge.gauge.name.clone(),
                        alert: alert.number(),
                        suspect: is_suspect,
                        last_heard,
                        label: label.to_owned(),
                    },
                );
            }
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    for area in &mut found {
        area.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.at()));
        area.suggested = reports
            .get(&area.area_id)
            .and_then(|reports| input.suggestion(reports, &waiting, &area.reasons, rules));
    }
    // Areas are sorted by number, and the sort is stable, so the order is deterministic.
    found.sort_by_key(|area| std::cmp::Reverse(area.reasons.first().map(Reason::at)));
    found
}

impl AttentionInput<'_> {
    /// Returns the reports made within the window and after the last change of their area, oldest first. Skips trainings.
    fn new_reports(&self, rules: &AttentionRules) -> BTreeMap<AreaId, Vec<&Report>> {
        let from = self.now.saturating_sub(rules.window);
        let mut by_area: BTreeMap<AreaId, Vec<&Report>> = BTreeMap::new();
        for report in self.reports.iter().chain(self.waiting) {
            let created_at = report.content.created_at;
            if report.content.is_training || created_at < from || created_at > self.now {
                continue;
            }
            let Some(area) = report.tags.local_area_id else { continue };
            if self.changed.get(&area).is_none_or(|changed| created_at > *changed) {
                by_area.entry(area).or_default().push(report);
            }
        }
        for reports in by_area.values_mut() {
            reports.sort_by_key(|report| (report.content.created_at, report.key));
        }
        by_area
    }

    /// Returns the suggested state. Ignores reports that wait for review.
    fn suggestion(
        &self,
        reports: &[&Report],
        waiting: &HashSet<ReportKey>,
        reasons: &[Reason],
        rules: &AttentionRules,
    ) -> Option<Suggestion> {
        let from = self.now.saturating_sub(rules.suggesting_within);
        // Cards have one report each, so these reports are from different cards.
        let is_recent = |report: &&&Report| {
            let is_card = &*report.content.source == CARD_SOURCE && !waiting.contains(&report.key);
            is_card && report.content.created_at >= from
        };
        let recent: Vec<_> = reports.iter().filter(is_recent).copied().collect();
        let (first, last) = (recent.first()?.content.created_at, recent.last()?.content.created_at);
        if recent.len() < rules.suggesting.0 as usize {
            return None;
        }
        let depths: Vec<_> = recent.iter().filter_map(|report| flood_depth(report)).collect();
        let gauges = reasons.iter().filter_map(|reason| match reason {
            Reason::Gauge { gaugenameid, label, .. } => Some(format!("{gaugenameid}: {label}")),
            _ => None,
        });
        Some(Suggestion {
            state: median(&depths).map_or(FloodState::Unknown, FloodState::from_depth),
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

fn reports_reason(reports: &[&Report], waiting: &HashSet<ReportKey>) -> Reason {
    let created_at =
        |report: Option<&&Report>| report.map_or(Timestamp::EPOCH, |report| report.content.created_at);
    Reason::Reports {
        at: created_at(reports.last()),
        first: created_at(reports.first()),
        report_ids: reports.iter().map(|report| report.key).collect(),
        waiting_ids: reports.iter().map(|report| report.key).filter(|key| waiting.contains(key)).collect(),
        depths: reports.iter().filter_map(|report| flood_depth(report)).collect(),
    }
}

/// Returns the reported depth in centimetres; `None` if it is absent, or not from 0 to 10,000.
pub(crate) fn flood_depth(report: &Report) -> Option<f64> {
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

struct Alarm<'g> {
    since: Timestamp,
    alert: AlertLevel,
    /// The agency's name for the level.
    label: &'g str,
    is_suspect: bool,
}

/// Returns a gauge's current alarm. The readings must be usable; a suspect one is an alarm, too, so that a fast rise counts at once.
fn alarm(gauge: &ObservedGauge) -> Option<Alarm<'_>> {
    let is_alarm = |alert| alert <= AlertLevel::Alert;
    let newest = gauge.observations.last().filter(|reading| is_alarm(reading.alert))?;
    let alarms = gauge.observations.iter().rev().take_while(|reading| is_alarm(reading.alert));
    let since = alarms.last().map_or(newest.observed_at, |reading| reading.observed_at);
    let is_suspect = matches!(newest.quality, Quality::Suspect(_));
    Some(Alarm { since, alert: newest.alert, label: &newest.label, is_suspect })
}

/// Returns whether the place is at most `limit` metres from the area; false if the limit is 0.
fn is_near(area: &Area, place: Position, Metres(limit): Metres) -> bool {
    const METRES_PER_DEGREE: f64 = 111_320.0;
    let place = place.coord();
    let metres_per_lng_degree = METRES_PER_DEGREE * place.y.to_radians().cos();
    let limit = f64::from(limit);
    if limit == 0.0 {
        return false;
    }
    let Some(bounds) = area.geometry().bounds() else { return false };
    let gap = |low: f64, high: f64, at: f64| (low - at).max(at - high).max(0.0);
    let (x, y) = (gap(bounds.min().x, bounds.max().x, place.x), gap(bounds.min().y, bounds.max().y, place.y));
    if (x * metres_per_lng_degree).hypot(y * METRES_PER_DEGREE) > limit {
        return false;
    }
    // Converts to metres from the place. Over such short distances the curvature of the Earth does not matter.
    let outline = area.outline.map_coords(|at| geo::Coord {
        x: (at.x - place.x) * metres_per_lng_degree,
        y: (at.y - place.y) * METRES_PER_DEGREE,
    });
    Euclidean.distance(&outline, &Point::new(0.0, 0.0)) <= limit
}

#[cfg(test)]
mod tests;
