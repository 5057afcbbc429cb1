use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rocket::tokio;
use rocket::tokio::time::sleep;

use super::Cursor;

/// A full state as JSON, encoded once for all clients that need it. It holds the memory that it takes until no client needs it.
#[derive(Debug)]
pub(crate) struct FullState {
    /// How far the state was read.
    pub(crate) cursor: Cursor,
    /// The [`Delta`](super::Delta) with all states.
    pub(crate) json: Vec<u8>,
    /// Held as long as the JSON: the memory that it takes.
    #[expect(dead_code, reason = "held until it is dropped")]
    pub(crate) held: Box<dyn fmt::Debug + Send + Sync>,
}

/// A full state while it is sent to a client, in pieces: no client has a copy of the whole.
#[derive(Debug)]
pub(crate) struct FullStateBody {
    /// `None` once the client has taken too long.
    state: Arc<Mutex<Option<Arc<FullState>>>>,
    sent: usize,
}

/// The client has taken too long to read a full state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client reads too slowly")]
pub(crate) struct TooSlow;

/// How many bytes are copied at once.
const PIECE: usize = 16 << 10;

/// How long a client may take for a state of any size.
const LEAST: Duration = Duration::from_secs(30);

/// How many bytes a second a client must read of a large state. The memory of a state that is still sent is missing for later
/// ones.
const PACE: u64 = 256 << 10;

impl FullStateBody {
    /// Begins to send a state. The client must read it within half a minute, and one more second for each 256 KiB; after that,
    /// the state is dropped.
    #[must_use]
    pub(crate) fn new(state: Arc<FullState>) -> Self {
        let time = LEAST + Duration::from_secs(state.json.len() as u64 / PACE);
        let state = Arc::new(Mutex::new(Some(state)));
        let sent = Arc::downgrade(&state);
        tokio::spawn(async move {
            sleep(time).await;
            if let Some(state) = sent.upgrade() {
                lock(&state).take();
            }
        });
        Self { state, sent: 0 }
    }
}

impl Iterator for FullStateBody {
    type Item = Result<Vec<u8>, TooSlow>;

    /// Returns the next piece, or an error if the state was dropped.
    fn next(&mut self) -> Option<Result<Vec<u8>, TooSlow>> {
        let state = lock(&self.state);
        let Some(state) = &*state else { return Some(Err(TooSlow)) };
        let rest = &state.json[self.sent..];
        let piece = &rest[..rest.len().min(PIECE)];
        self.sent += piece.len();
        (!piece.is_empty()).then(|| Ok(piece.to_vec()))
    }
}

fn lock(state: &Mutex<Option<Arc<FullState>>>) -> MutexGuard<'_, Option<Arc<FullState>>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
