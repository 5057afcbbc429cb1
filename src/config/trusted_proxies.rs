use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Serialize};

/// The proxies whose headers are trusted for the client's address, the scheme and the request id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrustedProxies(Vec<Proxies>);

/// An address or a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Proxies(IpNet);

/// A text that is not a [`Proxies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an IP address or a range such as 10.0.0.0/8 or fd00::/8")]
pub struct InvalidProxies;

impl TrustedProxies {
    #[must_use]
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|proxies| proxies.0.contains(&address))
    }
}

impl TryFrom<String> for Proxies {
    type Error = InvalidProxies;

    fn try_from(text: String) -> Result<Self, InvalidProxies> {
        const MAPPED: u8 = 96;
        let range = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        let range = range.map_err(|_| InvalidProxies)?;
        // Store a range of IPv4-mapped IPv6 addresses as IPv4, because `contains` compares IPv4 addresses in that form.
        let mapped = match range {
            IpNet::V6(range) if range.prefix_len() >= MAPPED => {
                let address = range.addr().to_ipv4_mapped();
                address.and_then(|address| Ipv4Net::new(address, range.prefix_len() - MAPPED).ok())
            }
            _ => None,
        };
        Ok(Self(mapped.map_or(range, IpNet::V4)))
    }
}

impl From<Proxies> for String {
    fn from(proxies: Proxies) -> Self {
        proxies.0.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted(ranges: &[&str]) -> TrustedProxies {
        TrustedProxies(ranges.iter().map(|&range| Proxies::try_from(range.to_owned()).unwrap()).collect())
    }

    #[test]
    fn ipv4_addresses_match_in_either_notation() {
        let proxies = trusted(&["10.0.0.0/8", "192.0.2.1", "fd00::/8", "::ffff:198.51.100.0/120"]);
        for (address, expected) in [
            ("::ffff:10.1.2.3", true),
            ("192.0.2.2", false),
            ("fd12::1", true),
            ("fe80::1", false),
            ("198.51.100.7", true),
            ("198.51.101.7", false),
        ] {
            assert_eq!(proxies.contains(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in ["", "localhost", "10.0.0.0/33", "10.0.0", "10.0.0.1:80", "*", "10.0.0.0/8, ::1"] {
            assert_eq!(Proxies::try_from(text.to_owned()), Err(InvalidProxies), "{text:?}");
        }
    }
}
