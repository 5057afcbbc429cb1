use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream;
use rocket::request::Request;
use rocket::response::stream::{ByteStream, ReaderStream};
use rocket::response::{Responder, Response, Result as ResponseResult};
use rocket::tokio::io::{AsyncRead, ReadBuf};
use rocket::tokio::time::timeout;

use crate::changes::{self, Delta, FullState, TooSlow};
use crate::http::content::CacheControl;
use crate::rendering::{ApiResponse, JSON, cache_topology, envelope};

/// How often a waiting response sends a line break before its JSON. Rocket detects a closed connection only when it writes.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

pub(in super::super) enum ChangesResponse {
    Delta(Box<ApiResponse>),
    /// A full state, shared by all clients, and how long caches may keep it.
    Full(Arc<FullState>, CacheControl),
    LongPoll(LongPollResponse),
}

impl<'r> Responder<'r, 'r> for ChangesResponse {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let (state, cache_control) = match self {
            Self::Delta(response) => return response.respond_to(request),
            Self::LongPoll(awaited) => return awaited.respond_to(request),
            Self::Full(state, cache_control) => (state, cache_control),
        };
        let (opening, closing) = envelope::ENVELOPE;
        let chunk = |text: &[u8]| std::iter::once(Ok(text.to_vec()));
        let pieces = chunk(opening).chain(changes::FullStateBody::new(state)).chain(chunk(closing));
        let pieces = pieces.map(|piece| BodyChunk(piece.map(io::Cursor::new)));
        let mut response = Response::new();
        response.set_raw_header("Content-Type", JSON);
        response.set_raw_header("Cache-Control", cache_control.header_value(cache_topology(request)));
        response.set_streamed_body(ReaderStream::from(stream::iter(pieces)));
        Ok(response)
    }
}

/// A chunk of a body, or the error that aborts it.
struct BodyChunk(Result<io::Cursor<Vec<u8>>, TooSlow>);

impl AsyncRead for BodyChunk {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Ok(bytes) => Pin::new(bytes).poll_read(cx, to),
            Err(error) => Poll::Ready(Err(io::Error::other(*error))),
        }
    }
}

/// A response that waits for its delta. It starts immediately, with line breaks, which JSON allows before a value.
pub(in super::super) struct LongPollResponse(Pin<Box<dyn Future<Output = Arc<Delta>> + Send>>);

impl LongPollResponse {
    pub(super) fn new(waiting: impl Future<Output = Arc<Delta>> + Send + 'static) -> Self {
        Self(Box::pin(waiting))
    }
}

impl<'r> Responder<'r, 'r> for LongPollResponse {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let body = stream::unfold(Some(self.0), async |delta| {
            let mut delta = delta?;
            match timeout(KEEP_ALIVE, &mut delta).await {
                Ok(delta) => Some((envelope::result(&*delta).unwrap_or_default(), None)),
                Err(_silence) => Some((b"\n".to_vec(), Some(delta))),
            }
        });
        let mut response = ByteStream::from(body).respond_to(request)?;
        response.set_raw_header("Content-Type", JSON);
        response.set_raw_header("Cache-Control", CacheControl::NO_STORE);
        Ok(response)
    }
}
