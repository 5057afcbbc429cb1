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
use crate::rendering::{ApiResponse, JSON, between, envelope};

/// How often a response that waits sends a line break before its JSON, because Rocket notices only when it sends
/// something that a client has gone.
const PULSE: Duration = Duration::from_secs(5);

/// The response of `/changes`.
pub(in super::super) enum ChangesResponse {
    Delta(Box<ApiResponse>),
    /// A full state, which all clients share, and how caches may keep it.
    Full(Arc<FullState>, CacheControl),
    Later(LongPollResponse),
}

impl<'r> Responder<'r, 'r> for ChangesResponse {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let (state, kept) = match self {
            Self::Delta(answer) => return answer.respond_to(request),
            Self::Later(awaited) => return awaited.respond_to(request),
            Self::Full(state, kept) => (state, kept),
        };
        let (before, after) = envelope::ENVELOPE;
        let whole = |text: &[u8]| std::iter::once(Ok(text.to_vec()));
        let pieces = whole(before).chain(changes::FullStateBody::new(state)).chain(whole(after));
        let pieces = pieces.map(|piece| Piece(piece.map(io::Cursor::new)));
        let mut response = Response::new();
        response.set_raw_header("Content-Type", JSON);
        response.set_raw_header("Cache-Control", kept.header_value(between(request)));
        response.set_streamed_body(ReaderStream::from(stream::iter(pieces)));
        Ok(response)
    }
}

/// A piece of a body, or the error that breaks it off.
struct Piece(Result<io::Cursor<Vec<u8>>, TooSlow>);

impl AsyncRead for Piece {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Ok(bytes) => Pin::new(bytes).poll_read(cx, to),
            Err(error) => Poll::Ready(Err(io::Error::other(*error))),
        }
    }
}

/// A response whose delta is not there yet. It begins at once, with line breaks, which JSON allows before a value.
pub(in super::super) struct LongPollResponse(Pin<Box<dyn Future<Output = Arc<Delta>> + Send>>);

impl LongPollResponse {
    pub(super) fn new(waiting: impl Future<Output = Arc<Delta>> + Send + 'static) -> Self {
        Self(Box::pin(waiting))
    }
}

impl<'r> Responder<'r, 'r> for LongPollResponse {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'r> {
        let body = stream::unfold(Some(self.0), async |waiting| {
            let mut waiting = waiting?;
            match timeout(PULSE, &mut waiting).await {
                // A delta can always be written as JSON.
                Ok(delta) => Some((envelope::result(&*delta).unwrap_or_default(), None)),
                Err(_silence) => Some((b"\n".to_vec(), Some(waiting))),
            }
        });
        let mut response = ByteStream::from(body).respond_to(request)?;
        response.set_raw_header("Content-Type", JSON);
        response.set_raw_header("Cache-Control", CacheControl::NO_STORE);
        Ok(response)
    }
}
