//! Whether a gauge still sends readings, and whether its water rises.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::{Gauge, Observation, Quality, Timestamp};

/// Whether the readings of a gauge can be relied on now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GaugeStatus {
    /// The gauge sends readings that are not in doubt.
    Ok,
    /// The newest reading is suspect.
    Suspect,
    /// Three expected readings are missing.
    Silent,
    /// The gauge was never read.
    Never,
    /// An operator has switched the gauge off for a time.
    Muted,
}

impl GaugeStatus {
    /// All statuses.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Suspect, Self::Silent, Self::Never, Self::Muted];

    /// Returns the name in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Suspect => "suspect",
            Self::Silent => "silent",
            Self::Never => "never",
            Self::Muted => "muted",
        }
    }
}

/// What the newest readings of a gauge tell about the gauge.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeActivity {
    /// The status. Muted comes before silent, and silent before suspect.
    pub status: GaugeStatus,
    /// The newest usable reading that is not in the future.
    pub last: Option<Observation>,
    /// The expected time between two readings.
    pub every: Duration,
    /// When the gauge falls or fell silent; `None` if it was never heard.
    pub silent_since: Option<Timestamp>,
    /// How fast the water rises.
    pub trend: Option<Trend>,
    /// When the gauge ceases to be muted.
    pub muted_until: Option<Timestamp>,
}

/// How fast the level changes, by the median of the slopes between all pairs of readings (Theil–Sen).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// Centimetres per hour, to one decimal place; positive if the water rises.
    pub cm_per_hour: f64,
    /// The first reading that counts.
    #[serde(serialize_with = "with_offset")]
    pub from: Timestamp,
    /// The last one.
    #[serde(serialize_with = "with_offset")]
    pub to: Timestamp,
}

fn with_offset<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.with_offset())
}

/// How far the clock of a sender may be ahead.
const MOST_AHEAD: Duration = Duration::from_mins(10);
/// A gauge is silent after this many intervals without a reading.
const SILENT_AFTER: u32 = 3;
/// The interval is the median of the last distances between readings: at most 20, and at least 5.
const DISTANCES: usize = 20;
const FEWEST_DISTANCES: usize = 5;
const SHORTEST_INTERVAL: Duration = Duration::from_mins(1);
const LONGEST_INTERVAL: Duration = Duration::from_hours(24);
/// A trend needs readings of this time before the last one.
const TREND_WINDOW: Duration = Duration::from_hours(2);
const TREND_READINGS: usize = 4;
const TREND_SPAN: Duration = Duration::from_mins(30);
/// Of more readings in the window, evenly spaced ones count, so that a trend needs at most 435 slopes.
const MOST_TREND_READINGS: usize = 30;

impl GaugeActivity {
    /// The number of newest readings that decide on the interval.
    pub(crate) const READINGS: usize = DISTANCES + 1;
    /// Older readings count only among the newest 21: at most three intervals have passed since the newest reading of a gauge that
    /// is not silent, and 20 intervals of over 7 minutes are longer than the time of a trend.
    pub(crate) const WINDOW: Duration = Duration::from_mins(140);

    /// Computes the activity from the newest readings of a gauge, oldest first. `every` is the interval of gauges that have
    /// neither a configured one nor enough readings. Only usable readings count; those up to 10 minutes ahead count as heard.
    #[must_use]
    pub fn new(gauge: &Gauge, readings: &[Observation], every: Duration, now: Timestamp) -> Self {
        let latest = now.saturating_add(MOST_AHEAD);
        let is_heard = |reading: &&Observation| reading.quality.is_usable() && reading.observed_at <= latest;
        let usable: Vec<_> = readings.iter().filter(is_heard).collect();
        let every = gauge.settings.interval().or_else(|| typical_interval(&usable)).unwrap_or(every);
        // A gauge of which all newest readings are unusable is silent, at the latest since the first of them.
        let heard = usable.last().map(|newest| newest.observed_at);
        let unheard = || readings.first().map(|first| first.observed_at).filter(|first| *first <= now);
        let silent_since =
            heard.map(|at| at.saturating_add(every.saturating_mul(SILENT_AFTER))).or_else(unheard);
        let past = usable.partition_point(|reading| reading.observed_at <= now);
        let last = past.checked_sub(1).map(|index| usable[index]);
        let muted_until = gauge.mute.as_ref().and_then(|mute| mute.until).filter(|until| now < *until);
        let status = match (silent_since, last) {
            _ if muted_until.is_some() => GaugeStatus::Muted,
            (None, _) => GaugeStatus::Never,
            (Some(since), _) if since <= now => GaugeStatus::Silent,
            (_, Some(last)) if matches!(last.quality, Quality::Suspect(_)) => GaugeStatus::Suspect,
            _ => GaugeStatus::Ok,
        };
        let is_current = matches!(status, GaugeStatus::Ok | GaugeStatus::Suspect);
        let trend = is_current.then(|| trend(&usable[..past])).flatten();
        Self { status, last: last.cloned(), every, silent_since, trend, muted_until }
    }

    /// Returns the next time at which the status changes if no data changes.
    pub(crate) fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        self.silent_since.into_iter().chain(self.muted_until).filter(|change| now < *change).min()
    }
}

fn typical_interval(readings: &[&Observation]) -> Option<Duration> {
    let newest = &readings[readings.len().saturating_sub(DISTANCES + 1)..];
    let distances = newest.windows(2);
    let mut distances: Vec<_> =
        distances.map(|pair| pair[1].observed_at.saturating_duration_since(pair[0].observed_at)).collect();
    if distances.len() < FEWEST_DISTANCES {
        return None;
    }
    let middle = distances.len() / 2;
    let (_, median, _) = distances.select_nth_unstable(middle);
    Some((*median).clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL))
}

fn trend(readings: &[&Observation]) -> Option<Trend> {
    let end = readings.last()?.observed_at;
    let start = end.saturating_sub(TREND_WINDOW);
    let is_good = |quality| matches!(quality, Quality::Pass | Quality::NotEvaluated);
    let good = readings.iter().filter(|reading| start <= reading.observed_at && is_good(reading.quality));
    let good: Vec<_> = good.copied().collect();
    let (from, to) = (good.first()?.observed_at, good.last()?.observed_at);
    if good.len() < TREND_READINGS || to.saturating_duration_since(from) < TREND_SPAN {
        return None;
    }
    let count = good.len().min(MOST_TREND_READINGS);
    let thinned: Vec<_> = (0..count).map(|index| good[index * (good.len() - 1) / (count - 1)]).collect();
    let mut slopes: Vec<f64> = Vec::with_capacity(count * (count - 1) / 2);
    for (index, one) in thinned.iter().enumerate() {
        slopes.extend(thinned[index + 1..].iter().map(|other| {
            let hours = other.observed_at.saturating_duration_since(one.observed_at).as_secs_f64() / 3_600.0;
            (other.level - one.level) / hours
        }));
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let median = f64::midpoint(slopes[(slopes.len() - 1) / 2], slopes[slopes.len() / 2]);
    // Adding zero removes the sign of −0.
    let cm_per_hour = (median * 10.0).round() / 10.0 + 0.0;
    cm_per_hour.is_finite().then_some(Trend { cm_per_hour, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Actor, AlertLevel, Doubt, GaugeSettings, Mute, Position};

    const EVERY: Duration = Duration::from_mins(20);

    fn at(minute: u64) -> Timestamp {
        Timestamp::EPOCH.saturating_add(Duration::from_mins(minute))
    }

    fn gauge(every: Option<u32>, muted_until: Option<u64>) -> Gauge {
        let mute = muted_until.map(|minute| Mute {
            at: at(0),
            until: Some(at(minute)),
            reason: "cleaning".into(),
            by: Actor { subject: "desk".to_owned(), username: None },
        });
        Gauge {
            id: "G1".to_owned(),
            name: "Gauge".to_owned(),
            region_code: None,
            location: Position::new(106.8, -6.2).unwrap(),
            settings: GaugeSettings { every, ..GaugeSettings::default() },
            mute,
        }
    }

    fn readings(levels: impl IntoIterator<Item = (u64, f64)>) -> Vec<Observation> {
        let alert = Some((AlertLevel::Normal, "SIAGA IV".into()));
        let reading = |(minute, level)| Observation::new(at(minute), level, alert.clone(), None).unwrap();
        levels.into_iter().map(reading).collect()
    }

    fn status(gauge: &Gauge, readings: &[Observation], minute: u64) -> GaugeStatus {
        GaugeActivity::new(gauge, readings, EVERY, at(minute)).status
    }

    #[test]
    fn a_gauge_is_silent_after_three_intervals_its_own_or_typical_ones_or_the_default() {
        let hourly = readings((0..8).map(|hour| (60 * hour, 10.0)));
        let (unset, set) = (gauge(None, None), gauge(Some(300), None));
        assert_eq!(status(&unset, &hourly, 420 + 179), GaugeStatus::Ok);
        assert_eq!(status(&unset, &hourly, 420 + 180), GaugeStatus::Silent);
        assert_eq!(status(&set, &hourly, 420 + 14), GaugeStatus::Ok);
        assert_eq!(status(&set, &hourly, 420 + 15), GaugeStatus::Silent);
        assert_eq!(status(&unset, &hourly[..5], 240 + 59), GaugeStatus::Ok, "four distances are too few");
        assert_eq!(status(&unset, &hourly[..5], 240 + 60), GaugeStatus::Silent);
        assert_eq!(status(&unset, &[], 0), GaugeStatus::Never);
        let seconds = readings([(0, 1.0); 8]);
        assert_eq!(GaugeActivity::new(&unset, &seconds, EVERY, at(1)).every, Duration::from_mins(1));
    }

    #[test]
    fn muted_comes_before_silent_and_silent_before_suspect() {
        let mut all = readings([(0, 1.0)]);
        all[0].quality = Quality::Suspect(Doubt::Spike);
        assert_eq!(status(&gauge(None, None), &all, 10), GaugeStatus::Suspect);
        assert_eq!(status(&gauge(None, None), &all, 100), GaugeStatus::Silent);
        assert_eq!(status(&gauge(None, Some(101)), &all, 100), GaugeStatus::Muted);
        assert_eq!(status(&gauge(None, Some(100)), &all, 100), GaugeStatus::Silent, "its end");
        all[0].quality = Quality::Missing;
        assert_eq!(status(&gauge(None, None), &all, 10), GaugeStatus::Silent, "a sentinel is no reading");
    }

    #[test]
    fn a_reading_ahead_counts_as_heard_and_is_not_the_last_one_yet() {
        let activity =
            GaugeActivity::new(&gauge(None, None), &readings([(0, 1.0), (70, 2.0)]), EVERY, at(65));
        assert_eq!((activity.status, activity.last.unwrap().level), (GaugeStatus::Ok, 1.0));
    }

    #[test]
    fn a_reading_far_ahead_counts_only_from_ten_minutes_before_its_time() {
        let far = readings([(0, 1.0), (1_000, 2.0)]);
        assert_eq!(status(&gauge(None, None), &far, 989), GaugeStatus::Silent);
        assert_eq!(status(&gauge(None, None), &far, 990), GaugeStatus::Ok);
    }

    #[test]
    fn the_trend_is_the_median_slope_of_the_last_two_hours() {
        let trend = |levels: &[(u64, f64)]| {
            GaugeActivity::new(&gauge(Some(3_600), None), &readings(levels.iter().copied()), EVERY, at(300))
                .trend
        };
        let rise = [(200, 10.0), (220, 14.0), (240, 99.0), (260, 22.0), (280, 26.0)];
        let found = trend(&rise).unwrap();
        assert_eq!(
            (found.cm_per_hour, found.from, found.to),
            (12.0, at(200), at(280)),
            "despite the outlier"
        );
        assert_eq!(trend(&[(200, 1.0), (240, 1.0), (280, 1.0)]), None, "three readings");
        assert_eq!(trend(&[(260, 1.0), (270, 1.0), (280, 1.0), (289, 1.0)]), None, "29 minutes");
        assert_eq!(
            trend(&[(10, 1.0), (20, 9.0), (200, 1.0), (260, 1.0), (280, 1.0)]),
            None,
            "two are too old"
        );
        let minutely: Vec<_> = (0..=299).map(|minute| (minute, minute as f64)).collect();
        assert_eq!(trend(&minutely).map(|trend| trend.cm_per_hour), Some(60.0));
    }
}
