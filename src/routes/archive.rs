use std::convert::Infallible;
use std::io::SeekFrom;
use std::path::PathBuf;

use minijinja::context;
use minijinja::value::Serde;
use rocket::http::{Header, Status};
use rocket::request::{FromRequest, Outcome, Request};
use rocket::response::{Responder, Response, Result as ResponseResult};
use rocket::tokio::fs::File;
use rocket::tokio::io::{AsyncReadExt, AsyncSeekExt, Take};
use rocket::{State, get};
use serde::Serialize;

use crate::archive::{Archive, ArchiveError, Package, Resource};
use crate::content::Kept;
use crate::error::Problem;
use crate::guards::{Caller, Language, WantsPage};
use crate::model::digits;
use crate::rendering::{Answer, HTML, JSON, envelope};
use crate::shell::{Here, PageTemplate, Shell};

const PAGE: PageTemplate = PageTemplate::new("archive.html", include_str!("archive.html"));

/// The files of a folder, as lists show them.
#[derive(Serialize)]
struct Listed {
    month: Option<String>,
    files: Vec<ListedFile>,
}

#[derive(Serialize)]
struct ListedFile {
    path: String,
    bytes: u64,
    rows: u64,
    hash: String,
}

impl Listed {
    fn of(month: Option<String>, package: &Package) -> Self {
        let folder = month.as_ref().map(|month| format!("{month}/")).unwrap_or_default();
        let files = package.resources.iter().map(|Resource { path, bytes, rows, hash, .. }| ListedFile {
            path: format!("/archive/{folder}{path}"),
            bytes: *bytes,
            rows: *rows,
            hash: hash.clone(),
        });
        Self { month, files: files.collect() }
    }
}

/// The list, which depends on the language that the client prefers.
#[derive(rocket::Responder)]
pub(super) struct List {
    answer: Answer,
    vary: Header<'static>,
}

/// `GET /archive`: responds with the files of the public archive, as a page or as JSON.
#[get("/archive")]
pub(super) async fn list_archive(
    _caller: Caller,
    wants: WantsPage,
    language: Language,
    archive: &State<Archive>,
    shell: &State<Shell>,
) -> Result<List, Problem> {
    let areas = archive.areas().await?.ok_or_else(|| Problem::not_found("an archive"))?;
    let months = archive.months().await?;
    let months = months.iter().rev().map(|(month, package)| Listed::of(Some(month.to_string()), package));
    let all: Vec<_> = std::iter::once(Listed::of(None, &areas)).chain(months).collect();
    let answer = if wants.0 {
        let texts = language.texts();
        let values = context! { t => Serde(texts.group("archive")), all => Serde(all) };
        let here = Here { page: "developers", path: "/archive", keep: &[] };
        let page = shell.render(PAGE, texts, here, values).map_err(Problem::internal)?;
        Answer::public(HTML, page.into_bytes())
    } else {
        Answer::public(JSON, envelope::result(&all)?)
    };
    Ok(List { answer, vary: Header::new("Vary", "Accept, Accept-Encoding, Accept-Language") })
}

/// `GET /archive/:month/:file`: responds with a file of a month, or a part of it.
#[get("/archive/<month>/<file>")]
pub(super) async fn find_month_file(
    _caller: Caller,
    month: &str,
    file: &str,
    wanted: WantedBytes,
    archive: &State<Archive>,
) -> Result<Bytes, Problem> {
    let name = format!("{month}/{file}");
    let Ok(month) = month.parse() else { return Err(missing(&name)) };
    Bytes::open(archive.file(Some(month), file).await?, &wanted, &name).await
}

/// `GET /archive/:file`: responds with a file beside the months, or a part of it.
#[get("/archive/<file>")]
pub(super) async fn find_archive_file(
    _caller: Caller,
    file: &str,
    wanted: WantedBytes,
    archive: &State<Archive>,
) -> Result<Bytes, Problem> {
    Bytes::open(archive.file(None, file).await?, &wanted, file).await
}

fn missing(file: &str) -> Problem {
    Problem::not_found(format_args!("the file {file:?} of the archive"))
}

/// The part of a file that the client wants (RFC 9110 §14.2), and its entity tag if the part is wanted of that file only (§13.1.5).
/// A range that is not understood, or more than one, gives the whole file.
pub(super) struct WantedBytes {
    range: Option<(Option<u64>, Option<u64>)>,
    of: Option<String>,
    /// The entity tags that the client has.
    known: Option<String>,
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for WantedBytes {
    type Error = Infallible;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Infallible> {
        let header = |name| request.headers().get_one(name);
        let range = header("Range").and_then(|range| {
            let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
            let number = |text: &str| if text.is_empty() { Some(None) } else { digits(text).map(Some) };
            Some((number(first.trim())?, number(last.trim())?))
        });
        let [of, known] = ["If-Range", "If-None-Match"].map(|name| header(name).map(str::to_owned));
        Outcome::Success(Self { range, of, known })
    }
}

impl WantedBytes {
    /// Returns the first byte and the number of bytes; `None` for the whole file.
    ///
    /// # Errors
    ///
    /// If the file ends before the range.
    fn within(&self, bytes: u64, tag: &str) -> Result<Option<(u64, u64)>, BeyondEnd> {
        if self.of.as_deref().is_some_and(|of| of != tag) {
            return Ok(None);
        }
        let (first, last) = match self.range {
            None | Some((None, None)) => return Ok(None),
            Some((None, Some(last))) => (bytes.saturating_sub(last), bytes.saturating_sub(1)),
            Some((Some(first), last)) => (first, last.unwrap_or(u64::MAX).min(bytes.saturating_sub(1))),
        };
        match self.range {
            Some((Some(first), Some(last))) if last < first => Ok(None),
            Some((None, Some(0))) => Err(BeyondEnd),
            _ if first >= bytes => Err(BeyondEnd),
            _ => Ok(Some((first, last - first + 1))),
        }
    }
}

/// The file ends before the range.
#[derive(Debug)]
struct BeyondEnd;

/// A file of the archive, or a part of it.
pub(super) struct Bytes {
    status: Status,
    file: Option<Take<File>>,
    length: u64,
    range: Option<String>,
    tag: String,
    media_type: String,
}

impl Bytes {
    async fn open(
        found: Option<(PathBuf, Resource)>,
        wanted: &WantedBytes,
        name: &str,
    ) -> Result<Self, Problem> {
        let (path, Resource { bytes, hash, mediatype, .. }) = found.ok_or_else(|| missing(name))?;
        let tag = format!("\"{}\"", hash.trim_start_matches("sha256:"));
        let known = wanted.known.as_deref().unwrap_or_default();
        let empty = |status, range| Self {
            status,
            file: None,
            length: 0,
            range,
            tag: tag.clone(),
            media_type: mediatype.clone(),
        };
        if known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag) {
            return Ok(empty(Status::NotModified, None));
        }
        let Ok(part) = wanted.within(bytes, &tag) else {
            return Ok(empty(Status::RangeNotSatisfiable, Some(format!("bytes */{bytes}"))));
        };
        // It may have been withdrawn since.
        let mut file = File::open(path).await.map_err(|_| missing(name))?;
        let (first, length) = part.unwrap_or((0, bytes));
        file.seek(SeekFrom::Start(first)).await.map_err(Problem::internal)?;
        let range = part.map(|_| format!("bytes {first}-{}/{bytes}", first + length - 1));
        let status = if part.is_some() { Status::PartialContent } else { Status::Ok };
        let file = Some(file.take(length));
        Ok(Self { status, file, length, range, tag, media_type: mediatype })
    }
}

impl<'r> Responder<'r, 'static> for Bytes {
    fn respond_to(self, _: &'r Request<'_>) -> ResponseResult<'static> {
        let mut response = Response::build();
        response.status(self.status);
        response.raw_header("ETag", self.tag);
        response.raw_header("Accept-Ranges", "bytes");
        response.raw_header("Cache-Control", Kept::ASKED);
        if let Some(range) = self.range {
            response.raw_header("Content-Range", range);
        }
        if let Some(file) = self.file {
            response.raw_header("Content-Type", self.media_type);
            response.raw_header("Content-Length", self.length.to_string());
            response.streamed_body(file);
        }
        response.ok()
    }
}

impl From<ArchiveError> for Problem {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Store(error) => error.into(),
            error => Self::internal(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_as_rfc_9110_has_it() {
        let within =
            |range| WantedBytes { range: Some(range), of: None, known: None }.within(100, "\"a\"").ok();
        assert_eq!(within((Some(0), Some(9))), Some(Some((0, 10))));
        assert_eq!(within((Some(90), None)), Some(Some((90, 10))));
        assert_eq!(within((Some(90), Some(200))), Some(Some((90, 10))));
        assert_eq!(within((None, Some(10))), Some(Some((90, 10))));
        assert_eq!(within((None, Some(1000))), Some(Some((0, 100))));
        assert_eq!(within((Some(9), Some(8))), Some(None), "it is no range");
        assert_eq!(within((Some(100), None)), None, "it is beyond the end");
        assert_eq!(within((None, Some(0))), None);
        let of_another =
            WantedBytes { range: Some((Some(0), Some(9))), of: Some("\"b\"".to_owned()), known: None };
        assert_eq!(of_another.within(100, "\"a\"").unwrap(), None);
    }
}
