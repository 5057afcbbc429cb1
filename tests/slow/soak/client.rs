//! A client that counts each response and remembers each failure.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::running::KEY;

/// Clones share the counts.
#[derive(Clone)]
pub(crate) struct Client(Arc<Inner>);

struct Inner {
    http: reqwest::Client,
    pub(crate) authority: String,
    database_away: AtomicBool,
    statuses: Mutex<BTreeMap<u16, u64>>,
    failures: Mutex<Vec<String>>,
}

/// A status and a body, JSON or null.
pub(crate) type Response = (u16, Value);

impl Client {
    pub(crate) fn new(authority: &str) -> Self {
        // The library comes without cryptography, which nothing here needs; an error means that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        Self(Arc::new(Inner {
            http,
            authority: authority.to_owned(),
            database_away: AtomicBool::new(false),
            statuses: Mutex::default(),
            failures: Mutex::default(),
        }))
    }

    pub(crate) fn authority(&self) -> &str {
        &self.0.authority
    }

    /// From now on 503 is a response to expect, or no longer.
    pub(crate) fn database_away(&self, away: bool) {
        self.0.database_away.store(away, Ordering::SeqCst);
    }

    fn is_database_away(&self) -> bool {
        self.0.database_away.load(Ordering::SeqCst)
    }

    pub(crate) fn request(&self, method: Method, target: &str) -> RequestBuilder {
        self.0.http.request(method, format!("http://{}{target}", self.0.authority))
    }

    /// Sends JSON with the key.
    pub(crate) async fn write(&self, method: Method, target: &str, body: &Value) -> Option<Response> {
        let request = self.request(method, target).header("X-Api-Key", KEY).body(body.to_string());
        self.send(target, request).await
    }

    /// Sends a request and reads the whole response; `None` when there was none.
    pub(crate) async fn send(&self, name: &str, request: RequestBuilder) -> Option<Response> {
        let away_before = self.is_database_away();
        let sent = async {
            let response = request.send().await?;
            let status = response.status().as_u16();
            Ok::<_, reqwest::Error>((status, response.bytes().await?))
        };
        let (status, body) = match sent.await {
            Ok(response) => response,
            Err(error) => {
                self.failed(format!("{name}: {error:?}"));
                return None;
            }
        };
        *self.0.statuses.lock().unwrap().entry(status).or_default() += 1;
        let expected = status < 400 || status == 503 && (away_before || self.is_database_away());
        if !expected {
            self.failed(format!(
                "{name}: {status} {}",
                String::from_utf8_lossy(&body[..body.len().min(300)])
            ));
        }
        Some((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    fn failed(&self, failure: String) {
        self.0.failures.lock().unwrap().push(failure);
    }

    /// Makes sure that the only failures were 503 while the database was away, and that there were such.
    pub(crate) fn assert_nothing_failed(&self) {
        let failures = self.0.failures.lock().unwrap();
        let first: Vec<_> = failures.iter().take(20).collect();
        assert!(failures.is_empty(), "{} failures, the first: {first:#?}", failures.len());
        let statuses = self.0.statuses.lock().unwrap();
        println!("responses by status: {statuses:?}");
        assert!(statuses.contains_key(&200) && statuses.contains_key(&503), "{statuses:?}");
    }
}
