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
use super::cache::RenderedResponse;
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

/// A successful response: its body, and how long caches may reuse it.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    media_type: Cow<'static, str>,
    /// `None` if the body was not rendered: then only the headers are sent.
    content: Option<Arc<Content>>,
    memory: Option<Arc<Memory>>,
    cache_control: CacheControl,
    was_ready: bool,
    stale: Option<Staleness>,
    /// How current the data is; `None` if the body has no data of the store.
    data: Option<DataState>,
    is_uncovered: bool,
    /// Whether the oldest items of the list are missing, because a list has a limit.
    is_truncated: bool,
    /// `Content-Location`, if it differs from the requested address.
    location: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct Staleness {
    /// When the response was last known to be current.
    since: Timestamp,
    age: Duration,
}

/// The bytes of a body. Keeps their memory reserved until the last byte is sent.
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
    /// Returns a response that is the same for all clients and contains no reports.
    #[must_use]
    pub(crate) fn shared(rendered: &RenderedResponse) -> Self {
        let RenderedResponse { media_type, content, memory, is_truncated } = rendered.clone();
        let cache_control = CacheControl::Revalidate(ContentClass::WithoutReports);
        Self { memory, is_truncated, ..Self::with_content(media_type, Some(content), cache_control) }
    }

    pub(super) fn with_content_class(self, class: ContentClass, was_ready: bool) -> Self {
        Self { cache_control: CacheControl::Revalidate(class), was_ready, ..self }
    }

    pub(crate) fn until_tick(self, remaining: Duration) -> Self {
        Self { cache_control: CacheControl::UntilTick(remaining), was_ready: true, ..self }
    }

    pub(crate) fn stale_since(self, since: Timestamp, age: Duration) -> Self {
        Self { stale: Some(Staleness { since, age }), ..self }
    }

    /// Adds the headers about how current the data is. Body and entity tag stay the same.
    pub(super) fn with_data(self, data: DataState) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Adds the headers for a city in which the service has no areas, and so no data about floods.
    pub(super) fn without_coverage(self) -> Self {
        Self { is_uncovered: true, data: Some(DataState::default()), ..self }
    }

    /// Allows reuse for a day if the client requested this version of the response. Otherwise sets `Content-Location` to the
    /// address of this version (RFC 9110 §8.7).
    pub(crate) fn at_revision(self, param: &RevisionParam) -> Self {
        let Some(content) = &self.content else { return self };
        let revision = content.tag();
        if param.requested.as_deref() == Some(revision) && self.stale.is_none() {
            Self { cache_control: CacheControl::Versioned, ..self }
        } else {
            Self { location: Some(param.address(revision)), ..self }
        }
    }

    pub(crate) fn with_version(self, version: &str, known: &RevisionParam) -> Self {
        let is_known = known.requested.as_deref() == Some(version);
        Self { cache_control: if is_known { CacheControl::Versioned } else { self.cache_control }, ..self }
    }

    /// Returns a response to `HEAD` that was not rendered: it has only the headers that are known without a body.
    pub(super) fn headers_only(media_type: String) -> Self {
        Self::with_content(media_type.into(), None, CacheControl::Revalidate(ContentClass::MayHaveReports))
    }

    /// Returns `{"statusCode":200,"result":…}` for a client with a credential. Caches must not store it.
    ///
    /// # Errors
    ///
    /// If the result cannot be serialized.
    pub fn private_result<T: Serialize>(result: &T) -> Result<Self, Problem> {
        Ok(Self::with_body(JSON.into(), envelope::result(result)?, CacheControl::NoStore))
    }

    /// Returns a page for one person. Caches must not store it.
    pub(crate) fn private_page(page: String) -> Self {
        Self::with_body(HTML.into(), page.into_bytes(), CacheControl::NoStore)
    }

    /// Compresses the body. Do not use this for a body with both a secret and text from a third party: if that party can make the
    /// reader's browser send requests, the compressed length leaks the secret (BREACH).
    pub(crate) async fn compressed(self) -> Result<Self, Problem> {
        if let Some(content) = self.content.clone() {
            let compress = move |_: &_| {
                content.finish_encoding(ContentEncoding::Gzip, content.compress(ContentEncoding::Gzip));
            };
            off_thread(compress).await.map_err(Problem::internal)?;
        }
        Ok(self)
    }

    #[must_use]
    pub(crate) fn photo(media_type: &'static str, body: Vec<u8>) -> Self {
        Self::with_body(media_type.into(), body, CacheControl::Photo)
    }

    /// Returns a response that is the same for all clients. Caches revalidate it before each reuse. If `cache.shared` is set,
    /// shared caches may reuse it for that time, and for a minute while the service is unavailable.
    #[must_use]
    pub fn public(media_type: impl Into<Cow<'static, str>>, body: Vec<u8>) -> Self {
        Self::with_body(media_type.into(), body, CacheControl::Revalidate(ContentClass::MayHaveReports))
    }

    /// Forbids caches to store the response.
    pub(crate) fn not_stored(self) -> Self {
        Self { cache_control: CacheControl::NoStore, ..self }
    }

    /// Returns the response to a change: the value itself, without an envelope. Caches must not store it.
    ///
    /// # Errors
    ///
    /// If the value cannot be serialized.
    pub fn bare<T: Serialize>(value: &T) -> Result<Self, Problem> {
        let body = serde_json::to_vec(value).map_err(Problem::internal)?;
        Ok(Self::with_body(JSON.into(), body, CacheControl::NoStore))
    }

    fn with_body(media_type: Cow<'static, str>, body: Vec<u8>, cache_control: CacheControl) -> Self {
        Self::with_content(media_type, Some(Arc::new(Content::new(body))), cache_control)
    }

    fn with_content(
        media_type: Cow<'static, str>,
        content: Option<Arc<Content>>,
        cache_control: CacheControl,
    ) -> Self {
        Self {
            media_type,
            content,
            memory: None,
            cache_control,
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
            cache_control,
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
        if let Some(Staleness { since, age }) = stale {
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
        response.set_raw_header("Cache-Control", cache_control.header_value(cache_topology(request)));
        if matches!(cache_control, CacheControl::Revalidate(_) | CacheControl::Versioned) {
            let is_page = media_type.starts_with("text/html");
            let by_language = if is_page { ", Accept-Language" } else { "" };
            response.set_raw_header("Vary", format!("Accept, Accept-Encoding{by_language}"));
        }
        let Some(content) = content else {
            response.set_raw_header("Content-Type", media_type);
            return Ok(response);
        };
        let accepted = AcceptedEncodings::new(request.headers().get("Accept-Encoding"));
        let form = content.representation(accepted);
        if cache_control != CacheControl::NoStore {
            let matched = matching_encoding(request.headers().get("If-None-Match"), &content, accepted);
            response.set_raw_header("ETag", content.entity_tag(matched.unwrap_or(form.encoding)));
            if matched.is_some() {
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
        // Rocket copies a body in chunks, and each chunk has a cost. If the chunk size is one byte more than the body, there is
        // only one chunk. The chunk size belongs to the body, so it is set after the body.
        let limits = request.rocket().state().map_or_else(Limits::default, |config: &Config| config.limits);
        response.set_max_chunk_size((length + 1).min(limits.chunk()));
        Ok(response)
    }
}

/// Returns which caches are between the client and the service.
pub(crate) fn cache_topology(request: &Request<'_>) -> CacheTopology {
    let shared = request.rocket().state().and_then(|config: &Config| config.cache.shared());
    let has = |name| request.headers().get(name).any(|value| !value.trim().is_empty());
    match shared {
        None => CacheTopology::Unconfigured,
        Some(_) if has("Authorization") || has("X-Api-Key") => CacheTopology::SharedWithCredential,
        Some(shared) => CacheTopology::Shared(shared),
    }
}

/// Returns the encoding of the client's copy according to `If-None-Match` (RFC 9110 §13.1.2, weak comparison).
pub(super) fn matching_encoding<'a>(
    mut lists: impl Iterator<Item = &'a str>,
    content: &Content,
    accepted: AcceptedEncodings,
) -> Option<ContentEncoding> {
    lists.find_map(|list| {
        if list.trim() == "*" {
            return Some(content.representation(accepted).encoding);
        }
        // Splitting at commas is safe: a tag from another server may contain a comma, but no part of it equals a tag of Siaga.
        let mut tags = list.split(',').map(str::trim);
        tags.find_map(|tag| content.match_tag(tag.strip_prefix("W/").unwrap_or(tag), accepted))
    })
}

/// Computes the tag of content that never changes, and compresses the content. Uses a thread that serves no requests.
pub(crate) async fn precompress(
    media_type: impl Into<Cow<'static, str>>,
    bytes: Vec<u8>,
) -> Result<RenderedResponse, Problem> {
    let task = off_thread(move |_| {
        let content = Content::with_tag(bytes);
        content.compress_all();
        content
    });
    Ok(RenderedResponse::new(media_type, task.await.map_err(Problem::internal)?))
}
