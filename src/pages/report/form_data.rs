//! Reads the form: texts first, then the photo, which is not kept in memory.

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

/// The largest text of a form.
const LONGEST: u64 = 8 * 1024;
/// The most bytes of the head of a part; of the first one with what is before it.
const LONGEST_HEAD: usize = 4 * 1024;
/// The most bytes that are read from the connection at a time: within a head, and else.
const CHUNK_OF_HEAD: usize = 1024;
const CHUNK: usize = 16 * 1024;
/// The most parts of a form beside one for each field about hazards.
const MOST: usize = 64;
/// The names of the fields, but for the photo and those about hazards.
const FIELDS: [&str; 13] = [
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
    "text",
    "lang",
];

/// How many characters the token of a form has.
pub(super) const TOKEN: usize = 32;

/// Makes the token of a new form, from which the identifier of its card is made.
pub(super) fn token() -> Result<String, Problem> {
    random::hex::<{ TOKEN / 2 }>().map_err(Problem::internal)
}

/// What a person has filled in, by the names of the fields.
#[derive(Debug, Default)]
pub(super) struct FormData(HashMap<String, Vec<String>>);

/// Why a form cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("the body must be a form of the type multipart/form-data")]
    NoForm,
    #[error(transparent)]
    Parts(#[from] multer::Error),
    #[error("the form has too many parts")]
    TooMany,
    #[error("the head of a part of the form has more than {LONGEST_HEAD} bytes")]
    LongHead,
}

/// How many bytes the parser may read before it must have found what it looks for: it buffers until then.
#[derive(Clone, Debug, Default)]
struct ReadBudget(Arc<AtomicUsize>);

impl ReadBudget {
    fn set(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the bytes of a body in chunks, each when the parser has tried to use the one before it. Fails when the budget is spent.
    fn chunks(self, body: impl AsyncRead + Send + Unpin) -> impl Stream<Item = io::Result<Bytes>> + Send {
        stream::try_unfold((body, self), |(mut body, budget)| async move {
            // The parser reads all that is ready at once.
            yield_now().await;
            let most = if budget.left() > LONGEST_HEAD + CHUNK_OF_HEAD { CHUNK } else { CHUNK_OF_HEAD };
            let mut chunk = vec![0; budget.left().min(most)];
            if chunk.is_empty() {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let read = body.read(&mut chunk).await?;
            chunk.truncate(read);
            budget.set(budget.left().saturating_sub(read));
            Ok((read > 0).then_some((chunk.into(), (body, budget))))
        })
    }
}

impl FormData {
    /// Returns the text of a field without whitespace around it; `None` if it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns all texts of a field.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let texts = self.0.get(name).into_iter().flatten();
        texts.map(|text| text.trim()).filter(|text| !text.is_empty())
    }

    /// Returns all texts, to be shown again.
    pub(super) fn shown(&self) -> &HashMap<String, Vec<String>> {
        &self.0
    }

    /// Fills in a field.
    pub(super) fn put(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), vec![text.to_owned()]);
    }
}

/// Reads the texts of a form, up to its photo. Returns the photo if one was chosen.
pub(super) async fn read<'r>(
    kind: Option<&ContentType>,
    data: Data<'r>,
    config: &Config,
) -> Result<(FormData, Option<Photo<'r>>), Unreadable> {
    let boundary = kind.filter(|kind| kind.is_form_data()).and_then(|kind| kind.param("boundary"));
    let boundary = boundary.ok_or(Unreadable::NoForm)?;
    let fields = hazards::fields(config);
    let most = MOST + fields.len();
    let largest_photo = config.images.max_bytes;
    let texts = LONGEST * most as u64;
    let whole = ByteUnit::from(largest_photo.as_u64().saturating_add(texts));
    // The server says that the photo is too large.
    let sizes = SizeLimit::new().per_field(LONGEST).for_field(PHOTO, u64::MAX);
    let constraints = Constraints::new().size_limit(sizes);
    let budget = ReadBudget::default();
    let chunks = budget.clone().chunks(data.open(whole));
    let mut parts = Multipart::with_constraints(chunks, boundary, constraints);
    let mut filled = FormData::default();
    for _ in 0..most {
        // The parser may ask for one chunk more than it needs.
        budget.set(LONGEST_HEAD + CHUNK_OF_HEAD);
        let part = parts.next_field().await;
        let part =
            part.map_err(|error| if budget.left() == 0 { Unreadable::LongHead } else { error.into() })?;
        let Some(part) = part else { return Ok((filled, None)) };
        budget.set(usize::MAX);
        let name = part.name().unwrap_or_default().to_owned();
        if name == PHOTO {
            // Browsers send an empty file without a name if none was chosen; other programs may leave out the name.
            let is_named = part.file_name().is_some_and(|name| !name.is_empty());
            let mut photo = Photo::new(part);
            if is_named || !photo.is_empty().await? {
                return Ok((filled, Some(photo)));
            }
            continue;
        }
        // Browsers send each line break as two characters, and databases store no NUL.
        let text = part.text().await?.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "");
        if FIELDS.contains(&&*name) || fields.contains(&name) {
            filled.0.entry(name).or_default().push(text);
        }
    }
    Err(Unreadable::TooMany)
}

/// The field of the photo, the last one of the form.
const PHOTO: &str = "photo";

/// The photo of a form, as it arrives.
pub(super) struct Photo<'r> {
    part: Field<'r>,
    piece: Bytes,
}

impl<'r> Photo<'r> {
    fn new(part: Field<'r>) -> Self {
        Self { part, piece: Bytes::new() }
    }

    /// Returns whether it has no content.
    async fn is_empty(&mut self) -> Result<bool, multer::Error> {
        while self.piece.is_empty() {
            let Some(piece) = self.part.chunk().await? else { return Ok(true) };
            self.piece = piece;
        }
        Ok(false)
    }

    /// Returns whether it begins like an image of an allowed type.
    pub(super) async fn is_image(&mut self) -> Result<bool, multer::Error> {
        let mut beginning = self.piece.to_vec();
        while beginning.len() < ImageType::LEADING
            && let Some(piece) = self.part.chunk().await?
        {
            beginning.extend_from_slice(&piece);
        }
        let is_image = ImageType::detect(&beginning).is_some();
        self.piece = beginning.into();
        Ok(is_image)
    }
}

impl Photo<'_> {
    /// Reads what is left of it.
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
