//! Events that the receiver has not taken: which of them is tried next, and which are set aside so that they do not hold the others.

use super::super::event::Ack;
use super::super::retry::Outcome;
use super::{Action, Worker};
use crate::model::Timestamp;
use crate::stores::StoreError;
use crate::telemetry::DeliveryOutcome;

/// How many failures let the next event be tried: at first, and while others are set aside.
const PROBED_AFTER: u32 = 3;
const PROBED_SOON_AFTER: u32 = 1;
/// How many failures later it is tried once more.
const PROBED_EVERY: u32 = 4;
/// How many events are set aside at most.
const MOST_ASIDE: usize = 100;

/// An event that the receiver has not taken.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// Identifies it. It stays the same event when more happens meanwhile.
    pub(super) event: Ack,
    /// How often it was tried.
    pub(super) tries: u32,
    /// When it is tried again.
    pub(super) due: Timestamp,
}

/// Which event a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The next one in order: the one on trial, if there is one.
    Next,
    /// The one after that which is on trial.
    Probe,
    /// One that was set aside, by its index.
    Aside(usize),
}

impl Worker {
    /// Returns which event is next, and what to do about it.
    pub(super) async fn next_turn(&mut self, now: Timestamp) -> Result<(Turn, Action), StoreError> {
        let Some(trial) = self.trial.clone() else {
            let Some(index) = self.aside.iter().position(|trial| trial.due <= now) else {
                return Ok((Turn::Next, self.next_action(now).await?));
            };
            let event = self.aside[index].event.clone();
            return Ok((Turn::Aside(index), self.retry(&event, now).await?));
        };
        if self.is_probing {
            let action = self.next_action(now).await?;
            if !matches!(action, Action::Wait) {
                return Ok((Turn::Probe, action));
            }
        }
        let is_due = trial.due <= now;
        let action = if is_due { self.retry(&trial.event, now).await? } else { Action::Wait };
        Ok((Turn::Next, action))
    }

    /// Returns whether the event after the one on trial is tried after so many failures. Not if the receiver asks for time.
    pub(super) fn probes_after(&self, failures: u32, outcome: &Outcome) -> bool {
        let asks_for_time = matches!(outcome, Outcome::Response { retry_after: Some(_), .. });
        let first = if self.aside.is_empty() { PROBED_AFTER } else { PROBED_SOON_AFTER };
        !asks_for_time && failures.checked_sub(first).is_some_and(|more| more % PROBED_EVERY == 0)
    }

    /// Sets the event on trial aside: the receiver has taken the next one.
    pub(super) fn set_aside(&mut self) {
        let Some(trial) = self.trial.take() else { return };
        self.is_probing = false;
        if let Ack::Report(key) = trial.event {
            self.checkpoint.set_aside(key);
        }
        let call = &self.name;
        tracing::warn!(call, "the receiver does not take an event, but later ones: it is tried beside those");
        self.aside.push(trial);
        if self.aside.len() > MOST_ASIDE {
            let oldest = self.aside.remove(0);
            self.checkpoint.acknowledge(&oldest.event);
            tracing::error!(call, "too many events are set aside: the oldest is skipped");
            self.shared.metrics.called(call, DeliveryOutcome::Skipped, 1);
        }
    }

    /// Ends the trial of an event, if it was on trial.
    pub(super) fn end(&mut self, turn: Turn) {
        match turn {
            Turn::Next => self.trial = None,
            Turn::Probe => {}
            Turn::Aside(index) => drop(self.aside.remove(index)),
        }
    }
}
