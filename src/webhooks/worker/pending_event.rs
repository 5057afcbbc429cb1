//! Handles events that the receiver has not accepted yet: chooses the next attempt, and defers events that would block others.

use std::time::Instant;

use super::super::event::Ack;
use super::super::retry::Outcome;
use super::{Action, Worker};
use crate::stores::StoreError;
use crate::telemetry::DeliveryOutcome;

/// Failures before the next event is sent as a probe: normally, and while events are deferred.
const PROBE_AFTER: u32 = 3;
const PROBE_AFTER_DEFERRAL: u32 = 1;
/// Failures between two probes.
const PROBE_EVERY: u32 = 4;
const MAX_DEFERRED: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct PendingEvent {
    /// Identifies the event, even after further changes.
    pub(super) ack: Ack,
    pub(super) attempts: u32,
    pub(super) due: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    /// The next event in order, or the pending one.
    Next,
    /// The event after the pending one, to find out whether the receiver accepts other events.
    Probe,
    Deferred(usize),
}

impl Worker {
    pub(super) async fn next_candidate(&mut self) -> Result<(Candidate, Action), StoreError> {
        let (now, monotonic) = (self.shared.clock.now(), self.shared.clock.monotonic());
        let Some(pending) = self.pending.clone() else {
            let Some(index) = self.deferred.iter().position(|pending| pending.due <= monotonic) else {
                return Ok((Candidate::Next, self.next_action(now).await?));
            };
            let ack = self.deferred[index].ack.clone();
            return Ok((Candidate::Deferred(index), self.retry(&ack, now).await?));
        };
        if self.is_probing {
            let action = self.next_action(now).await?;
            if !matches!(action, Action::Wait) {
                return Ok((Candidate::Probe, action));
            }
        }
        let is_due = pending.due <= monotonic;
        let action = if is_due { self.retry(&pending.ack, now).await? } else { Action::Wait };
        Ok((Candidate::Next, action))
    }

    /// Whether to send the event after the pending one as a probe now: never if the receiver has sent `Retry-After`.
    pub(super) fn is_probe_due(&self, failures: u32, outcome: &Outcome) -> bool {
        let has_retry_after = matches!(outcome, Outcome::Response { retry_after: Some(_), .. });
        let first = if self.deferred.is_empty() { PROBE_AFTER } else { PROBE_AFTER_DEFERRAL };
        !has_retry_after && failures.checked_sub(first).is_some_and(|more| more % PROBE_EVERY == 0)
    }

    /// Defers the pending event, because the receiver has accepted the next one.
    pub(super) fn defer(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        self.is_probing = false;
        if let Ack::Report(key) = pending.ack {
            self.checkpoint.defer(key);
        }
        let webhook = &self.name;
        tracing::warn!(
            webhook,
            "the receiver does not accept an event, but accepts later ones: it is retried between them"
        );
        self.deferred.push(pending);
        if self.deferred.len() > MAX_DEFERRED {
            let oldest = self.deferred.remove(0);
            self.checkpoint.acknowledge(&oldest.ack);
            tracing::error!(webhook, "too many events are deferred: the oldest is skipped");
            self.shared.metrics.count_deliveries(webhook, DeliveryOutcome::Skipped, 1);
        }
    }

    pub(super) fn finish(&mut self, candidate: Candidate) {
        match candidate {
            Candidate::Next => self.pending = None,
            Candidate::Probe => {}
            Candidate::Deferred(index) => drop(self.deferred.remove(index)),
        }
    }
}
