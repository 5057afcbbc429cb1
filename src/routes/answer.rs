use std::io::Cursor;
use std::sync::Arc;

use chrono_tz::Tz;
use ring::digest::{SHA256, digest};
use rocket::http::Status;
use rocket::request::Request;
use rocket::response::{Responder, Response, Result as ResponseResult};
use rocket::tokio::task::spawn_blocking;
use serde::Serialize;

use crate::error::Problem;
use crate::formats::{Container, EncodeContext, Format};
use crate::images::KEEP_FOREVER;
use crate::model::{Clock, Layer};

const JSON: &str = "application/json";

/// The body of a successful answer and how long it may be kept.
#[derive(Clone, Debug)]
pub struct Answer {
    media_type: String,
    body: Vec<u8>,
    kept: Kept,
}

/// How long an answer may be kept, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// By nobody.
    Never,
    /// By anybody who asks before each reuse whether it still holds.
    UntilAsked,
    /// By anybody: it never changes.
    Long,
}

impl Kept {
    fn cache_control(self) -> &'static str {
        match self {
            Self::Never => "no-store",
            Self::UntilAsked => "public, no-cache, stale-if-error=3600",
            Self::Long => KEEP_FOREVER,
        }
    }
}

impl Answer {
    /// `{"statusCode":200,"result":…}`, to be revalidated before each reuse.
    ///
    /// # Errors
    ///
    /// When the result cannot be written as JSON.
    pub fn result<T: Serialize>(result: &T) -> Result<Self, Problem> {
        let mut body = ENVELOPE.0.to_vec();
        serde_json::to_writer(&mut body, result).map_err(Problem::internal)?;
        body.extend_from_slice(ENVELOPE.1);
        Ok(Self { media_type: JSON.to_owned(), body, kept: Kept::UntilAsked })
    }

    /// `{"statusCode":200,"result":…}`, not to be kept by anyone: an answer to somebody with a credential.
    ///
    /// # Errors
    ///
    /// When the result cannot be written as JSON.
    pub fn private_result<T: Serialize>(result: &T) -> Result<Self, Problem> {
        Ok(Self { kept: Kept::Never, ..Self::result(result)? })
    }

    /// A body that never changes.
    #[must_use]
    pub fn lasting(media_type: &str, body: Vec<u8>) -> Self {
        Self { media_type: media_type.to_owned(), body, kept: Kept::Long }
    }

    /// The bare value, not to be kept by anyone: the answer to a change.
    ///
    /// # Errors
    ///
    /// When the value cannot be written as JSON.
    pub fn bare<T: Serialize>(value: &T) -> Result<Self, Problem> {
        let body = serde_json::to_vec(value).map_err(Problem::internal)?;
        Ok(Self { media_type: JSON.to_owned(), body, kept: Kept::Never })
    }
}

/// What stands before and after the result of an answer in JSON.
const ENVELOPE: (&[u8], &[u8]) = (br#"{"statusCode":200,"result":"#, b"}");

impl<'r> Responder<'r, 'static> for Answer {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'static> {
        let mut response = Response::new();
        response.set_raw_header("Cache-Control", self.kept.cache_control());
        if self.kept != Kept::Never {
            let etag = etag(&self.body);
            response.set_raw_header("ETag", etag.clone());
            if self.kept == Kept::UntilAsked {
                response.set_raw_header("Vary", "Accept, Accept-Encoding");
            }
            if is_known(request, &etag) {
                response.set_status(Status::NotModified);
                return Ok(response);
            }
        }
        response.set_raw_header("Content-Type", self.media_type);
        // Rocket copies a body chunk by chunk, and the number of chunks is what costs.
        response.set_max_chunk_size((self.body.len() + 1).min(LARGEST_CHUNK));
        response.set_sized_body(self.body.len(), Cursor::new(self.body));
        Ok(response)
    }
}

/// How much of a body is copied at once, in bytes: what each slow reader may hold.
const LARGEST_CHUNK: usize = 1 << 20;

/// A strong entity tag (RFC 9110 §8.8.3): equal for equal bodies only.
fn etag(body: &[u8]) -> String {
    format!("\"{}\"", hex::encode(&digest(&SHA256, body).as_ref()[..16]))
}

/// Whether the client says it has the body already (RFC 9110 §13.1.2, weak comparison).
fn is_known(request: &Request<'_>, etag: &str) -> bool {
    request
        .headers()
        .get("If-None-Match")
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

/// Encodes layers into answers, off the threads that serve requests.
#[derive(Clone, Debug)]
pub struct Encoder {
    /// Where the time of a request comes from.
    pub clock: Arc<dyn Clock>,
    /// The zone of times written for people.
    pub time_zone: Tz,
    /// The public base address.
    pub base_url: Arc<str>,
}

impl Encoder {
    /// The layer in the format; in the JSON envelope where the format writes JSON.
    ///
    /// # Errors
    ///
    /// When the format cannot write the layer.
    pub async fn answer(&self, format: Arc<dyn Format>, layer: Layer) -> Result<Answer, Problem> {
        let now = self.clock.now();
        let context = EncodeContext {
            now: format.time_step().map_or(now, |step| now.floor(step)),
            time_zone: self.time_zone,
            base_url: Arc::clone(&self.base_url),
        };
        spawn_blocking(move || {
            let enveloped = format.container() == Container::JSON;
            let mut body = if enveloped { ENVELOPE.0.to_vec() } else { Vec::new() };
            format.encode(&layer, &context, &mut body)?;
            if enveloped {
                body.extend_from_slice(ENVELOPE.1);
            }
            Ok(Answer { media_type: format.media_type().to_owned(), body, kept: Kept::UntilAsked })
        })
        .await
        .map_err(Problem::internal)?
    }
}
