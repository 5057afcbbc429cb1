use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Range;

use minijinja::context;
use minijinja::value::Serde;
use rocket::http::{Header, Status};
use rocket::request::Request;
use rocket::response::{Responder, Response, Result as ResponseResult};
use rocket::tokio::{self, io::AsyncReadExt};
use rocket::{State, get};
use serde_json::{Value, json};

use crate::archive::{Archive, Month, Package, Resource};
use crate::guards::{Caller, Language, WantsPage};
use crate::http::content::CacheControl;
use crate::http::error::Problem;
use crate::model::digits;
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::rendering::{ApiResponse, HTML, JSON, envelope};

const PAGE: PageTemplate = PageTemplate::new("archive.html", include_str!("archive.html"));

fn package_json(month: Option<Month>, package: &Package) -> Value {
    let month = month.map(|month| month.to_string());
    let folder = month.as_ref().map(|month| format!("{month}/")).unwrap_or_default();
    let files = package.resources.iter().map(|Resource { path, bytes, rows, hash, .. }| {
        json!({ "path": format!("/archive/{folder}{path}"), "bytes": bytes, "rows": rows, "hash": hash })
    });
    json!({ "month": month, "files": files.collect::<Vec<_>>() })
}

#[derive(rocket::Responder)]
pub(super) struct ArchiveList {
    response: ApiResponse,
    vary: Header<'static>,
}

#[get("/archive")]
pub(super) async fn list_archive(
    _caller: Caller,
    wants: WantsPage,
    language: Language,
    archive: &State<Option<Archive>>,
    layout: &State<Layout>,
) -> Result<ArchiveList, Problem> {
    let none = || Problem::not_found("an archive");
    let archive = archive.inner().as_ref().ok_or_else(none)?;
    let areas = archive.areas().await.ok_or_else(none)?;
    let months = archive.months().await?;
    let months = months.iter().rev().map(|(month, package)| package_json(Some(*month), package));
    let all: Vec<_> = std::iter::once(package_json(None, &areas)).chain(months).collect();
    let response = if wants.0 {
        let texts = language.translations();
        let values = context! { t => Serde(texts.group("archive")), all => Serde(all) };
        let context = PageContext { page: "developers", path: "/archive", keep: &[] };
        let page = layout.render(PAGE, texts, context, values).map_err(Problem::internal)?;
        ApiResponse::public(HTML, page.into_bytes())
    } else {
        ApiResponse::public(JSON, envelope::result(&all)?)
    };
    Ok(ArchiveList { response, vary: Header::new("Vary", "Accept, Accept-Encoding, Accept-Language") })
}

#[get("/archive/<month>/<file>")]
pub(super) async fn find_month_file(
    _caller: Caller,
    month: &str,
    file: &str,
    archive: &State<Option<Archive>>,
) -> Result<Download, Problem> {
    find(archive.inner().as_ref(), Some(month), file).await
}

#[get("/archive/<file>")]
pub(super) async fn find_archive_file(
    _caller: Caller,
    file: &str,
    archive: &State<Option<Archive>>,
) -> Result<Download, Problem> {
    find(archive.inner().as_ref(), None, file).await
}

async fn find(archive: Option<&Archive>, month: Option<&str>, name: &str) -> Result<Download, Problem> {
    let file = match archive {
        Some(archive) => archive.file(month, name).await?,
        None => None,
    };
    let missing = || {
        let path = month.map_or_else(|| name.to_owned(), |month| format!("{month}/{name}"));
        Problem::not_found(format_args!("the file {path:?} of the archive"))
    };
    let (file, resource) = file.ok_or_else(missing)?;
    Ok(Download { file, resource })
}

/// A file, sent in full or in part (`Range`).
pub(super) struct Download {
    file: File,
    resource: Resource,
}

impl<'r> Responder<'r, 'static> for Download {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'static> {
        let Self { mut file, resource: Resource { bytes, hash, mediatype, .. } } = self;
        let tag = format!("\"{}\"", hash.trim_start_matches("sha256:"));
        let header = |name| request.headers().get_one(name);
        let mut response = Response::build();
        response.raw_header("ETag", tag.clone());
        response.raw_header("Accept-Ranges", "bytes");
        response.raw_header("Cache-Control", CacheControl::NO_CACHE);
        let mut tags = header("If-None-Match").unwrap_or_default().split(',');
        if tags.any(|listed| listed.trim().trim_start_matches("W/") == tag) {
            return response.status(Status::NotModified).ok();
        }
        // Ignores a range of an older version, and sends the whole file (RFC 9110 §13.1.5).
        let is_same = header("If-Range").is_none_or(|validator| validator == tag);
        let range = header("Range").filter(|_| is_same).and_then(|range| parse_range(range, bytes));
        if range.as_ref().is_some_and(Range::is_empty) {
            response.raw_header("Content-Range", format!("bytes */{bytes}"));
            return response.status(Status::RangeNotSatisfiable).ok();
        }
        if let Some(Range { start, end }) = range {
            response.raw_header("Content-Range", format!("bytes {start}-{}/{bytes}", end - 1));
            response.status(Status::PartialContent);
        }
        let Range { start, end } = range.unwrap_or(0..bytes);
        file.seek(SeekFrom::Start(start)).map_err(|_| Status::InternalServerError)?;
        response.raw_header("Content-Type", mediatype);
        response.raw_header("Content-Length", (end - start).to_string());
        response.streamed_body(tokio::fs::File::from_std(file).take(end - start)).ok()
    }
}

/// Returns the bytes that a `Range` header selects (RFC 9110 §14.2): an empty range if the file ends before them, `None` (the
/// whole file) if the header is malformed or has several ranges.
fn parse_range(header: &str, bytes: u64) -> Option<Range<u64>> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
    match (first.trim(), last.trim()) {
        ("", last) => Some(bytes.saturating_sub(digits(last)?)..bytes),
        (first, "") => Some(digits(first)?..bytes),
        (first, last) => {
            let (first, last) = (digits(first)?, digits(last)?);
            (first <= last).then(|| first..last.saturating_add(1).min(bytes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed_as_in_rfc_9110() {
        for (header, expected) in [
            ("bytes=0-9", Some(0..10)),
            ("bytes=90-", Some(90..100)),
            ("bytes=90-200", Some(90..100)),
            ("bytes=90-18446744073709551615", Some(90..100)),
            ("bytes=-10", Some(90..100)),
            ("bytes=-1000", Some(0..100)),
            ("bytes=9-8", None),
            ("bytes=-", None),
            ("bytes=0-1,3-4", None),
            ("bytes=+1-2", None),
            ("rows=0-9", None),
        ] {
            assert_eq!(parse_range(header, 100), expected, "{header}");
        }
        for beyond in ["bytes=100-", "bytes=100-200", "bytes=-0"] {
            assert!(parse_range(beyond, 100).unwrap().is_empty(), "{beyond}");
        }
    }
}
