use std::borrow::Cow;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rocket::http::Status;
use rocket::request::Request;
use rocket::response::{Responder, Response, Result as ResponseResult};
use serde::Serialize;

use super::Memory;
use super::cache::Rendered;
use super::envelope;
use crate::config::{Config, Limits};
use crate::guards::RevisionParam;
use crate::http::admission::Account;
use crate::http::content::{
    AcceptedEncodings, CacheControl, CacheTopology, Content, ContentClass, ContentEncoding,
};
use crate::http::error::Problem;
use crate::model::{DataState, Timestamp};
use crate::runtime::off_thread;

pub(crate) const JSON: &str = "application/json";
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// The body of a successful response, and how long caches may keep it.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    media_type: Cow<'static, str>,
    /// `None` if the body was not rendered: then only the headers are sent.
    content: Option<Arc<Content>>,
    /// Held until the last byte is sent.
    memory: Option<Arc<Memory>>,
    kept: CacheControl,
    /// Whether it was ready before the request.
    was_ready: bool,
    stale: Option<StaleSince>,
    /// How current the data is; `None` if the body is no data.
    data: Option<DataState>,
    /// Whether the service has no area of the city that was asked for.
    is_uncovered: bool,
    /// Whether it is a list that lacks its oldest items, because there are too many.
    is_truncated: bool,
    /// The address that names this content, if it is another one.
    location: Option<String>,
}

/// The age of a response that may no longer be current.
#[derive(Clone, Copy, Debug)]
struct StaleSince {
    /// The time until which it was known to be current.
    since: Timestamp,
    /// How long ago that was.
    age: Duration,
}

/// The bytes of a body, and the memory that they hold.
struct BodyBytes {
    bytes: Bytes,
    _memory: Option<Arc<Memory>>,
}

impl AsRef<[u8]> for BodyBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl ApiResponse {
    /// Makes a response that is the same for all clients, and holds no reports.
    #[must_use]
    pub(crate) fn shared(rendered: &Rendered) -> Self {
        let Rendered { media_type, content, memory, is_truncated } = rendered.clone();
        let kept = CacheControl::Revalidate(ContentClass::WithoutReports);
        Self { memory, is_truncated, ..Self::with_content(media_type, Some(content), kept) }
    }

    /// Says what the response can contain, and whether it was ready before the request.
    pub(super) fn holding(self, holds: ContentClass, was_ready: bool) -> Self {
        Self { kept: CacheControl::Revalidate(holds), was_ready, ..self }
    }

    /// Lets shared caches reuse the response until the next tick, which is after this time.
    pub(crate) fn until_tick(self, left: Duration) -> Self {
        Self { kept: CacheControl::UntilTick(left), was_ready: true, ..self }
    }

    /// Marks the response as current only until `since`, which is `age` ago.
    pub(crate) fn stale_since(self, since: Timestamp, age: Duration) -> Self {
        Self { stale: Some(StaleSince { since, age }), ..self }
    }

    /// Says how current the data is. It is in headers only: entity tag and body stay the same.
    pub(super) fn with_data(self, data: DataState) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Says that the service has no area of the city that was asked for, so that it knows nothing about floods there.
    pub(super) fn without_coverage(self) -> Self {
        Self { is_uncovered: true, data: Some(DataState::default()), ..self }
    }

    /// Lets caches reuse the response for a day if the client has requested this version of it. Otherwise tells the client the
    /// address of this version (RFC 9110 §8.7).
    pub(crate) fn at_revision(self, known: &RevisionParam) -> Self {
        let Some(content) = &self.content else { return self };
        let revision = content.tag();
        if known.requested.as_deref() == Some(revision) && self.stale.is_none() {
            Self { kept: CacheControl::Versioned, ..self }
        } else {
            Self { location: Some(known.address(revision)), ..self }
        }
    }

    /// Lets caches reuse the response for a day if the client has requested this version of the data.
    pub(crate) fn with_version(self, version: &str, known: &RevisionParam) -> Self {
        let is_known = known.requested.as_deref() == Some(version);
        Self { kept: if is_known { CacheControl::Versioned } else { self.kept }, ..self }
    }

    /// Makes a response that is the same for all clients and was not rendered, with those headers that are known without
    /// rendering it.
    pub(super) fn unrendered(media_type: String) -> Self {
        Self::with_content(media_type.into(), None, CacheControl::Revalidate(ContentClass::MayHaveReports))
    }

    /// Makes the response `{"statusCode":200,"result":…}` for a client with a credential. Caches must not keep it.
    ///
    /// # Errors
    ///
    /// If the result cannot be written as JSON.
    pub fn private_result<T: Serialize>(result: &T) -> Result<Self, Problem> {
        Ok(Self::own(JSON.into(), envelope::result(result)?, CacheControl::NoStore))
    }

    /// Makes a page for one person. Caches must not keep it.
    pub(crate) fn private_page(page: String) -> Self {
        Self::own(HTML.into(), page.into_bytes(), CacheControl::NoStore)
    }

    /// Compresses the body for browsers. Not for a body that has a secret beside the text of a stranger who can
    /// make the reader's browser send the request: then its length tells of the secret.
    pub(crate) async fn compressed(self) -> Result<Self, Problem> {
        if let Some(content) = self.content.clone() {
            let compressing = move |_: &_| {
                content.finish_encoding(ContentEncoding::Gzip, content.compress(ContentEncoding::Gzip));
            };
            off_thread(compressing).await.map_err(Problem::internal)?;
        }
        Ok(self)
    }

    /// Makes the response with a photo.
    #[must_use]
    pub(crate) fn photo(media_type: &'static str, body: Vec<u8>) -> Self {
        Self::own(media_type.into(), body, CacheControl::Photo)
    }

    /// Makes a response that is the same for all clients, from its own body, to be revalidated before each reuse. If
    /// `cache.shared` is set, shared caches may reuse it for that time, and for a minute while the service is away.
    #[must_use]
    pub fn public(media_type: impl Into<Cow<'static, str>>, body: Vec<u8>) -> Self {
        Self::own(media_type.into(), body, CacheControl::Revalidate(ContentClass::MayHaveReports))
    }

    /// Makes a response to a change: the value itself, without an envelope. Caches must not keep it.
    ///
    /// # Errors
    ///
    /// If the value cannot be written as JSON.
    pub fn bare<T: Serialize>(value: &T) -> Result<Self, Problem> {
        let body = serde_json::to_vec(value).map_err(Problem::internal)?;
        Ok(Self::own(JSON.into(), body, CacheControl::NoStore))
    }

    fn own(media_type: Cow<'static, str>, body: Vec<u8>, kept: CacheControl) -> Self {
        Self::with_content(media_type, Some(Arc::new(Content::new(body))), kept)
    }

    fn with_content(
        media_type: Cow<'static, str>,
        content: Option<Arc<Content>>,
        kept: CacheControl,
    ) -> Self {
        Self {
            media_type,
            content,
            memory: None,
            kept,
            was_ready: false,
            stale: None,
            data: None,
            is_uncovered: false,
            is_truncated: false,
            location: None,
        }
    }
}

impl<'r> Responder<'r, 'static> for ApiResponse {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'static> {
        let Self {
            media_type,
            content,
            memory,
            kept,
            was_ready,
            stale,
            data,
            is_uncovered,
            is_truncated,
            location,
        } = self;
        if was_ready {
            Account::note_cache_hit(request);
        }
        let mut response = Response::new();
        if let Some(StaleSince { since, age }) = stale {
            response.set_raw_header("Siaga-Stale-Since", since.to_string());
            response.set_raw_header("Age", age.as_secs().to_string());
        }
        if let Some(data) = data {
            response.set_raw_header("Siaga-Data-Status", data.name());
            if let Some(as_of) = data.as_of {
                response.set_raw_header("Siaga-Data-As-Of", as_of.to_string());
            }
        }
        if is_truncated {
            response.set_raw_header("Siaga-Truncated", "true");
        }
        if is_uncovered {
            response.set_raw_header("Siaga-Not-Covered", "city");
        }
        if let Some(location) = location {
            response.set_raw_header("Content-Location", location);
        }
        response.set_raw_header("Cache-Control", kept.header_value(between(request)));
        if matches!(kept, CacheControl::Revalidate(_) | CacheControl::Versioned) {
            response.set_raw_header("Vary", "Accept, Accept-Encoding");
        }
        let Some(content) = content else {
            response.set_raw_header("Content-Type", media_type);
            return Ok(response);
        };
        let accepted = AcceptedEncodings::new(request.headers().get("Accept-Encoding"));
        let form = content.representation(accepted);
        if kept != CacheControl::NoStore {
            let known = known(request.headers().get("If-None-Match"), &content, accepted);
            response.set_raw_header("ETag", content.entity_tag(known.unwrap_or(form.encoding)));
            if known.is_some() {
                response.set_status(Status::NotModified);
                return Ok(response);
            }
        }
        if form.encoding != ContentEncoding::Identity {
            response.set_raw_header("Content-Encoding", form.encoding.name());
        }
        response.set_raw_header("Content-Type", media_type);
        let length = form.bytes.len();
        response.set_sized_body(length, Cursor::new(BodyBytes { bytes: form.bytes, _memory: memory }));
        // Rocket copies a body chunk by chunk, and each chunk costs time. With one byte to spare, Rocket sees that the first
        // chunk is the last. The chunk size is a setting of the body, so it is set after the body.
        let limits = request.rocket().state().map_or_else(Limits::default, |config: &Config| config.limits);
        response.set_max_chunk_size((length + 1).min(limits.chunk()));
        Ok(response)
    }
}

/// Returns which caches are between the service and the sender of a request.
pub(crate) fn between(request: &Request<'_>) -> CacheTopology {
    let shared = request.rocket().state().and_then(|config: &Config| config.cache.shared());
    let has = |name| request.headers().get(name).any(|value| !value.trim().is_empty());
    match shared {
        None => CacheTopology::Unconfigured,
        Some(_) if has("Authorization") || has("X-Api-Key") => CacheTopology::SharedWithCredential,
        Some(shared) => CacheTopology::Shared(shared),
    }
}

/// Returns the coding of the form that the client already has, according to the lines of `If-None-Match` (RFC 9110 §13.1.2,
/// weak comparison).
pub(super) fn known<'a>(
    mut lists: impl Iterator<Item = &'a str>,
    content: &Content,
    accepted: AcceptedEncodings,
) -> Option<ContentEncoding> {
    lists.find_map(|list| {
        if list.trim() == "*" {
            return Some(content.representation(accepted).encoding);
        }
        // A tag from elsewhere may contain a comma, but none of its parts can equal one of ours.
        let mut tags = list.split(',').map(str::trim);
        tags.find_map(|tag| content.match_tag(tag.strip_prefix("W/").unwrap_or(tag), accepted))
    })
}

/// Prepares content that stays the same until the program ends: computes its tag and compresses it, off the
/// threads that serve requests.
///
/// # Errors
///
/// 500 if the compression panics.
pub(crate) async fn prepared(
    media_type: impl Into<Cow<'static, str>>,
    bytes: Vec<u8>,
) -> Result<Rendered, Problem> {
    let compressing = off_thread(move |_| {
        let content = Content::with_tag(bytes);
        content.compress_all();
        content
    });
    Ok(Rendered::new(media_type, compressing.await.map_err(Problem::internal)?))
}
