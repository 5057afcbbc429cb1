use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};

use super::feed::{Feed, SENTINELS};
use super::gauge::{GaugeState, Location};

/// The most gauges of a feed.
const MAX_GAUGES: usize = 10_000;
/// The most readings of a gauge, in a round and while Siaga is away.
const MAX_READINGS: usize = 1_000;
/// The age of the oldest reading that is sent, in milliseconds.
pub(crate) const MAX_AGE: i64 = 24 * 60 * 60 * 1000;
/// How far ahead of the clock a reading may be, in milliseconds.
const MAX_AHEAD: i64 = 10 * 60 * 1000;

/// A reading as it stands in a document. Texts that the document lacks are empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) gauge: String,
    pub(crate) name: String,
    pub(crate) location: Option<Location>,
    pub(crate) time: String,
    pub(crate) value: String,
    pub(crate) unit: String,
}

/// Why a reading is left out, and what was found.
type Fault<'a> = (&'static str, &'a str);

/// Is not counted: the operator has chosen other gauges.
const UNLISTED: Fault<'_> = ("", "");

/// The readings that a round did not send, counted by reason, with the first gauge and value of each.
#[derive(Default)]
pub(crate) struct Omissions(BTreeMap<&'static str, (usize, String)>);

impl Omissions {
    pub(crate) fn add(&mut self, (reason, found): Fault<'_>, readings: usize, gauge: &str) {
        if readings > 0 && reason != UNLISTED.0 {
            let first = || (0, format!("{} {}", quote(gauge), quote(found)));
            self.0.entry(reason).or_insert_with(first).0 += readings;
        }
    }

    /// Returns a line for each reason.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.0
            .iter()
            .map(|(reason, (readings, first))| format!("left out {readings}: {reason} (first: {first})"))
    }
}

/// Returns a text from outside for a line of the log: shortened, with control characters escaped.
pub(crate) fn quote(text: &str) -> String {
    format!("{:?}", text.chars().take(300).collect::<String>())
}

/// Adds the readings of a round to the gauges. Memory is bounded, whatever the documents contain.
pub(crate) struct Collector<'a> {
    pub(crate) feed: &'a Feed,
    pub(crate) now: DateTime<Utc>,
    pub(crate) gauges: &'a mut HashMap<String, GaugeState>,
    pub(crate) omissions: Omissions,
}

impl Collector<'_> {
    pub(crate) fn add(&mut self, reading: &Reading) {
        if let Err(fault) = self.try_add(reading) {
            self.omissions.add(fault, 1, &reading.gauge);
        }
    }

    fn try_add<'r>(&mut self, reading: &'r Reading) -> Result<(), Fault<'r>> {
        let Reading { gauge, time, value, unit, .. } = reading;
        let (feed, now) = (self.feed, self.now.timestamp_millis());
        let state = self.describe(reading)?;
        let number = value.trim().parse().unwrap_or(f64::NAN);
        let level = feed.unit.to_centimetres(number) + feed.zero.unwrap_or_default();
        let at = feed.time(time.trim());
        let sentinels = feed.sentinels.as_deref().unwrap_or(&SENTINELS);
        let is_unrated = feed.alert.is_none() && feed.gauge(gauge).thresholds.is_empty();
        let has_other_unit = !unit.is_empty() && !feed.unit.matches(unit);
        let checks: [(bool, &'static str, &'r str); 7] = [
            (is_unrated, "the gauge has no thresholds: set them, or `alert` of the feed", ""),
            // Before the conversion: -999999 ft is the sentinel, not -30479969.52 cm.
            (sentinels.contains(&number), "the value is a sentinel", value),
            (!level.is_finite(), "the value is not a number", value),
            (has_other_unit, "it has another unit: set `unit`, or select only water levels", unit),
            (at.is_none(), "the time is not readable: set `offset` or `time_format`", time),
            (at > Some(now + MAX_AHEAD), "the time is in the future: is it local time?", time),
            (at < Some(now - MAX_AGE), "the reading is older than 24 hours", time),
        ];
        if let Some((_, reason, found)) = checks.into_iter().find(|(is_fault, ..)| *is_fault) {
            return Err((reason, found));
        }
        // Rounded to a hundredth of a millimetre, because 1.1 * 100.0 is 110.00000000000001.
        let new = at.filter(|at| state.sent.is_none_or(|sent| *at > sent));
        state.pending.extend(new.map(|at| (at, (level * 1000.0).round() / 1000.0)));
        if state.pending.len() > MAX_READINGS {
            state.pending.pop_first();
            return Err(("the gauge has more than 1,000 readings", ""));
        }
        Ok(())
    }

    /// Records the name and location of a gauge, which the configuration can replace.
    pub(crate) fn describe(&mut self, reading: &Reading) -> Result<&mut GaugeState, Fault<'static>> {
        let (Reading { gauge, name, location, .. }, settings) = (reading, self.feed.gauge(&reading.gauge));
        let is_text = |text: &&String| (1..=255).contains(&text.len());
        if !is_text(&gauge) {
            return Err(("no readable gauge", ""));
        }
        if !self.feed.wants(gauge) {
            return Err(UNLISTED);
        }
        if self.gauges.len() >= MAX_GAUGES && !self.gauges.contains_key(gauge) {
            return Err(("the feed has more than 10,000 gauges: list those to send", ""));
        }
        let state = self.gauges.entry(gauge.clone()).or_default();
        state.name = settings.name.as_ref().or(Some(name).filter(is_text)).cloned().or(state.name.take());
        state.location = settings.location.or(location.filter(Location::is_valid)).or(state.location);
        Ok(state)
    }
}
