use std::future::pending;
use std::sync::Arc;

use rocket::tokio::select;
use rocket::tokio::sync::watch::Receiver;

use crate::changes::{Cursor, Delta, Follower, State};
use crate::model::Timestamp;
use crate::stores::FloodQuery;

/// A client that follows the changes.
pub(super) struct Subscriber {
    follower: Follower,
    states: Receiver<Option<Arc<State>>>,
    stale: Receiver<Option<Timestamp>>,
    pub(super) query: FloodQuery,
    pub(super) since: Option<Cursor>,
    /// Whether the client was told that its states are current, or that they may be out of date; `None` if it was told nothing yet.
    told: Option<Announced>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Announced {
    Current,
    Stale,
}

/// What a client that follows the changes is told.
pub(super) enum LiveUpdate {
    /// What has changed.
    Changed(StateUpdate),
    /// What has changed, perhaps nothing, and that the states are current, which the client does not know.
    Current(StateUpdate),
    /// The states may be out of date: they were last known to be current at this time.
    Stale(Timestamp),
}

/// What a client does not know yet.
pub(super) enum StateUpdate {
    Delta(Arc<Delta>),
    /// All of this state.
    Full(Arc<State>),
}

impl StateUpdate {
    pub(super) fn since(state: &Arc<State>, since: Option<Cursor>, query: &FloodQuery) -> Self {
        match state.valid_cursor(since) {
            Some(since) => Self::Delta(state.since(Some(since), query)),
            None => Self::Full(Arc::clone(state)),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Delta(delta) if delta.is_empty())
    }
}

impl Subscriber {
    pub(super) fn new(
        follower: Follower,
        query: FloodQuery,
        since: Option<Cursor>,
        told: Option<Announced>,
    ) -> Self {
        let (states, stale) = (follower.states(), follower.stale());
        Self { follower, states, stale, query, since, told }
    }

    /// Returns what is new for the client; `None` when the server ends. After a full state, the caller sets `since` to its
    /// cursor.
    ///
    /// If the client is slow, deltas in between are one: each is computed from what the client has. A client that is ahead of
    /// the states waits until they have reached it, or until it is certain that they do not: then it gets all of them.
    pub(super) async fn next(&mut self) -> Option<LiveUpdate> {
        loop {
            // Read first: states that are read after it are at least as new.
            let stale = *self.stale.borrow_and_update();
            let state = self.states.borrow_and_update().clone();
            let ahead = self.since.filter(|since| state.as_ref().is_some_and(|of| of.is_behind(*since)));
            if let Some(state) = state.filter(|_| ahead.is_none()) {
                let found = StateUpdate::since(&state, self.since, &self.query);
                if let StateUpdate::Delta(delta) = &found {
                    self.since = Some(delta.cursor);
                }
                if stale.is_none() && self.told != Some(Announced::Current) {
                    self.told = Some(Announced::Current);
                    return Some(LiveUpdate::Current(found));
                }
                if !found.is_empty() {
                    return Some(LiveUpdate::Changed(found));
                }
            }
            if let Some(since) = stale.filter(|_| self.told != Some(Announced::Stale)) {
                self.told = Some(Announced::Stale);
                return Some(LiveUpdate::Stale(since));
            }
            let reaches = async {
                match ahead {
                    Some(ahead) => self.follower.catches_up_to(ahead).await,
                    None => pending().await,
                }
            };
            select! {
                changed = self.states.changed(), if ahead.is_none() => changed.ok()?,
                changed = self.stale.changed() => changed.ok()?,
                reached = reaches => self.since = self.since.filter(|_| reached),
            }
        }
    }
}
