use std::future::pending;
use std::sync::Arc;

use rocket::tokio::select;
use rocket::tokio::sync::watch::Receiver;

use crate::changes::{Cursor, Delta, Follower, State};
use crate::model::Timestamp;
use crate::stores::FloodQuery;

pub(super) struct Subscriber {
    follower: Follower,
    states: Receiver<Option<Arc<State>>>,
    stale: Receiver<Option<Timestamp>>,
    pub(super) query: FloodQuery,
    pub(super) since: Option<Cursor>,
    /// The last announcement to the client: its states are current, or may be stale.
    announced: Option<Announcement>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Announcement {
    Current,
    Stale,
}

pub(super) enum LiveUpdate {
    Changed(StateUpdate),
    /// The states are current again, and may have changed.
    Current(StateUpdate),
    Stale(Timestamp),
}

pub(super) enum StateUpdate {
    Delta(Arc<Delta>),
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
        announced: Option<Announcement>,
    ) -> Self {
        let (states, stale) = (follower.states(), follower.stale());
        Self { follower, states, stale, query, since, announced }
    }

    /// Returns the next update; `None` at shutdown. After a full state, the caller sets `since` to its cursor.
    ///
    /// Slow clients get one merged delta. A client whose cursor is ahead waits until the server catches up. If the server cannot,
    /// the client gets the full state.
    pub(super) async fn next(&mut self) -> Option<LiveUpdate> {
        loop {
            // Read this before the states, so that the states are at least as new.
            let stale = *self.stale.borrow_and_update();
            let state = self.states.borrow_and_update().clone();
            let ahead =
                self.since.filter(|since| state.as_ref().is_some_and(|state| state.is_behind(*since)));
            if let Some(state) = state.filter(|_| ahead.is_none()) {
                let update = StateUpdate::since(&state, self.since, &self.query);
                if let StateUpdate::Delta(delta) = &update {
                    self.since = Some(delta.cursor);
                }
                if stale.is_none() && self.announced != Some(Announcement::Current) {
                    self.announced = Some(Announcement::Current);
                    return Some(LiveUpdate::Current(update));
                }
                if !update.is_empty() {
                    return Some(LiveUpdate::Changed(update));
                }
            }
            if let Some(since) = stale.filter(|_| self.announced != Some(Announcement::Stale)) {
                self.announced = Some(Announcement::Stale);
                return Some(LiveUpdate::Stale(since));
            }
            let catch_up = async {
                match ahead {
                    Some(ahead) => self.follower.catch_up_to(ahead).await,
                    None => pending().await,
                }
            };
            select! {
                changed = self.states.changed(), if ahead.is_none() => changed.ok()?,
                changed = self.stale.changed() => changed.ok()?,
                reached = catch_up => self.since = self.since.filter(|_| reached),
            }
        }
    }
}
