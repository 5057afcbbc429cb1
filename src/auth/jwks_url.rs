use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use reqwest::{Client, redirect};
use serde::{Deserialize, Serialize, Serializer};
use url::{Host, Url};

/// The maximum size of a set in bytes; a hundred keys are smaller.
const MAX_SIZE: usize = 64 * 1024;
const TIMEOUT: Duration = Duration::from_secs(5);

/// The address of a JSON Web Key Set: `https`, or `http` on a loopback address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct JwksUrl(Url);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an address that begins with https://, without a user; on a loopback address http:// is allowed"
)]
pub(crate) struct InvalidJwksUrl;

#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("the keys could not be fetched: {0}")]
    Failed(#[from] reqwest::Error),
    #[error("the keys could not be fetched: the response is {0}")]
    Status(reqwest::StatusCode),
    #[error("the keys could not be fetched: the response is larger than 64 KiB")]
    TooLarge,
}

impl JwksUrl {
    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Fetches the set without following redirects.
    pub(super) async fn fetch(&self) -> Result<Vec<u8>, FetchError> {
        // `reqwest` is built without a cryptography provider. An error means that one is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client =
            Client::builder().timeout(TIMEOUT).redirect(redirect::Policy::none()).no_proxy().build()?;
        let mut response = client.get(self.0.clone()).header("Accept", "application/json").send().await?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(FetchError::Status(response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_SIZE {
                return Err(FetchError::TooLarge);
            }
        }
        Ok(body)
    }
}

impl FromStr for JwksUrl {
    type Err = InvalidJwksUrl;

    fn from_str(text: &str) -> Result<Self, InvalidJwksUrl> {
        let url = Url::parse(text).map_err(|_| InvalidJwksUrl)?;
        let is_local = match url.host().ok_or(InvalidJwksUrl)? {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.to_canonical().is_loopback(),
        };
        let has_user = !url.username().is_empty() || url.password().is_some();
        let is_safe = url.scheme() == "https" || url.scheme() == "http" && is_local;
        if is_safe && !has_user { Ok(Self(url)) } else { Err(InvalidJwksUrl) }
    }
}

impl TryFrom<String> for JwksUrl {
    type Error = InvalidJwksUrl;

    fn try_from(text: String) -> Result<Self, InvalidJwksUrl> {
        text.parse()
    }
}

impl fmt::Display for JwksUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for JwksUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn only_https_and_loopback_addresses_are_valid() {
        for address in ["https://id.example/jwks.json", "http://127.0.0.1:9000/k", "http://localhost/k"] {
            assert!(address.parse::<JwksUrl>().is_ok(), "{address}");
        }
        for address in
            ["http://id.example/k", "http://10.0.0.1/k", "ftp://127.0.0.1/k", "https://a:b@id.example/k"]
        {
            assert!(address.parse::<JwksUrl>().is_err(), "{address}");
        }
    }

    fn serve(response: Vec<u8>) -> JwksUrl {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/jwks", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(&response);
        });
        address.parse().unwrap()
    }

    #[tokio::test]
    async fn large_sets_and_redirects_are_rejected() {
        let with = |body: &str| format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{body}").into_bytes();
        assert_eq!(serve(with("{}")).fetch().await.unwrap(), b"{}");
        let large = serve(with(&"x".repeat(10_000_000))).fetch().await;
        assert!(matches!(large, Err(FetchError::TooLarge)), "{large:?}");
        let moved =
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_vec();
        assert!(matches!(serve(moved).fetch().await, Err(FetchError::Status(_))));
        assert!(matches!(serve(Vec::new()).fetch().await, Err(FetchError::Failed(_))));
    }
}
