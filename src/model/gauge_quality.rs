//! The quality of readings, in the terms of QARTOD (U.S. IOOS, Manual for Real-Time Quality Control of Water Level Data).

use std::str::FromStr;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{GaugeSettings, Observation, duration};

/// How far a level can be trusted. The numbers are the flags of QARTOD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quality {
    /// 1: every configured test passed.
    Pass,
    /// 2: no test is configured.
    #[default]
    NotEvaluated,
    /// 3: shown with its reason, and evidence of a flood.
    Suspect(Doubt),
    /// 4: not shown, and no evidence.
    Fail(Doubt),
    /// 9: the sender's number for "no value"; not shown, and no evidence.
    Missing,
}

/// Why a level is in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// Outside of what the gauge can measure.
    Range,
    /// A change faster than the configured one.
    Spike,
    /// No change for longer than the configured time.
    Flat,
}

impl Quality {
    /// Returns the flag of QARTOD.
    #[must_use]
    pub fn flag(self) -> u8 {
        match self {
            Self::Pass => 1,
            Self::NotEvaluated => 2,
            Self::Suspect(_) => 3,
            Self::Fail(_) => 4,
            Self::Missing => 9,
        }
    }

    /// Whether the level may be shown and is evidence.
    #[must_use]
    pub fn is_usable(self) -> bool {
        !matches!(self, Self::Fail(_) | Self::Missing)
    }

    /// Returns the reason, if the level is in doubt.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Pass | Self::NotEvaluated => None,
            Self::Suspect(doubt) | Self::Fail(doubt) => Some(match doubt {
                Doubt::Range => "range",
                Doubt::Spike => "spike",
                Doubt::Flat => "flat",
            }),
            Self::Missing => Some("sentinel"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GaugeRules {
    /// The expected time between two readings of a gauge without `every`, until six of its readings show it. **Default: `20m`**
    #[serde(with = "duration")]
    pub(crate) every: Duration,
    /// Age after which readings are erased; `0` keeps all. **Default: `0`**
    #[serde(with = "duration")]
    pub(crate) keep: Duration,
    /// Numbers that senders use for "no value". **Default: −888, −999, −9999, −99999, −999999, 9999, 99999**
    pub(crate) sentinels: Vec<f64>,
    /// The largest change of a level in centimetres per minute. **Default: none, changes are not tested**
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "number_or_text")]
    pub(crate) spike: Option<f64>,
    /// How many hours a level may stay exactly the same. **Default: none, this is not tested**
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "number_or_text")]
    pub(crate) flat: Option<u32>,
}

/// Reads a number, which the environment gives as text.
fn number_or_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + FromStr,
{
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "must be a number")]
    enum Either<T> {
        Number(T),
        Text(String),
    }

    match Either::deserialize(deserializer)? {
        Either::Number(number) => Ok(Some(number)),
        Either::Text(text) => text.parse().map(Some).map_err(|_| D::Error::custom("must be a number")),
    }
}

impl Default for GaugeRules {
    fn default() -> Self {
        let sentinels = vec![-888.0, -999.0, -9_999.0, -99_999.0, -999_999.0, 9_999.0, 99_999.0];
        Self { every: Duration::from_mins(20), keep: Duration::ZERO, sentinels, spike: None, flat: None }
    }
}

const LEAST_KEPT: Duration = Duration::from_hours(32 * 24);
/// A jump fails only if the level comes back within this many readings.
const RETURN: usize = 3;
/// How long before a reading its neighbours can lie, apart from a flat run.
const NEIGHBOURS: Duration = Duration::from_hours(2);

impl GaugeRules {
    /// Returns the key of an unusable value, and the rule that it breaks.
    pub(crate) fn fault(&self) -> Option<(&'static str, &'static str)> {
        if !(Duration::from_mins(1)..=Duration::from_hours(24)).contains(&self.every) {
            return Some(("every", "must be from 1m to 24h"));
        }
        if !self.keep.is_zero() && self.keep < LEAST_KEPT {
            return Some((
                "keep",
                "must be at least 32d, so that the archive has each month, or 0 to keep all readings",
            ));
        }
        if self.spike.is_some_and(|spike| !(spike.is_finite() && spike > 0.0)) {
            return Some(("spike", "must be a number of centimetres per minute above 0"));
        }
        let is_outside = |hours| !(1..=168).contains(&hours);
        self.flat.is_some_and(is_outside).then_some(("flat", "must be a whole number of hours from 1 to 168"))
    }

    /// How long before a reading others can lie that decide on its quality.
    #[must_use]
    pub(crate) fn context(&self) -> Duration {
        let is_tested = self.spike.is_some() || self.flat.is_some();
        let neighbours = if is_tested { NEIGHBOURS } else { Duration::ZERO };
        self.flat_time().unwrap_or_default().saturating_add(neighbours)
    }

    fn flat_time(&self) -> Option<Duration> {
        self.flat.map(|hours| Duration::from_hours(hours.into()))
    }

    /// Sets the quality of the readings of a gauge, oldest first. Costs O(readings).
    pub(crate) fn judge(&self, readings: &mut [Observation], settings: &GaugeSettings) {
        let is_tested = settings.range.is_some() || self.spike.is_some() || self.flat.is_some();
        let fallback = if is_tested { Quality::Pass } else { Quality::NotEvaluated };
        let mut good = Vec::new();
        for (index, reading) in readings.iter_mut().enumerate() {
            // Senders write sentinels exactly.
            let is_sentinel = self.sentinels.contains(&reading.level);
            let is_possible = settings.range.is_none_or(|[low, high]| (low..=high).contains(&reading.level));
            reading.quality = match (is_sentinel, reading.level.is_finite() && is_possible) {
                (true, _) => Quality::Missing,
                (false, false) => Quality::Fail(Doubt::Range),
                (false, true) => {
                    good.push(index);
                    fallback
                }
            };
        }
        if let Some(spike) = self.spike {
            good = judge_jumps(readings, &good, spike);
        }
        if let Some(flat) = self.flat_time() {
            let lowest = settings.thresholds.map_or(f64::NEG_INFINITY, |thresholds| thresholds.lowest());
            judge_flat_runs(readings, &good, flat, lowest);
        }
    }
}

/// Marks jumps among the `good` readings: one that the next reading confirms passes, one that comes back within [`RETURN`] readings
/// fails, and one that is neither yet is suspect. Returns the readings that did not fail.
fn judge_jumps(readings: &mut [Observation], good: &[usize], spike: f64) -> Vec<usize> {
    let is_jump = |readings: &[Observation], one: usize, other: usize| {
        let (one, other) = (&readings[one], &readings[other]);
        let minutes = other.observed_at.saturating_duration_since(one.observed_at).as_secs_f64() / 60.0;
        // Two readings within a minute count as a minute apart.
        (other.level - one.level).abs() > spike * minutes.max(1.0)
    };
    let mut kept = Vec::new();
    let mut at = 0;
    while at < good.len() {
        let current = good[at];
        let Some(&before) = kept.last().filter(|before| is_jump(readings, **before, current)) else {
            kept.push(current);
            at += 1;
            continue;
        };
        let later = &good[at + 1..good.len().min(at + 1 + RETURN)];
        let is_confirmed = later.first().is_some_and(|&next| !is_jump(readings, current, next));
        // The allowed change grows with time, so the level must also be nearer to the one before than to the jump.
        let is_back = |&next: &usize| {
            let distance = |from: usize| (readings[next].level - readings[from].level).abs();
            !is_jump(readings, before, next) && distance(before) < distance(current)
        };
        let back = later.iter().position(is_back);
        match back {
            _ if is_confirmed => kept.push(current),
            Some(between) => {
                for &failed in &good[at..=at + between] {
                    readings[failed].quality = Quality::Fail(Doubt::Spike);
                }
                at += between;
            }
            None => {
                readings[current].quality = Quality::Suspect(Doubt::Spike);
                kept.push(current);
            }
        }
        at += 1;
    }
    kept
}

/// Marks readings above `lowest` whose level has not changed for longer than `flat`.
fn judge_flat_runs(readings: &mut [Observation], good: &[usize], flat: Duration, lowest: f64) {
    let mut run = None;
    for &index in good {
        let (at, level) = (readings[index].observed_at, readings[index].level);
        // A stuck sensor repeats a number exactly.
        #[allow(clippy::float_cmp)]
        let since = match run {
            Some((since, before)) if before == level => since,
            _ => at,
        };
        run = Some((since, level));
        if at.saturating_duration_since(since) > flat && level > lowest {
            readings[index].quality = Quality::Suspect(Doubt::Flat);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AlertLevel, Thresholds, Timestamp};

    fn readings(levels: &[(u64, f64)]) -> Vec<Observation> {
        let reading = |&(minute, level): &(u64, f64)| {
            let at = Timestamp::EPOCH.saturating_add(Duration::from_mins(minute));
            Observation::new(at, level, Some((AlertLevel::Normal, "SIAGA IV".into())), None).unwrap()
        };
        levels.iter().map(reading).collect()
    }

    fn flags(rules: &GaugeRules, settings: &GaugeSettings, levels: &[(u64, f64)]) -> Vec<u8> {
        let mut readings = readings(levels);
        rules.judge(&mut readings, settings);
        readings.iter().map(|reading| reading.quality.flag()).collect()
    }

    #[test]
    fn sentinels_are_missing_and_impossible_levels_fail() {
        let levels =
            [(0, 40.0), (1, -888.0), (2, -999_999.0), (3, -887.9), (4, 1_201.0), (5, f64::NAN), (6, -50.0)];
        let range = GaugeSettings { range: Some([-50.0, 1_200.0]), ..GaugeSettings::default() };
        let rules = GaugeRules::default();
        assert_eq!(flags(&rules, &range, &levels), [1, 9, 9, 4, 4, 4, 1]);
        assert_eq!(flags(&rules, &GaugeSettings::default(), &levels), [2, 9, 9, 2, 2, 4, 2]);
    }

    #[test]
    fn a_jump_is_suspect_until_it_comes_back_or_the_next_reading_confirms_it() {
        let rules = GaugeRules { spike: Some(10.0), ..GaugeRules::default() };
        let judge = |levels: &[(u64, f64)]| flags(&rules, &GaugeSettings::default(), levels);
        // 3 m in 5 minutes.
        assert_eq!(judge(&[(0, 100.0), (5, 400.0)]), [1, 3]);
        assert_eq!(judge(&[(0, 100.0), (5, 400.0), (10, 105.0)]), [1, 4, 1], "and back");
        assert_eq!(judge(&[(0, 100.0), (5, 400.0), (10, 410.0)]), [1, 1, 1], "and staying");
        assert_eq!(judge(&[(0, 100.0), (5, 400.0), (10, 800.0), (15, 102.0), (20, 103.0)]), [1, 4, 4, 1, 1]);
        assert_eq!(judge(&[(0, 100.0), (5, 145.0), (10, 190.0)]), [1, 1, 1], "a fast rise is no jump");
        assert_eq!(judge(&[(0, 100.0), (5, -999.0), (10, 110.0)]), [1, 9, 1], "a sentinel is no neighbour");
        assert_eq!(judge(&[(0, 100.0), (600, 5_000.0)]), [1, 1], "after ten hours");
        for rise in [
            &[(0, 100.0), (15, 300.0), (30, 480.0), (45, 500.0)][..],
            &[(0, 100.0), (10, 201.0), (20, 302.0), (30, 403.0), (40, 410.0)],
            &[(0, 100.0), (5, 400.0), (10, 800.0), (120, 700.0)],
        ] {
            assert!(!judge(rise).contains(&4), "a rise in steps never fails: {rise:?}");
        }
    }

    #[test]
    fn a_level_without_any_change_is_suspect_unless_the_water_is_low() {
        let rules = GaugeRules { flat: Some(24), ..GaugeRules::default() };
        let flat: Vec<_> = (0..=30).map(|hour| (hour * 60, 800.0)).collect();
        let judged = flags(&rules, &GaugeSettings::default(), &flat);
        assert_eq!((&judged[..25], &judged[25..]), (&[1; 25][..], &[3; 6][..]));
        let thresholds = Thresholds::new([Some(950.0), None, Some(800.0)]).ok();
        let settings = GaugeSettings { thresholds, ..GaugeSettings::default() };
        assert_eq!(flags(&rules, &settings, &flat), [1; 31], "at the lowest threshold");
        let mut moved = flat.clone();
        moved[20].1 = 800.1;
        assert_eq!(flags(&rules, &GaugeSettings::default(), &moved), [1; 31]);
    }
}
