//! Which sentences pages may say about the world.
//!
//! "No flood is recorded" is true only while the states can be read, their sources are heard, and no resident has reported a flood.
//! So no page decides by itself what it says about floods: it describes its [`Situation`], and says what the functions here return.
//! An element of a page that says a sentence names it in `data-says`.
//!
//! The script of the live map decides again by its own clock and connection: `map/statements.js` has the same rules. The rows of
//! `table.json` specify both.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::data::country::Translations;
use crate::model::alerts::CONFIRMED_FOR;
use crate::model::alerts::Status;
use crate::model::{FloodState, Timestamp};

/// For how long a page says that a flood is over.
pub(crate) const OVER_FOR: Duration = Duration::from_hours(6);

/// How old states may be that a page shows.
pub(crate) const SHOWN_FOR: Duration = Duration::from_hours(1);

/// Declares the sentences, each with the path of its text in the country's texts.
macro_rules! sentences {
    ($($(#[doc = $doc:literal])+ $name:ident = $path:literal,)+) => {
        /// A sentence about the world, or the beginning of one. The name in `data-says` is in camel case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "camelCase")]
        #[allow(dead_code, reason = "the script of the live map alone says some of them")]
        pub(crate) enum Sentence { $($(#[doc = $doc])+ $name,)+ }

        impl Sentence {
            /// All sentences.
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the path of the text; of the group, if the text depends on the depth of the water.
            fn path(self) -> &'static str {
                match self { $(Self::$name => $path,)+ }
            }
        }
    };
}

sentences! {
    /// So many areas are flooded.
    Flooded = "map.flooded",
    /// No area is flooded.
    None = "map.none",
    /// No area of the selected city is flooded.
    NoneHere = "map.noneHere",
    /// No area was flooded when the data was last read.
    NoneThen = "map.script.noneThen",
    /// No flood is recorded, but a source is silent.
    NoneSilent = "map.script.noneSilent",
    /// There are no areas.
    NoAreas = "map.noAreas",
    /// The states cannot be read.
    Away = "map.script.away",
    /// The states are too old to be shown.
    Old = "map.script.old",
    /// When the newest change was.
    Newest = "map.newest",
    /// There was no change yet.
    Never = "map.never",
    /// The newest data cannot be read.
    Unread = "front.unread",
    /// There is none in the last hour.
    NoneLately = "front.none",
    /// Since when the service cannot read its data.
    Stale = "map.script.stale",
    /// Since when a source is silent.
    SilentSince = "map.script.silentSince",
    /// A source was never heard.
    SilentAlways = "map.script.silentAlways",
    /// Nobody watches the sources of floods.
    Unwatched = "map.script.unwatched",
    /// The page follows the changes.
    Connected = "map.script.connected",
    /// Since when the page has no connection.
    Offline = "map.script.offline",
    /// Since when the service cannot read its data, in short.
    Behind = "map.script.behind",
    /// The service has no areas in this city.
    NotCoveredCity = "map.notCoveredCity",
    /// The service has no areas at this place.
    NotCovered = "map.script.notCovered",
    /// There is no such area.
    NoSuchArea = "map.script.noSuchArea",
    /// How deep the water is.
    Depth = "depths",
    /// Since when the area is flooded.
    Since = "map.script.since",
    /// When somebody last confirmed that.
    Confirmed = "map.script.confirmed",
    /// Nobody has confirmed that for long.
    Unconfirmed = "map.script.unconfirmedFor",
    /// What to do.
    Advice = "map.script.advice",
    /// One resident has reported a flood.
    OneReport = "map.script.oneReport",
    /// Residents have reported a flood.
    Reports = "map.script.reports",
    /// How many residents have reported a flood.
    ReportCount = "map.script.reportCount",
    /// Whether residents have reported a flood is not known.
    ReportsUnknown = "map.script.reportsUnknown",
    /// No flood is recorded in the area.
    Dry = "map.script.dry",
    /// No flood was recorded in the area in an hour of the past.
    DryThen = "map.script.dryThen",
    /// Since when the flood is over.
    Over = "map.script.over",
    /// A source is silent, so the state of the area is not known.
    UnknownArea = "map.script.unknownArea",
    /// The states cannot be read, so that of the area is not known.
    UnknownNow = "map.script.unknownNow",
    /// In a larger area, so many areas are flooded.
    FloodedIn = "map.script.floodedIn",
    /// In a larger area, no area is flooded.
    NoneIn = "map.script.noneIn",
    /// There are no alerts.
    NoAlerts = "alerts.none",
    /// A source is silent, so alerts may be missing.
    AlertsDoubtful = "alerts.doubtful",
    /// The data is made up.
    Demo = "shell.demo",
    /// The data is that of an exercise.
    Exercise = "shell.exercise",
    /// The data is that of a test.
    Test = "shell.test",
    /// The report is on the map.
    ReportShown = "form.thanks.shown",
    /// The report was made too long ago to be on the map.
    ReportOld = "form.thanks.old",
    /// The report waits for review, or is hidden.
    ReportWaits = "form.thanks.waits",
}

impl Sentence {
    /// Returns the text in a language; that of a state, if it depends on the depth of the water.
    pub(crate) fn text(self, texts: &Translations, state: Option<FloodState>) -> &str {
        let (group, path) = self.path().split_once('.').unwrap_or((self.path(), ""));
        let steps = path.split('.').filter(|step| !step.is_empty());
        let found = steps.fold(texts.group(group), |group, step| &group[step]);
        let found = if found.is_object() {
            state.map_or(&Value::Null, |state| &found[state.code().to_string()])
        } else {
            found
        };
        found.as_str().unwrap_or_default()
    }

    /// Returns the name in `data-says`.
    pub(crate) fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
    }

    /// Returns the texts, by name, that the script of the live map needs and that are not in its own group.
    pub(crate) fn for_script(texts: &Translations) -> Value {
        let others = [Self::Flooded, Self::None, Self::NoneHere, Self::NoAreas, Self::Never];
        others.map(|of| (of.name(), of.text(texts, None).into())).into_iter().collect::<Map<_, _>>().into()
    }
}

/// What a page knows of the floods that it is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub(crate) now: Timestamp,
    pub(crate) floods: Floods,
    pub(crate) watch: Watch,
    pub(crate) has_areas: bool,
    /// Whether the page is about a part of the areas.
    pub(crate) is_part: bool,
    /// How many areas are flooded.
    pub(crate) flooded: usize,
    /// When the newest of the changes took effect: a state that was set, or one that was cleared.
    pub(crate) newest: Option<Timestamp>,
}

/// Of when the flood states are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Floods {
    /// They are those of now.
    Now,
    /// They are those of an earlier time: the service cannot read its data.
    Until(Timestamp),
    /// They cannot be read, and were not read before.
    Unread,
}

impl Floods {
    /// Returns until when the states are known to be current, if they may be out of date.
    pub(crate) fn stale_since(self) -> Option<Timestamp> {
        match self {
            Self::Until(since) => Some(since),
            Self::Now | Self::Unread => None,
        }
    }
}

/// Whether the sources of flood states are heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// All are.
    Heard,
    /// One is silent; whether it was ever heard.
    Silent { heard: bool },
    /// No source of floods is configured.
    Unwatched,
}

impl Watch {
    /// Returns the name that the script of the live map has for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Heard => "heard",
            Self::Silent { heard: true } => "silent",
            Self::Silent { heard: false } => "never",
            Self::Unwatched => "none",
        }
    }
}

/// What a page knows of one area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AreaSituation {
    pub(crate) flood: Option<Flood>,
    /// Since when the area is dry, if it was flooded before.
    pub(crate) over_since: Option<Timestamp>,
    /// How many reports of a flood count; `None` if they cannot be read.
    pub(crate) reports: Option<usize>,
}

/// The flood in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flood {
    pub(crate) state: FloodState,
    pub(crate) flooded_since: Timestamp,
    pub(crate) confirmed: Timestamp,
}

impl Flood {
    /// Returns whether nobody has confirmed the state for so long that no alert is in force.
    pub(crate) fn is_unconfirmed(&self, now: Timestamp) -> bool {
        now.since(self.confirmed) > CONFIRMED_FOR
    }
}

impl Situation {
    fn is_old(&self) -> bool {
        matches!(self.floods, Floods::Until(since) if self.now.since(since) > SHOWN_FOR)
    }

    /// Returns what a page says about all areas: how many are flooded, the newest change, and what makes that uncertain.
    pub(crate) fn page(&self) -> Vec<Sentence> {
        let is_read = self.floods != Floods::Unread && !self.is_old();
        let mut says = vec![match self.floods {
            Floods::Unread => Sentence::Away,
            _ if self.is_old() => Sentence::Old,
            _ if self.flooded > 0 => Sentence::Flooded,
            _ if !self.has_areas => Sentence::NoAreas,
            _ if matches!(self.watch, Watch::Silent { .. }) => Sentence::NoneSilent,
            Floods::Until(_) => Sentence::NoneThen,
            Floods::Now if self.is_part => Sentence::NoneHere,
            Floods::Now => Sentence::None,
        }];
        if is_read && self.newest.is_some() {
            says.push(Sentence::Newest);
        } else if self.floods == Floods::Now && self.has_areas {
            says.push(Sentence::Never);
        }
        if matches!(self.floods, Floods::Until(_)) {
            says.push(Sentence::Stale);
        }
        match self.watch {
            Watch::Silent { heard: true } => says.push(Sentence::SilentSince),
            Watch::Silent { heard: false } => says.push(Sentence::SilentAlways),
            Watch::Unwatched => says.push(Sentence::Unwatched),
            Watch::Heard => {}
        }
        says
    }

    /// Returns what a page says about one area: its state first.
    pub(crate) fn area(&self, area: &AreaSituation) -> Vec<Sentence> {
        if self.floods == Floods::Unread || self.is_old() {
            return vec![Sentence::UnknownNow];
        }
        let is_past = matches!(self.floods, Floods::Until(_));
        let reports = match area.reports.unwrap_or_default() {
            0 => None,
            1 => Some(Sentence::OneReport),
            _ => Some(Sentence::Reports),
        };
        let mut says = Vec::new();
        if let Some(flood) = area.flood {
            says.extend([Sentence::Depth, Sentence::Since]);
            if flood.is_unconfirmed(self.now) {
                says.push(Sentence::Unconfirmed);
            } else if flood.confirmed > flood.flooded_since {
                says.push(Sentence::Confirmed);
            }
            says.extend(reports);
            says.push(Sentence::Advice);
        } else if let Some(reports) = reports {
            says.push(reports);
        } else if matches!(self.watch, Watch::Silent { .. }) {
            says.push(Sentence::UnknownArea);
        } else {
            says.push(if is_past { Sentence::NoneThen } else { Sentence::Dry });
            if area.over_since.is_some_and(|since| self.now.since(since) < OVER_FOR) {
                says.push(Sentence::Over);
            }
            if area.reports.is_none() {
                says.push(Sentence::ReportsUnknown);
            }
            if self.watch == Watch::Unwatched {
                says.push(Sentence::Unwatched);
            }
        }
        if is_past {
            says.push(Sentence::Stale);
        }
        says
    }
}

/// Returns what a title says of an area about which a page says these sentences: of reports, their number alone, which names none of them.
pub(crate) fn title(says: &[Sentence]) -> Option<Sentence> {
    let first = *says.first()?;
    Some(match first {
        Sentence::OneReport | Sentence::Reports => Sentence::ReportCount,
        other => other,
    })
}

/// Returns what a list says of its newest entry, if it could be read: `none` if it has no entry.
pub(crate) fn newest(is_read: bool, at: Option<Timestamp>, none: Sentence) -> Sentence {
    match at {
        _ if !is_read => Sentence::Unread,
        None => none,
        Some(_) => Sentence::Newest,
    }
}

/// Returns what every page says first, so that nobody acts on what is not real.
pub(crate) fn banner(is_demo: bool, status: Status) -> Option<Sentence> {
    match status {
        _ if is_demo => Some(Sentence::Demo),
        Status::Actual => None,
        Status::Exercise => Some(Sentence::Exercise),
        Status::Test => Some(Sentence::Test),
    }
}

/// Returns what the page says after a report was sent: whether it is on the map, if it can be found. One that waits is counted by no page.
pub(crate) fn sent(is_on_map: Option<bool>) -> Sentence {
    match is_on_map {
        Some(true) => Sentence::ReportShown,
        Some(false) => Sentence::ReportOld,
        None => Sentence::ReportWaits,
    }
}

/// Returns what a page of so many alerts says.
pub(crate) fn alerts(count: usize, is_doubtful: bool) -> Vec<Sentence> {
    let doubt = is_doubtful.then_some(Sentence::AlertsDoubtful);
    doubt.into_iter().chain((count == 0).then_some(Sentence::NoAlerts)).collect()
}

#[cfg(test)]
mod tests;
