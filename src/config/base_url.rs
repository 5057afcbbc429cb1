use std::fmt;

use rocket::http::uri::Absolute;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// The public base address of the service: `http` or `https`, a host, and the path of the interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BaseUrl {
    /// Without a trailing slash.
    text: String,
    /// Index in `text` at which the path starts.
    path: usize,
}

/// A text that is not a [`BaseUrl`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an address such as https://example.org/v1: http or https, a host, a path, and no query")]
pub struct InvalidBaseUrl;

impl BaseUrl {
    /// Returns the address, without a trailing slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the path, such as `/v1`; a single slash if the address has none.
    #[must_use]
    pub fn path(&self) -> &str {
        match &self.text[self.path..] {
            "" => "/",
            path => path,
        }
    }

    /// Returns scheme, host and port, without a slash: `https://example.org`.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.text[..self.path]
    }

    /// Returns the host, without the port.
    #[must_use]
    pub fn host(&self) -> &str {
        let authority = self.origin().split_once("://").map_or("", |(_, authority)| authority);
        // An IPv6 address has colons within brackets.
        match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => host,
            _ => authority,
        }
    }

    #[must_use]
    pub(crate) fn is_https(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// Whether only this machine can reach the address.
    #[must_use]
    pub(crate) fn is_local(&self) -> bool {
        match Url::parse(&self.text).ok().as_ref().and_then(Url::host) {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
            None => false,
        }
    }

    pub(super) fn local(port: u16) -> Self {
        let origin = format!("http://127.0.0.1:{port}");
        Self { path: origin.len(), text: format!("{origin}/v1") }
    }
}

impl Default for BaseUrl {
    fn default() -> Self {
        Self::local(rocket::Config::default().port)
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = InvalidBaseUrl;

    fn try_from(text: String) -> Result<Self, InvalidBaseUrl> {
        let text = text.trim_end_matches('/');
        let url = Absolute::parse(text).map_err(|_| InvalidBaseUrl)?;
        let web = url.scheme() == "http" || url.scheme() == "https";
        let host = url
            .authority()
            .is_some_and(|authority| !authority.host().is_empty() && authority.user_info().is_none());
        let path = url.path().as_str();
        let before_path = &text[..text.len() - path.len()];
        if !(web && host && (path.is_empty() || is_mountable(path)) && url.query().is_none())
            || before_path.ends_with(':')
        {
            return Err(InvalidBaseUrl);
        }
        Ok(Self { path: text.len() - path.len(), text: text.to_owned() })
    }
}

/// Whether a path without a trailing slash can be mounted: all characters are unreserved (RFC 3986 §2.3).
pub(super) fn is_mountable(path: &str) -> bool {
    let is_plain = |segment: &str| {
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        !segment.is_empty() && segment != "." && segment != ".." && segment.bytes().all(unreserved)
    };
    path.starts_with('/') && path.split('/').skip(1).all(is_plain)
}

impl From<BaseUrl> for String {
    fn from(url: BaseUrl) -> Self {
        url.text
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_is_mounted_at_the_path_of_the_base_address() {
        for (text, address, path) in [
            ("https://data.example.org/v1", "https://data.example.org/v1", "/v1"),
            ("https://data.example.org/v1/", "https://data.example.org/v1", "/v1"),
            ("http://[::1]:8000/api/v1", "http://[::1]:8000/api/v1", "/api/v1"),
            ("http://localhost/", "http://localhost", "/"),
        ] {
            let url = BaseUrl::try_from(text.to_owned()).unwrap();
            assert_eq!((url.as_str(), url.path()), (address, path), "{text}");
        }
    }

    #[test]
    fn only_a_web_address_with_a_host_is_accepted() {
        for text in [
            "localhost:8000/v1",
            "ftp://host/v1",
            "http:///v1",
            "http://host/v1?a=b",
            "http://host//v1",
            "http://u:p@host/v1",
            "http://host:/v1",
        ] {
            assert_eq!(BaseUrl::try_from(text.to_owned()), Err(InvalidBaseUrl), "{text:?}");
        }
    }

    #[test]
    fn loopback_addresses_are_local_and_the_origin_excludes_the_path() {
        for (text, origin, https, local) in [
            ("https://data.example.org/v1", "https://data.example.org", true, false),
            ("http://127.0.0.2:8000/v1", "http://127.0.0.2:8000", false, true),
            ("http://[::1]:8000/v1", "http://[::1]:8000", false, true),
            ("https://localhost", "https://localhost", true, true),
            ("http://192.0.2.1/v1", "http://192.0.2.1", false, false),
        ] {
            let url = BaseUrl::try_from(text.to_owned()).unwrap();
            assert_eq!((url.origin(), url.is_https(), url.is_local()), (origin, https, local), "{text}");
        }
    }
}
