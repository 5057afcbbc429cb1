//! The sentences of pages about floods, and about how current and complete the data is.
//!
//! A page may show "No flood is recorded" only while the states can be read, their sources report, and no resident has reported a
//! flood. So pages do not choose sentences themselves: they describe their [`Situation`], and show the sentences that the
//! functions here return. An element with a sentence has the name of the sentence in `data-says`.
//!
//! The script of the live map also chooses sentences, by its own clock and connection: `map/statements.js` has the same rules.
//! `table.json` specifies the rules for both.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::data::country::Translations;
use crate::model::alerts::CONFIRMED_FOR;
use crate::model::alerts::Status;
use crate::model::{FloodState, Timestamp};

/// How long pages show that a flood has ended.
pub(crate) const OVER_FOR: Duration = Duration::from_hours(6);

/// The maximum age of the flood states that a page shows.
pub(crate) const SHOWN_FOR: Duration = Duration::from_hours(1);

/// Declares the sentences, each with the path of its text.
macro_rules! sentences {
    ($($(#[doc = $doc:literal])* $name:ident = $path:literal,)+) => {
        /// A sentence about floods or the data, or its beginning. Its name in `data-says` is in camel case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "camelCase")]
        #[allow(dead_code, reason = "some are used only by the script of the live map")]
        pub(crate) enum Sentence { $($(#[doc = $doc])* $name,)+ }

        impl Sentence {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the path of the text. If the text depends on the depth of the water, the path of a group.
            fn path(self) -> &'static str {
                match self { $(Self::$name => $path,)+ }
            }
        }
    };
}

sentences! {
    Flooded = "map.flooded",
    None = "map.none",
    /// No area of the selected city is flooded.
    NoneHere = "map.noneHere",
    /// No area was flooded when the data was last read.
    NoneThen = "map.script.noneThen",
    /// No flood is recorded, but a source of flood states is silent.
    NoneSilent = "map.script.noneSilent",
    NoAreas = "map.noAreas",
    /// The service cannot read the states.
    Away = "map.script.away",
    Old = "map.script.old",
    Newest = "map.newest",
    Never = "map.never",
    /// The service cannot read the newest data.
    Unread = "front.unread",
    /// There is no entry in the last hour.
    NoneLately = "front.none",
    /// The time since which the service cannot read its data.
    Stale = "map.script.stale",
    SilentSince = "map.script.silentSince",
    SilentAlways = "map.script.silentAlways",
    Unwatched = "map.script.unwatched",
    /// The page is connected, and receives changes.
    Connected = "map.script.connected",
    /// The time since which the page has no connection.
    Offline = "map.script.offline",
    /// Like `Stale`, in fewer words.
    Behind = "map.script.behind",
    NotCoveredCity = "map.notCoveredCity",
    NotCovered = "map.script.notCovered",
    NoSuchArea = "map.script.noSuchArea",
    Depth = "depths",
    Since = "map.script.since",
    Confirmed = "map.script.confirmed",
    /// Nobody has confirmed the state for a long time.
    Unconfirmed = "map.script.unconfirmedFor",
    Advice = "map.script.advice",
    OneReport = "map.script.oneReport",
    Reports = "map.script.reports",
    ReportCount = "map.script.reportCount",
    /// The service does not know whether residents have reported a flood.
    ReportsUnknown = "map.script.reportsUnknown",
    Dry = "map.script.dry",
    /// No flood was recorded in the area in an hour of the past.
    DryThen = "map.script.dryThen",
    Over = "map.script.over",
    /// A source is silent, so the state of the area is not known.
    UnknownArea = "map.script.unknownArea",
    /// The states cannot be read, so the state of the area is not known.
    UnknownNow = "map.script.unknownNow",
    FloodedIn = "map.script.floodedIn",
    NoneIn = "map.script.noneIn",
    NoAlerts = "alerts.none",
    /// A source is silent, so alerts may be missing.
    AlertsDoubtful = "alerts.doubtful",
    Demo = "shell.demo",
    Exercise = "shell.exercise",
    Test = "shell.test",
    ReportShown = "form.thanks.shown",
    /// The report is too old to be on the map.
    ReportOld = "form.thanks.old",
    /// The report waits for review, or is hidden.
    ReportWaits = "form.thanks.waits",
}

impl Sentence {
    /// Returns the text in a language. If the text depends on the depth of the water, `state` selects it.
    pub(crate) fn text(self, texts: &Translations, state: Option<FloodState>) -> &str {
        let (group, path) = self.path().split_once('.').unwrap_or((self.path(), ""));
        let steps = path.split('.').filter(|step| !step.is_empty());
        let value = steps.fold(texts.group(group), |group, step| &group[step]);
        let text = if value.is_object() {
            state.map_or(&Value::Null, |state| &value[state.code().to_string()])
        } else {
            value
        };
        text.as_str().unwrap_or_default()
    }

    pub(crate) fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
    }

    /// Returns the texts that the script of the live map needs from other groups than its own, each with its name.
    pub(crate) fn for_script(texts: &Translations) -> Value {
        let others = [Self::Flooded, Self::None, Self::NoneHere, Self::NoAreas, Self::Never];
        others
            .map(|sentence| (sentence.name(), sentence.text(texts, None).into()))
            .into_iter()
            .collect::<Map<_, _>>()
            .into()
    }
}

/// The state of the floods that a page shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub(crate) now: Timestamp,
    pub(crate) floods: FloodData,
    pub(crate) watch: Watch,
    pub(crate) has_areas: bool,
    /// Whether the page shows only some of the areas.
    pub(crate) is_part: bool,
    pub(crate) flooded: usize,
    /// When the newest change took effect. Clearing a state is a change too.
    pub(crate) newest: Option<Timestamp>,
}

/// How current the flood states are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloodData {
    Now,
    /// The service cannot read its data, so the states are those of this earlier time.
    Until(Timestamp),
    /// The service has never read the states, and cannot read them now.
    Unread,
}

impl FloodData {
    /// Returns the time of the states, if they may be out of date.
    pub(crate) fn stale_since(self) -> Option<Timestamp> {
        match self {
            Self::Until(since) => Some(since),
            Self::Now | Self::Unread => None,
        }
    }
}

/// Whether the sources of flood states report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    Heard,
    /// A source is silent: it has not reported for too long. `heard` is false if it has never reported.
    Silent {
        heard: bool,
    },
    Unwatched,
}

impl Watch {
    pub(crate) fn is_silent(self) -> bool {
        matches!(self, Self::Silent { .. })
    }
}

impl Watch {
    /// Returns the name that the script of the live map uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Heard => "heard",
            Self::Silent { heard: true } => "silent",
            Self::Silent { heard: false } => "never",
            Self::Unwatched => "none",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AreaSituation {
    pub(crate) flood: Option<Flood>,
    pub(crate) over_since: Option<Timestamp>,
    /// The number of reports of a flood; `None` if they cannot be read.
    pub(crate) reports: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flood {
    pub(crate) state: FloodState,
    pub(crate) flooded_since: Timestamp,
    pub(crate) confirmed: Timestamp,
}

impl Flood {
    /// Whether the last confirmation of the state is so old that no alert is in force.
    pub(crate) fn is_unconfirmed(&self, now: Timestamp) -> bool {
        now.saturating_duration_since(self.confirmed) > CONFIRMED_FOR
    }
}

impl Situation {
    fn is_old(&self) -> bool {
        matches!(self.floods, FloodData::Until(since) if self.now.saturating_duration_since(since) > SHOWN_FOR)
    }

    /// Returns the sentences about all areas: how many are flooded, the newest change, and why data may be missing.
    pub(crate) fn page(&self) -> Vec<Sentence> {
        let is_read = self.floods != FloodData::Unread && !self.is_old();
        let mut sentences = vec![match self.floods {
            FloodData::Unread => Sentence::Away,
            _ if self.is_old() => Sentence::Old,
            _ if self.flooded > 0 => Sentence::Flooded,
            _ if !self.has_areas => Sentence::NoAreas,
            _ if matches!(self.watch, Watch::Silent { .. }) => Sentence::NoneSilent,
            FloodData::Until(_) => Sentence::NoneThen,
            FloodData::Now if self.is_part => Sentence::NoneHere,
            FloodData::Now => Sentence::None,
        }];
        if is_read && self.newest.is_some() {
            sentences.push(Sentence::Newest);
        } else if self.floods == FloodData::Now && self.has_areas {
            sentences.push(Sentence::Never);
        }
        if matches!(self.floods, FloodData::Until(_)) {
            sentences.push(Sentence::Stale);
        }
        match self.watch {
            Watch::Silent { heard: true } => sentences.push(Sentence::SilentSince),
            Watch::Silent { heard: false } => sentences.push(Sentence::SilentAlways),
            Watch::Unwatched => sentences.push(Sentence::Unwatched),
            Watch::Heard => {}
        }
        sentences
    }

    /// Returns the sentences about one area. The first is about its state, or about reports if no flood is recorded.
    pub(crate) fn area(&self, area: &AreaSituation) -> Vec<Sentence> {
        if self.floods == FloodData::Unread || self.is_old() {
            return vec![Sentence::UnknownNow];
        }
        let is_past = matches!(self.floods, FloodData::Until(_));
        let reports_sentence = match area.reports.unwrap_or_default() {
            0 => None,
            1 => Some(Sentence::OneReport),
            _ => Some(Sentence::Reports),
        };
        let mut sentences = Vec::new();
        if let Some(flood) = area.flood {
            sentences.extend([Sentence::Depth, Sentence::Since]);
            if flood.is_unconfirmed(self.now) {
                sentences.push(Sentence::Unconfirmed);
            } else if flood.confirmed > flood.flooded_since {
                sentences.push(Sentence::Confirmed);
            }
            sentences.extend(reports_sentence);
            sentences.push(Sentence::Advice);
        } else if let Some(sentence) = reports_sentence {
            sentences.push(sentence);
        } else if matches!(self.watch, Watch::Silent { .. }) {
            sentences.push(Sentence::UnknownArea);
        } else {
            sentences.push(if is_past { Sentence::NoneThen } else { Sentence::Dry });
            if area.over_since.is_some_and(|since| self.now.saturating_duration_since(since) < OVER_FOR) {
                sentences.push(Sentence::Over);
            }
            if area.reports.is_none() {
                sentences.push(Sentence::ReportsUnknown);
            }
            if self.watch == Watch::Unwatched {
                sentences.push(Sentence::Unwatched);
            }
        }
        if is_past {
            sentences.push(Sentence::Stale);
        }
        sentences
    }
}

/// Returns the sentence for the title of an area: its first sentence. If this is about reports, one with only their number.
pub(crate) fn title(sentences: &[Sentence]) -> Option<Sentence> {
    let first = *sentences.first()?;
    Some(match first {
        Sentence::OneReport | Sentence::Reports => Sentence::ReportCount,
        other => other,
    })
}

pub(crate) fn newest(is_read: bool, at: Option<Timestamp>, none: Sentence) -> Sentence {
    match at {
        _ if !is_read => Sentence::Unread,
        None => none,
        Some(_) => Sentence::Newest,
    }
}

/// Returns the first sentence of every page if the data is not real, so that nobody acts on such data.
pub(crate) fn banner(is_demo: bool, status: Status) -> Option<Sentence> {
    match status {
        _ if is_demo => Some(Sentence::Demo),
        Status::Actual => None,
        Status::Exercise => Some(Sentence::Exercise),
        Status::Test => Some(Sentence::Test),
    }
}

/// Returns the sentence to show after a report was sent. `is_on_map` is `None` if the report is not found, such as during review.
pub(crate) fn after_report(is_on_map: Option<bool>) -> Sentence {
    match is_on_map {
        Some(true) => Sentence::ReportShown,
        Some(false) => Sentence::ReportOld,
        None => Sentence::ReportWaits,
    }
}

pub(crate) fn alerts(count: usize, may_be_incomplete: bool) -> Vec<Sentence> {
    let doubt = may_be_incomplete.then_some(Sentence::AlertsDoubtful);
    doubt.into_iter().chain((count == 0).then_some(Sentence::NoAlerts)).collect()
}

#[cfg(test)]
mod tests;
