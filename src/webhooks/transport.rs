use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, redirect};

use super::payload_template::Request;
use super::resolver::{Lookup, ReachableResolver, SystemLookup, check_literal};
use super::retry::Outcome;
use crate::config::Method;
use crate::telemetry::causes;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(15);
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of a response body is read, so that the connection can be reused.
const MAX_BODY_READ: usize = 64 * 1024;

#[async_trait]
pub(crate) trait Transport: Send + Sync + 'static {
    async fn send(&self, request: Request) -> Outcome;
}

/// Creates a client. With `private`, it also connects by `http` and to addresses that are not globally reachable.
pub(crate) fn http_client(private: bool) -> Result<Arc<dyn Transport>, reqwest::Error> {
    pooled_client(private, 1)
}

/// Creates a client that keeps up to `connections` to each host for the next requests.
pub(crate) fn pooled_client(private: bool, connections: usize) -> Result<Arc<dyn Transport>, reqwest::Error> {
    Ok(Arc::new(HttpClient::new(private, connections, SystemLookup)?))
}

/// Sends requests by HTTP. Follows no redirects, and ignores proxy settings of the environment.
struct HttpClient {
    client: Client,
    private: bool,
}

impl HttpClient {
    fn new<L: Lookup>(private: bool, connections: usize, lookup: L) -> Result<Self, reqwest::Error> {
        // `reqwest` is built without a cryptography provider. An error means that one is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .timeout(TIMEOUT)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .https_only(!private)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(connections)
            .user_agent(concat!("Siaga/", env!("CARGO_PKG_VERSION")));
        let client = if private { client } else { client.dns_resolver(ReachableResolver(Arc::new(lookup))) };
        Ok(Self { client: client.build()?, private })
    }
}

#[async_trait]
impl Transport for HttpClient {
    async fn send(&self, Request { method, url, headers, body }: Request) -> Outcome {
        if let Some(reason) = check_literal(url.host()).filter(|_| !self.private) {
            return Outcome::Failed(reason);
        }
        let request = match method {
            Method::Post => self.client.post(url),
            Method::Put => self.client.put(url),
        };
        match request.headers(headers).body(body).send().await {
            Ok(response) => {
                let status = response.status().as_u16();
                let retry_after = retry_after(response.headers(), Utc::now());
                drain(response).await;
                Outcome::Response { status, retry_after }
            }
            // Removes the address, because it may contain a secret.
            Err(error) => Outcome::Failed(causes(&error.without_url())),
        }
    }
}

/// Reads the body up to a limit, so that the connection can be used again.
async fn drain(mut response: Response) {
    let mut read = 0;
    while let Ok(Some(chunk)) = response.chunk().await {
        read += chunk.len();
        if read > MAX_BODY_READ {
            return;
        }
    }
}

/// Parses `Retry-After`, which is a number of seconds or a date.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    let time_until_date =
        || DateTime::parse_from_rfc2822(text).ok()?.to_utc().signed_duration_since(now).to_std().ok();
    text.parse().ok().map(Duration::from_secs).or_else(time_until_date)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use reqwest::header::HeaderValue;
    use rocket::tokio::io::{AsyncReadExt, AsyncWriteExt};
    use rocket::tokio::net::TcpListener;
    use rocket::tokio::time::timeout;

    use super::*;

    /// A name that resolves to a public address first, then to this machine.
    struct Changing(Arc<AtomicUsize>);

    impl Lookup for Changing {
        async fn lookup(&self, _: String) -> io::Result<Vec<SocketAddr>> {
            let both = ["192.0.2.1:0", "127.0.0.1:0"];
            let turn = self.0.fetch_add(1, Ordering::SeqCst);
            Ok(vec![if turn == 0 { "1.1.1.1:0" } else { both[turn % 2] }.parse().unwrap()])
        }
    }

    fn to(url: &str) -> Request {
        let (url, headers) = (url.parse().unwrap(), HeaderMap::new());
        Request { method: Method::Post, url, headers, body: b"{}".to_vec() }
    }

    #[rocket::async_test]
    async fn never_connects_to_an_address_that_is_not_globally_reachable() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let turns = Arc::new(AtomicUsize::new(1));
        let client = HttpClient::new(false, 1, Changing(Arc::clone(&turns))).unwrap();
        for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "a.example"] {
            let outcome = client.send(to(&format!("https://{host}:{port}/"))).await;
            let Outcome::Failed(reason) = outcome else { panic!("{host}: {outcome:?}") };
            assert!(reason.contains("not globally reachable"), "{host}: {reason}");
        }
        assert_eq!(turns.load(Ordering::SeqCst), 2, "a name is resolved once for each connection");
        let waiting = timeout(Duration::from_millis(200), listener.accept()).await;
        assert!(waiting.is_err(), "there was a connection");
        let plain = client.send(to(&format!("http://a.example:{port}/"))).await;
        assert!(matches!(plain, Outcome::Failed(_)), "{plain:?}");
    }

    #[rocket::async_test]
    async fn each_connection_uses_the_addresses_of_one_lookup() {
        let turns = Arc::new(AtomicUsize::new(0));
        let checked = ReachableResolver(Arc::new(Changing(Arc::clone(&turns))));
        let name = || "a.example".parse().unwrap();
        let first = reqwest::dns::Resolve::resolve(&checked, name()).await.unwrap();
        assert_eq!(first.map(|address| address.ip().to_string()).collect::<Vec<_>>(), ["1.1.1.1"]);
        assert!(reqwest::dns::Resolve::resolve(&checked, name()).await.is_err(), "it has changed");
    }

    #[rocket::async_test]
    async fn a_private_webhook_may_use_http_and_this_machine() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answering = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"{}") {
                assert!(stream.read_buf(&mut request).await.unwrap() > 0);
            }
            let text = b"HTTP/1.1 302 Found\r\nLocation: /x\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(text).await.unwrap();
            stream
        };
        let client = HttpClient::new(true, 1, SystemLookup).unwrap();
        let url = format!("http://{address}/");
        let (_stream, outcome) = rocket::tokio::join!(answering, client.send(to(&url)));
        let retry_after = Some(Duration::from_secs(7));
        assert_eq!(outcome, Outcome::Response { status: 302, retry_after }, "redirects are not followed");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = DateTime::parse_from_rfc3339("2026-11-23T10:00:00Z").unwrap().to_utc();
        for (text, seconds) in [
            ("120", Some(120)),
            ("Mon, 23 Nov 2026 10:00:30 GMT", Some(30)),
            ("Mon, 23 Nov 2026 09:00:30 GMT", None),
            ("soon", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]);
            assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
