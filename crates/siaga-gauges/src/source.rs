//! Fetches the documents of a feed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, redirect};
use tokio::fs;
use url::Url;

use super::collector::Collector;
use super::formats;

/// The largest response or file, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The most pages of a response.
const MAX_PAGES: usize = 100;
/// The extensions of the files that are read from a folder.
const EXTENSIONS: [&str; 5] = ["csv", "geojson", "json", "txt", "xml"];

/// Why a feed or Siaga cannot be used at the moment.
pub(crate) struct Failure {
    pub(crate) reason: String,
    /// The time that the server asks to wait.
    pub(crate) retry_after: Option<Duration>,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { reason, retry_after: None }
    }
}

impl From<reqwest::Error> for Failure {
    /// Leaves out the address, because it can contain a key, and adds the causes.
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        causes.map(ToString::to_string).collect::<Vec<_>>().join(": ").into()
    }
}

/// Creates a client that follows no redirects, so that no other host gets a key, and ignores proxy settings of the environment.
pub(crate) fn client(timeout: Duration) -> Result<Client, String> {
    // `reqwest` is built without a cryptography provider. An error means that one is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().timeout(timeout).redirect(redirect::Policy::none()).no_proxy();
    let client = client.user_agent(concat!("siaga-gauges/", env!("CARGO_PKG_VERSION"))).build();
    client.map_err(|error| Failure::from(error).reason)
}

/// Reads the documents of a feed.
pub(crate) async fn read(client: &Client, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let feed = collector.feed;
    if let Some(path) = &feed.file {
        return read_files(path, collector).await;
    }
    for first in feed.stations.iter().chain(&feed.address) {
        read_pages(client, first, collector).await?;
    }
    Ok(())
}

/// Reads the pages of an address. Follows links to the same host only.
async fn read_pages(client: &Client, first: &Url, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let mut url = first.clone();
    for _ in 0..MAX_PAGES {
        let mut response = client.get(url.clone()).send().await?;
        if !response.status().is_success() {
            let retry_after = retry_after(response.headers(), collector.now);
            return Err(Failure { reason: format!("the response is {}", response.status()), retry_after });
        }
        let document = read_body(&mut response).await?;
        let next = formats::read(&document, &collector.feed.name, collector)?;
        match next.and_then(|next| url.join(&next).ok()) {
            Some(next) if next.origin() == first.origin() && next != url => url = next,
            _ => return Ok(()),
        }
    }
    Err(format!("the response has more than {MAX_PAGES} pages: select fewer readings").into())
}

/// Reads a body up to a limit. Fails if it is larger.
pub(crate) async fn read_body(response: &mut Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BYTES {
            return Err(format!("it has more than {MAX_BYTES} bytes: select fewer readings").into());
        }
    }
    Ok(body)
}

/// Parses `Retry-After`, which is a number of seconds or a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    let until_date = || (DateTime::parse_from_rfc2822(text).ok()?.to_utc() - now).to_std().ok();
    text.parse().ok().map(Duration::from_secs).or_else(until_date)
}

/// Reads a file, or the files of a folder in the order of their names. Reads the others if one fails.
async fn read_files(path: &Path, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let files = files(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut failed = Vec::new();
    for file in &files {
        let origin = file.file_stem().unwrap_or_default().to_string_lossy();
        let document = read_file(file).await.map_err(|error| error.to_string());
        let read = document.and_then(|document| formats::read(&document, &origin, collector));
        failed.extend(read.err().map(|reason| format!("{}: {reason}", file.display())));
    }
    let Some(first) = failed.first() else { return Ok(()) };
    Err(format!("{} of {} files failed: {first}", failed.len(), files.len()).into())
}

fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let Ok(entries) = path.read_dir() else { return Ok(vec![path.to_owned()]) };
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| {
        file.extension().is_some_and(|found| EXTENSIONS.iter().any(|known| *found == **known))
    });
    files.sort_unstable();
    Ok(files)
}

/// Reads a file. Reads no pipe, because it could block for ever.
async fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path).await?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES as u64 {
        return Err(io::Error::other("it must be a file of at most 16 MiB"));
    }
    fs::read(path).await
}
