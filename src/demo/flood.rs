//! A flood that has risen along the rivers in the last hours, and an earlier one, some days before, that has ended.

use std::time::Duration;

use geo::{Centroid, Distance, Euclidean, Line};

use super::noise::noise;
use crate::model::{Actor, Area, AreaSet, FloodChange, FloodState, Timestamp};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// The lower courses of the Angke, the Ciliwung and the Sunter, roughly.
pub(super) const RIVERS: [&[(f64, f64)]; 3] = [
    &[(106.765, -6.290), (106.741, -6.225), (106.734, -6.172), (106.765, -6.110)],
    &[
        (106.845, -6.360),
        (106.862, -6.300),
        (106.866, -6.248),
        (106.850, -6.210),
        (106.812, -6.186),
        (106.803, -6.125),
    ],
    &[(106.905, -6.330), (106.912, -6.270), (106.893, -6.200), (106.897, -6.125)],
];
/// How far from a river the water reaches, in degrees.
const REACH: f64 = 0.009;

/// A wave of flooding. Times are seconds before now.
struct Wave {
    salt: u64,
    /// When the first areas flood.
    onset: u64,
    /// How long the water takes from one state to the next.
    step: u64,
    /// How much higher the water is than along an average river.
    height: f64,
    /// When the water leaves those areas that it leaves at all.
    ebb: u64,
    /// The fraction of the areas that the water leaves.
    ebbing: f64,
}

const WAVES: [Wave; 2] = [
    Wave { salt: 1, onset: 134 * HOUR, step: 4 * HOUR, height: -0.1, ebb: 80 * HOUR, ebbing: 1.0 },
    Wave { salt: 2, onset: 19 * HOUR, step: 3 * HOUR, height: 0.0, ebb: 4 * HOUR, ebbing: 0.15 },
];

/// Returns every change of the last days up to `now`, oldest first.
pub(super) fn log(areas: &AreaSet, now: Timestamp) -> Vec<FloodChange> {
    let mut log: Vec<FloodChange> =
        areas.iter().flat_map(|area| WAVES.iter().flat_map(move |wave| changes(area, wave, now))).collect();
    log.sort_by_key(|change| change.at);
    log
}

/// Returns the changes of an area in a wave: state by state up to the highest, and perhaps back to none.
fn changes(area: &Area, wave: &Wave, now: Timestamp) -> Vec<FloodChange> {
    let chance = |what| f64::midpoint(noise([area.id.number(), wave.salt, what]), 1.0);
    let depth = wetness(area) + wave.height + 0.35 * (chance(0) - 0.5);
    let highest = match depth {
        d if d > 0.80 => FloodState::Severe,
        d if d > 0.60 => FloodState::Moderate,
        d if d > 0.35 => FloodState::Minor,
        d if d > 0.30 => FloodState::Unknown,
        _ => return Vec::new(),
    };
    let ago = |before: u64, spread: u64, what| {
        let seconds = before as f64 - spread as f64 * chance(what);
        now.before(Duration::from_secs_f64(seconds.max(0.0)))
    };
    let entry = |state, at| FloodChange {
        area: area.id,
        state,
        at,
        by: Actor { subject: "demo".to_owned(), username: None },
    };
    let mut changes: Vec<FloodChange> = FloodState::ALL
        .into_iter()
        .filter(|&state| state == highest || FloodState::Unknown < state && state < highest)
        .zip(0..)
        .map(|(state, step)| entry(Some(state), ago(wave.onset - step * wave.step, wave.step, step + 1)))
        .collect();
    if chance(8) < wave.ebbing {
        changes.push(entry(None, ago(wave.ebb, 3 * HOUR, 9)));
    }
    changes
}

/// Returns 1 in a river, falling to 0 beyond its reach.
fn wetness(area: &Area) -> f64 {
    let Some(centre) = area.outline.centroid() else { return 0.0 };
    let courses = RIVERS.iter().flat_map(|river| river.windows(2));
    let nearest = courses
        .map(|course| Euclidean.distance(&centre, &Line::new(course[0], course[1])))
        .fold(f64::INFINITY, f64::min);
    (1.0 - nearest / REACH).max(0.0)
}
