//! The words of a message: the present state of the areas of a phone that are flooded or have just changed.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use chrono_tz::Tz;
use serde_json::{Value, json};

use super::encryption::MAX_PLAINTEXT;
use super::flood_map::{FloodMap, Mark, has_lapsed};
use super::subscription::Subscription;
use crate::data::country::Translations;
use crate::data::statements::{OVER_FOR, Sentence};
use crate::model::alerts::CONFIRMED_FOR;
use crate::model::{Area, FloodState, FloodStatus, Timestamp};

/// The maximum number of areas that a message names.
const MAX_LINES: usize = 5;
/// The lowest state whose messages wake a sleeping phone.
const URGENT: FloodState = FloodState::Moderate;
/// A push service keeps a message about no flood this long.
const SHORT: Duration = OVER_FOR;

/// The tags of messages. A newer message replaces an older one with its tag, at the push service and on the phone.
const FLOODS: &str = "floods";
const NOTE: &str = "note";

/// A message for one phone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    /// JSON: `tag`, `title`, `body`, `at`, `late` (what to add if the phone shows it late), `url`.
    pub(super) payload: Value,
    pub(super) is_urgent: bool,
    /// How long the push service keeps it.
    pub(super) ttl: Duration,
    /// The flooded areas of the subscription, each with its last change.
    pub(super) flooded: BTreeMap<u64, Mark>,
}

/// Writes messages in one language.
pub(super) struct Writer<'a> {
    pub(super) texts: &'a Translations,
    pub(super) zone: Tz,
    pub(super) site: &'a str,
    pub(super) now: Timestamp,
}

enum Line {
    Flooded {
        state: FloodState,
        text: String,
        confirmed: Timestamp,
    },
    /// The flood is over, or was recorded by mistake.
    Ended(String),
}

impl Writer<'_> {
    fn text(&self, key: &str) -> &str {
        self.texts.text("push", key)
    }

    fn clock(&self, at: Timestamp) -> String {
        at.to_utc().with_timezone(&self.zone).format("%H:%M %Z").to_string()
    }

    fn payload(&self, tag: &str, title: &str, body: &str, area: Option<u64>) -> Value {
        let area = area.map(|area| format!("area={area}&")).unwrap_or_default();
        json!({
            "tag": tag,
            "title": title,
            "body": body,
            "at": self.now,
            "late": self.text("as_of").replace("{time}", &self.clock(self.now)),
            "url": format!("/map?{area}lang={}", self.texts.code()),
        })
    }

    /// Returns the message that is due; `None` if the last message has said the same.
    pub(super) fn due(&self, subscription: &Subscription, map: &FloodMap) -> Option<Message> {
        let flooded = map.flooded(subscription, self.now);
        let mut is_news = false;
        let mut lines: Vec<(u64, Line)> = Vec::new();
        for (area, status) in map.selected(subscription) {
            let (id, mark) = (area.id.number(), Mark::new(&status, self.now));
            let known = subscription.sent.get(&id).copied();
            let is_recent = mark.is_some_and(|mark| mark.is_recent(self.now));
            let has_ended = !flooded.contains_key(&id) && known.is_some() && is_recent;
            if flooded.contains_key(&id) || has_ended {
                is_news |= is_recent && mark.is_some_and(|mark| mark.is_news_after(known));
                lines.push((id, self.line(area, &status, known)));
            }
        }
        if !is_news {
            return None;
        }
        // The deepest first, and floods that are over last.
        lines.sort_by_key(|(_, line)| match line {
            Line::Flooded { state, .. } => Reverse(Some(*state)),
            Line::Ended(_) => Reverse(None),
        });
        Some(Message { flooded, ..self.message(&lines)? })
    }

    /// `known` is the change in the last message about the area.
    fn line(&self, area: &Area, status: &FloodStatus, known: Option<Mark>) -> Line {
        let name = area.display_name();
        match status {
            FloodStatus::Flooded(current) => {
                let confirmed = current.confirmed.unwrap_or(current.last_updated);
                let depth = Sentence::Depth.text(self.texts, Some(current.state));
                let lapsed = if has_lapsed(status, self.now) {
                    format!(". {}", self.text("lapsed"))
                } else {
                    String::new()
                };
                Line::Flooded { state: current.state, text: format!("{name}: {depth}{lapsed}"), confirmed }
            }
            // An undo restores the time at which the last flood ended, before the change that was a mistake.
            FloodStatus::Dry { over_since: Some(over_since), .. }
                if known.is_some_and(|known| known.is_before(*over_since)) =>
            {
                let over = Sentence::Over.text(self.texts, None);
                Line::Ended(format!("{name}: {over} {}", self.clock(*over_since)))
            }
            FloodStatus::Dry { .. } => Line::Ended(format!("{name}: {}", self.text("corrected"))),
        }
    }

    fn message(&self, lines: &[(u64, Line)]) -> Option<Message> {
        let text = |(_, line): &(u64, Line)| match line {
            Line::Flooded { text, .. } | Line::Ended(text) => text.clone(),
        };
        let flooded: Vec<_> = lines
            .iter()
            .filter_map(|(_, line)| match line {
                Line::Flooded { state, confirmed, .. } => Some((*state, *confirmed)),
                Line::Ended(_) => None,
            })
            .collect();
        let worst = flooded.iter().map(|(state, _)| *state).max();
        let until = flooded.iter().map(|(_, confirmed)| confirmed.saturating_add(CONFIRMED_FOR)).min();
        let ttl = until.map_or(SHORT, |until| until.saturating_duration_since(self.now).max(SHORT));
        let payload = match lines {
            [] => return None,
            [only] => {
                let advice = &self.texts.group("map")["script"]["advice"];
                let advice = worst.and_then(|worst| advice[worst.code().to_string()].as_str());
                let payload = |body: &str| self.payload(FLOODS, &text(only), body, Some(only.0));
                first_short([advice.unwrap_or(self.site), ""].into_iter().map(payload))?
            }
            _ => {
                let count = format!("{} {}", flooded.len(), Sentence::Flooded.text(self.texts, None));
                let title = if flooded.is_empty() { self.site } else { &count };
                let texts: Vec<_> = lines.iter().map(text).collect();
                let bodies = (0..=MAX_LINES.min(lines.len())).rev().map(|most| self.list(&texts, most, "\n"));
                first_short(bodies.map(|body| self.payload(FLOODS, title, &body, None)))?
            }
        };
        let is_urgent = worst >= Some(URGENT);
        Some(Message { payload, is_urgent, ttl, flooded: BTreeMap::new() })
    }

    /// Joins the first `most` texts, and counts the others.
    fn list(&self, texts: &[String], most: usize, separator: &str) -> String {
        let more = texts.len() - most;
        let more = (more > 0).then(|| self.text("more").replace("{count}", &more.to_string()));
        texts[..most].iter().cloned().chain(more).collect::<Vec<_>>().join(separator)
    }

    /// Returns the first message, which confirms a subscription.
    pub(super) fn welcome(&self, subscription: &Subscription, map: &FloodMap) -> Message {
        let names: Vec<_> = match subscription.parent() {
            Some(parent) => vec![parent],
            None => map.selected(subscription).map(|(area, _)| area.display_name()).collect(),
        };
        let welcome = |most| self.text("welcome").replace("{place}", &self.list(&names, most, "; "));
        let payloads =
            (0..=names.len()).rev().map(|most| self.payload(NOTE, self.site, &welcome(most), None));
        let message = self.plain("");
        Message { payload: first_short(payloads).unwrap_or(message.payload), ..message }
    }

    /// Returns a message to try whether messages arrive.
    pub(super) fn trial(&self) -> Message {
        self.plain(self.text("trial"))
    }

    /// Returns the last message of a subscription whose areas do not exist any more.
    pub(super) fn choose_again(&self) -> Message {
        self.plain(self.text("choose_again"))
    }

    fn plain(&self, body: &str) -> Message {
        let payload = self.payload(NOTE, self.site, body, None);
        Message { payload, is_urgent: false, ttl: SHORT, flooded: BTreeMap::new() }
    }
}

/// Returns the first payload that a push service accepts by its length.
fn first_short(mut payloads: impl Iterator<Item = Value>) -> Option<Value> {
    payloads.find(|payload| payload.to_string().len() <= MAX_PLAINTEXT)
}
