use std::net::{IpAddr, SocketAddr};

use rocket::Request;

use crate::config::{Config, TrustedProxies};

/// The client and the scheme of a request.
///
/// Only header entries that a proxy of `quota.trusted_proxies` has written are used, because clients can forge headers.
/// `X-Forwarded-For` is read from its end, where the nearest proxy writes, up to the first address that is not a trusted proxy.
/// Parsing stops at an entry that is not an address. `X-Real-IP` is used if there is no `X-Forwarded-For`. `Forwarded` (RFC 7239)
/// is ignored, because proxies pass it on as the client sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestInfo {
    /// `None` without a connection, which happens only in programs that embed the service.
    pub(crate) client: Option<IpAddr>,
    pub(crate) scheme: Scheme,
    /// Whether the peer is a trusted proxy, so that its headers are trusted.
    pub(crate) by_proxy: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// HTTPS to the server itself or to a trusted proxy.
    Https,
    /// HTTP to a trusted proxy, according to the proxy's `X-Forwarded-Proto`.
    HttpToProxy,
    Http,
}

impl RequestInfo {
    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> &'r Self {
        request.local_cache(|| {
            let no_proxies = TrustedProxies::default();
            let trusted =
                request.rocket().state().map_or(&no_proxies, |config: &Config| &config.quota.trusted_proxies);
            let peer = request.remote().map(|peer| peer.ip().to_canonical());
            let by_proxy = peer.is_some_and(|peer| trusted.contains(peer));
            let client =
                peer.map(|peer| if by_proxy { forwarded_client(peer, request, trusted) } else { peer });
            let forwarded_proto =
                by_proxy.then(|| header_entries(request, "X-Forwarded-Proto").pop()).flatten();
            let scheme = match forwarded_proto {
                Some(scheme) if scheme.eq_ignore_ascii_case("https") => Scheme::Https,
                Some(scheme) if scheme.eq_ignore_ascii_case("http") => Scheme::HttpToProxy,
                _ if request.rocket().config().tls_enabled() => Scheme::Https,
                _ => Scheme::Http,
            };
            Self { client, scheme, by_proxy }
        })
    }
}

fn forwarded_client(proxy: IpAddr, request: &Request<'_>, trusted: &TrustedProxies) -> IpAddr {
    let forwarded = header_entries(request, "X-Forwarded-For");
    if forwarded.is_empty() {
        let real = header_entries(request, "X-Real-IP");
        return match real[..] {
            [real] => parse_address(real).unwrap_or(proxy),
            _ => proxy,
        };
    }
    let mut last = proxy;
    for hop in forwarded.into_iter().rev() {
        let Some(hop) = parse_address(hop).filter(|_| trusted.contains(last)) else { break };
        last = hop;
    }
    last
}

/// Returns the entries of a list header, from one line or several (RFC 9110 §5.3).
fn header_entries<'r>(request: &'r Request<'_>, name: &str) -> Vec<&'r str> {
    request.headers().get(name).flat_map(|line| line.split(',')).map(str::trim).collect()
}

/// Parses an address as proxies write it: possibly with a port, possibly in brackets.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_proxies_are_parsed() {
        for (text, expected) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("::ffff:192.0.2.1", Some("192.0.2.1")),
            ("192.0.2.1:4711", Some("192.0.2.1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:4711", Some("2001:db8::1")),
            ("192.0.2.1, 192.0.2.2", None),
            ("192.0.2.256", None),
        ] {
            assert_eq!(parse_address(text), expected.map(|address| address.parse().unwrap()), "{text:?}");
        }
    }
}
