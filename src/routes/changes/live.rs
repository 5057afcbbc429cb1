use std::future::pending;
use std::sync::Arc;

use rocket::tokio::select;
use rocket::tokio::sync::watch::Receiver;

use crate::changes::{Cursor, Delta, Follower, State};
use crate::model::Timestamp;
use crate::stores::FloodQuery;

/// A client that follows the changes.
pub(super) struct Live {
    follower: Follower,
    states: Receiver<Option<Arc<State>>>,
    stale: Receiver<Option<Timestamp>>,
    pub(super) query: FloodQuery,
    pub(super) since: Option<Cursor>,
    /// Whether the client was told that its states are current, or that they may be out of date; `None` if it was told nothing yet.
    told: Option<Told>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Current,
    Stale,
}

/// What a client that follows the changes is told.
pub(super) enum News {
    /// What has changed.
    Changed(Found),
    /// What has changed, perhaps nothing, and that the states are current, which the client does not know.
    Current(Found),
    /// The states may be out of date: they were last known to be current at this time.
    Stale(Timestamp),
}

/// What a client does not know yet.
pub(super) enum Found {
    Delta(Arc<Delta>),
    /// All of this state.
    Full(Arc<State>),
}

impl Found {
    pub(super) fn of(state: &Arc<State>, since: Option<Cursor>, query: &FloodQuery) -> Self {
        match state.known(since) {
            Some(since) => Self::Delta(state.since(Some(since), query)),
            None => Self::Full(Arc::clone(state)),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Delta(delta) if delta.is_empty())
    }
}

impl Live {
    pub(super) fn new(
        follower: Follower,
        query: FloodQuery,
        since: Option<Cursor>,
        told: Option<Told>,
    ) -> Self {
        let (states, stale) = (follower.states(), follower.stale());
        Self { follower, states, stale, query, since, told }
    }

    /// Returns what is new for the client; `None` when the server ends. After a full state, the caller sets `since` to its
    /// cursor.
    ///
    /// If the client is slow, deltas in between are one: each is computed from what the client has. A client that is ahead of
    /// the states waits until they have reached it, or until it is certain that they do not: then it gets all of them.
    pub(super) async fn next(&mut self) -> Option<News> {
        loop {
            // Read first: states that are read after it are at least as new.
            let stale = *self.stale.borrow_and_update();
            let state = self.states.borrow_and_update().clone();
            let ahead = self.since.filter(|since| state.as_ref().is_some_and(|of| of.is_behind(*since)));
            if let Some(state) = state.filter(|_| ahead.is_none()) {
                let found = Found::of(&state, self.since, &self.query);
                if let Found::Delta(delta) = &found {
                    self.since = Some(delta.cursor);
                }
                if stale.is_none() && self.told != Some(Told::Current) {
                    self.told = Some(Told::Current);
                    return Some(News::Current(found));
                }
                if !found.is_empty() {
                    return Some(News::Changed(found));
                }
            }
            if let Some(since) = stale.filter(|_| self.told != Some(Told::Stale)) {
                self.told = Some(Told::Stale);
                return Some(News::Stale(since));
            }
            let reaches = async {
                match ahead {
                    Some(ahead) => self.follower.reaches(ahead).await,
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
