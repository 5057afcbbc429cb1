use std::time::{Duration, Instant};

use crate::model::Timestamp;

/// The result of checking a dependency of the service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Check {
    /// The dependency, such as `store` or `listener`.
    pub name: &'static str,
    /// Whether reads need the dependency. If not, a failure leaves the service ready, but degraded.
    pub required: bool,
    /// Why the check failed; `None` if it passed. Public, so it must not contain addresses or text from other systems.
    pub failure: Option<&'static str>,
    /// How long the check took.
    pub took: Duration,
}

impl Check {
    /// Checks a dependency that reads need. `reason` is the text to report if `probe` fails.
    pub async fn run<T, E>(
        name: &'static str,
        reason: &'static str,
        probe: impl Future<Output = Result<T, E>>,
    ) -> Self {
        let since = Instant::now();
        let failure = probe.await.err().map(|_| reason);
        Self { name, required: true, failure, took: since.elapsed() }
    }

    /// Marks the dependency as one that reads do not need.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { required: false, ..self }
    }
}

/// Figures for an operator: how new the data is, and how many areas are flooded. Excludes reports and readings in the future.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// When the newest change of a flood state took effect; clearing an area is a change, too. `None` if there is no change.
    pub newest_flood_change: Option<Timestamp>,
    /// The date of the newest report; `None` if there is none.
    pub newest_report: Option<Timestamp>,
    /// The date of the newest gauge reading; `None` if there is none.
    pub newest_reading: Option<Timestamp>,
    /// The number of areas in each state, in the order of the states 1 to 4.
    pub flooded_areas: [u64; 4],
}
