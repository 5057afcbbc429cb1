use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::Client;
use reqwest::header::HeaderValue;
use serde_json::Value;
use url::Url;

use super::collector::quote;
use super::source::{Failure, client, read_body, retry_after};

/// Sends readings to Siaga.
#[derive(Debug)]
pub(crate) struct SiagaClient {
    client: Client,
    address: String,
    key: HeaderValue,
}

impl SiagaClient {
    pub(crate) fn new(base: &Url, key: &str, timeout: Duration) -> Result<Self, String> {
        let address = format!("{}/floodgauges", base.as_str().trim_end_matches('/'));
        let header = HeaderValue::from_str(key.trim()).ok().filter(|header| !header.is_empty());
        let mut key = header.ok_or("siaga.key is no key: write the one that `siaga key create` printed")?;
        key.set_sensitive(true);
        Ok(Self { client: client(timeout)?, address, key })
    }

    /// Sends the body of a gauge. Returns Siaga's message if it rejects this body; other bodies may be accepted.
    pub(crate) async fn put(&self, body: &Value, now: DateTime<Utc>) -> Result<Option<String>, Failure> {
        let put = self.client.put(&self.address).header("X-Api-Key", self.key.clone());
        let mut response =
            put.header("Content-Type", "application/json").body(body.to_string()).send().await?;
        let (status, retry_after) = (response.status(), retry_after(response.headers(), now));
        // Reads also the body of a success, so that the connection can be used again.
        let body = read_body(&mut response).await.unwrap_or_default();
        if status.is_success() {
            return Ok(None);
        }
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let reason = format!("{status} {}", quote(problem["message"].as_str().unwrap_or_default()));
        let is_rejected = [400, 413, 422].contains(&status.as_u16());
        if is_rejected { Ok(Some(reason)) } else { Err(Failure { reason, retry_after }) }
    }
}
