//! Parses the form: texts first, then the photo, which is streamed.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use multer::{Constraints, Field, Multipart, SizeLimit};
use rocket::Data;
use rocket::data::ByteUnit;
use rocket::futures::{Stream, stream};
use rocket::http::ContentType;
use rocket::tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use rocket::tokio::task::yield_now;

use super::hazards;
use crate::auth::random;
use crate::config::Config;
use crate::http::error::Problem;
use crate::photos::ImageType;

const MAX_FIELD: u64 = 8 * 1024;
/// The maximum size of the headers of a part, in bytes. The headers of the first part include the preamble.
const MAX_HEAD: usize = 4 * 1024;
/// The number of bytes that are read from the connection at a time: `HEAD_CHUNK` within headers, otherwise `CHUNK`.
const HEAD_CHUNK: usize = 1024;
const CHUNK: usize = 16 * 1024;
/// The maximum number of parts, in addition to one for each field about hazards.
const MAX_PARTS: usize = 64;
/// The names of the fields, except the photo and the fields about hazards.
const FIELDS: [&str; 14] = [
    "token",
    "website",
    "created_at",
    "sent_at",
    "city",
    "parent",
    "disaster",
    "lat",
    "lng",
    "area",
    "outside",
    "choose",
    "text",
    "lang",
];

pub(super) const TOKEN_LENGTH: usize = 32;

/// Returns the token of a new form. The identifier of the form's card is derived from the token.
pub(super) fn new_token() -> Result<String, Problem> {
    random::hex::<{ TOKEN_LENGTH / 2 }>().map_err(Problem::internal)
}

#[derive(Debug, Default)]
pub(super) struct FormData(HashMap<String, Vec<String>>);

#[derive(Debug, thiserror::Error)]
pub(super) enum FormError {
    #[error("the body must be a form of the type multipart/form-data")]
    NoForm,
    #[error(transparent)]
    Parts(#[from] multer::Error),
    #[error("the form has too many parts")]
    TooMany,
    #[error("the head of a part of the form has more than {MAX_HEAD} bytes")]
    LongHead,
}

/// Limits how many bytes the parser may buffer before it finds the next boundary.
#[derive(Clone, Debug, Default)]
struct ReadBudget(Arc<AtomicUsize>);

impl ReadBudget {
    fn set(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    fn remaining(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the chunks of a body. Fails when no bytes of the budget remain.
    fn chunks(self, body: impl AsyncRead + Send + Unpin) -> impl Stream<Item = io::Result<Bytes>> + Send {
        stream::try_unfold((body, self), |(mut body, budget)| async move {
            // Yields, because the parser would otherwise buffer everything that is ready.
            yield_now().await;
            let max = if budget.remaining() > MAX_HEAD + HEAD_CHUNK { CHUNK } else { HEAD_CHUNK };
            let mut chunk = vec![0; budget.remaining().min(max)];
            if chunk.is_empty() {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let read = body.read(&mut chunk).await?;
            chunk.truncate(read);
            budget.set(budget.remaining().saturating_sub(read));
            Ok((read > 0).then_some((chunk.into(), (body, budget))))
        })
    }
}

impl FormData {
    /// Returns the trimmed text of a field; `None` if it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let texts = self.0.get(name).into_iter().flatten();
        texts.map(|text| text.trim()).filter(|text| !text.is_empty())
    }

    /// Returns the text of a field as it was sent, which may be empty.
    pub(super) fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.first().map(String::as_str)
    }

    pub(super) fn values(&self) -> &HashMap<String, Vec<String>> {
        &self.0
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub(super) fn set(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), vec![text.to_owned()]);
    }
}

/// Parses the text fields up to the photo, if there is one.
pub(super) async fn parse<'r>(
    kind: Option<&ContentType>,
    data: Data<'r>,
    config: &Config,
) -> Result<(FormData, Option<Photo<'r>>), FormError> {
    let boundary = kind.filter(|kind| kind.is_form_data()).and_then(|kind| kind.param("boundary"));
    let boundary = boundary.ok_or(FormError::NoForm)?;
    let fields = hazards::fields(config);
    let max_parts = MAX_PARTS + fields.len();
    let largest_photo = config.images.max_bytes;
    let texts = MAX_FIELD * max_parts as u64;
    let max_body = ByteUnit::from(largest_photo.as_u64().saturating_add(texts));
    // The photo has no limit here: `CardImages` limits it, and has its own error for that.
    let sizes = SizeLimit::new().per_field(MAX_FIELD).for_field(PHOTO, u64::MAX);
    let constraints = Constraints::new().size_limit(sizes);
    let budget = ReadBudget::default();
    let chunks = budget.clone().chunks(data.open(max_body));
    let mut parts = Multipart::with_constraints(chunks, boundary, constraints);
    let mut form = FormData::default();
    for _ in 0..max_parts {
        // The parser may read one chunk more than it needs.
        budget.set(MAX_HEAD + HEAD_CHUNK);
        let part = parts.next_field().await;
        let part =
            part.map_err(|error| if budget.remaining() == 0 { FormError::LongHead } else { error.into() })?;
        let Some(part) = part else { return Ok((form, None)) };
        budget.set(usize::MAX);
        let name = part.name().unwrap_or_default().to_owned();
        if name == PHOTO {
            // Browsers send an empty file without a name if no file was chosen. Other programs may omit the name of a photo.
            let is_named = part.file_name().is_some_and(|name| !name.is_empty());
            let mut photo = Photo::new(part);
            if is_named || !photo.is_empty().await? {
                return Ok((form, Some(photo)));
            }
            continue;
        }
        // Browsers send line breaks as CRLF, and databases reject NUL.
        let text = part.text().await?.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "");
        if FIELDS.contains(&&*name) || fields.contains(&name) {
            form.0.entry(name).or_default().push(text);
        }
    }
    Err(FormError::TooMany)
}

/// The name of the photo's field, which is the last one of the form.
const PHOTO: &str = "photo";

/// A photo that is still being received: the rest of the part, and the bytes read in advance.
pub(super) struct Photo<'r> {
    part: Field<'r>,
    piece: Bytes,
}

impl<'r> Photo<'r> {
    fn new(part: Field<'r>) -> Self {
        Self { part, piece: Bytes::new() }
    }

    /// Returns whether the photo has no bytes. Keeps the bytes that it reads.
    async fn is_empty(&mut self) -> Result<bool, multer::Error> {
        while self.piece.is_empty() {
            let Some(piece) = self.part.chunk().await? else { return Ok(true) };
            self.piece = piece;
        }
        Ok(false)
    }

    /// Returns whether the photo starts like an image of an allowed type.
    pub(super) async fn is_image(&mut self) -> Result<bool, multer::Error> {
        let mut leading = self.piece.to_vec();
        while leading.len() < ImageType::LEADING
            && let Some(piece) = self.part.chunk().await?
        {
            leading.extend_from_slice(&piece);
        }
        let is_image = ImageType::detect(&leading).is_some();
        self.piece = leading.into();
        Ok(is_image)
    }
}

impl Photo<'_> {
    pub(super) async fn discard(mut self) {
        while let Ok(Some(_)) = self.part.chunk().await {}
    }
}

impl AsyncRead for Photo<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.piece.is_empty() {
            match ready!(Pin::new(&mut self.part).poll_next(context)) {
                Some(piece) => self.piece = piece.map_err(io::Error::other)?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let count = self.piece.len().min(buffer.remaining());
        buffer.put_slice(&self.piece[..count]);
        self.piece.advance(count);
        Poll::Ready(Ok(()))
    }
}
