use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use url::{Host, Url};

/// The address of an identity provider: `https`, or `http` on a loopback address. Keeps the text as written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct SecureUrl {
    url: Url,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an address that begins with https://, without a user; on a loopback address http:// is allowed"
)]
pub(crate) struct InvalidSecureUrl;

impl SecureUrl {
    /// Returns the text as written, which is not normalised.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }
}

impl FromStr for SecureUrl {
    type Err = InvalidSecureUrl;

    fn from_str(text: &str) -> Result<Self, InvalidSecureUrl> {
        let url = Url::parse(text).map_err(|_| InvalidSecureUrl)?;
        let is_local = match url.host().ok_or(InvalidSecureUrl)? {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.to_canonical().is_loopback(),
        };
        let has_user = !url.username().is_empty() || url.password().is_some();
        let is_safe = url.scheme() == "https" || url.scheme() == "http" && is_local;
        if is_safe && !has_user { Ok(Self { url, text: text.to_owned() }) } else { Err(InvalidSecureUrl) }
    }
}

impl TryFrom<String> for SecureUrl {
    type Error = InvalidSecureUrl;

    fn try_from(text: String) -> Result<Self, InvalidSecureUrl> {
        text.parse()
    }
}

impl fmt::Display for SecureUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for SecureUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_loopback_addresses_are_valid() {
        for address in ["https://id.example/jwks.json", "http://127.0.0.1:9000/k", "http://localhost/k"] {
            assert!(address.parse::<SecureUrl>().is_ok(), "{address}");
        }
        for address in
            ["http://id.example/k", "http://10.0.0.1/k", "ftp://127.0.0.1/k", "https://a:b@id.example/k"]
        {
            assert!(address.parse::<SecureUrl>().is_err(), "{address}");
        }
    }
}
