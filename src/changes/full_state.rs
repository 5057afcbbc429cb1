use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rocket::tokio;
use rocket::tokio::time::sleep;

use super::Cursor;

/// All states as JSON, encoded once for all clients. The memory of the JSON stays reserved until the last client has received it.
#[derive(Debug)]
pub(crate) struct FullState {
    pub(crate) cursor: Cursor,
    /// A [`Delta`](super::Delta) with all states.
    pub(crate) json: Vec<u8>,
    #[expect(dead_code, reason = "held until it is dropped")]
    pub(crate) permit: Box<dyn fmt::Debug + Send + Sync>,
}

/// Sends a full state in chunks, so that the server does not copy the whole state for each client.
#[derive(Debug)]
pub(crate) struct FullStateBody {
    /// `None` once the client has exceeded its time.
    state: Arc<Mutex<Option<Arc<FullState>>>>,
    sent: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client reads too slowly")]
pub(crate) struct TooSlow;

const CHUNK: usize = 16 << 10;

/// The minimum time that a client has to read a state.
const MIN_TIME: Duration = Duration::from_secs(30);

/// The minimum speed at which a client must read a large state, because the state's memory stays reserved until then.
const MIN_BYTES_PER_SECOND: u64 = 256 << 10;

impl FullStateBody {
    /// Creates the body. The client has half a minute, plus a second for each 256 KiB; then the body drops the state.
    #[must_use]
    pub(crate) fn new(state: Arc<FullState>) -> Self {
        let time = MIN_TIME + Duration::from_secs(state.json.len() as u64 / MIN_BYTES_PER_SECOND);
        let state = Arc::new(Mutex::new(Some(state)));
        let weak_state = Arc::downgrade(&state);
        tokio::spawn(async move {
            sleep(time).await;
            if let Some(state) = weak_state.upgrade() {
                lock(&state).take();
            }
        });
        Self { state, sent: 0 }
    }
}

impl Iterator for FullStateBody {
    type Item = Result<Vec<u8>, TooSlow>;

    fn next(&mut self) -> Option<Result<Vec<u8>, TooSlow>> {
        let state = lock(&self.state);
        let Some(state) = &*state else { return Some(Err(TooSlow)) };
        let rest = &state.json[self.sent..];
        let piece = &rest[..rest.len().min(CHUNK)];
        self.sent += piece.len();
        (!piece.is_empty()).then(|| Ok(piece.to_vec()))
    }
}

fn lock(state: &Mutex<Option<Arc<FullState>>>) -> MutexGuard<'_, Option<Arc<FullState>>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
