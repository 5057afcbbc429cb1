use std::net::{IpAddr, SocketAddr};

use rocket::Request;

use crate::config::{Config, TrustedProxies};

/// How a request arrived: from which client and by which scheme.
///
/// Any client can write anything into its headers. So headers count only as far as a proxy of `quota.trusted_proxies` has
/// written them. `X-Forwarded-For` is read from its end, where the nearest proxy writes, through trusted proxies to the first
/// address that is not one of them. Parsing stops at an entry that is not an address. `X-Real-IP` counts if there is no
/// `X-Forwarded-For`. `Forwarded` (RFC 7239) is ignored, because proxies pass it on as clients have written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestInfo {
    /// The address of the client; `None` if the request came without a connection, which happens only in programs that embed
    /// the service.
    pub(crate) client: Option<IpAddr>,
    /// The scheme by which the request came.
    pub(crate) scheme: Scheme,
    /// Whether it came from a trusted proxy, so that its headers count.
    pub(crate) by_proxy: bool,
}

/// The scheme by which a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// By HTTPS, to the server itself or to a trusted proxy.
    Https,
    /// By HTTP to a trusted proxy, which says so.
    HttpToProxy,
    /// By HTTP, or unknown.
    Http,
}

impl RequestInfo {
    /// Returns how this request arrived.
    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> &'r Self {
        request.local_cache(|| {
            let nobody = TrustedProxies::default();
            let trusted =
                request.rocket().state().map_or(&nobody, |config: &Config| &config.quota.trusted_proxies);
            let peer = request.remote().map(|peer| peer.ip().to_canonical());
            let by_proxy = peer.is_some_and(|peer| trusted.contains(peer));
            let client = peer.map(|peer| if by_proxy { behind(peer, request, trusted) } else { peer });
            let said = by_proxy.then(|| list(request, "X-Forwarded-Proto").pop()).flatten();
            let scheme = match said {
                Some(said) if said.eq_ignore_ascii_case("https") => Scheme::Https,
                Some(said) if said.eq_ignore_ascii_case("http") => Scheme::HttpToProxy,
                _ if request.rocket().config().tls_enabled() => Scheme::Https,
                _ => Scheme::Http,
            };
            Self { client, scheme, by_proxy }
        })
    }
}

/// Returns the client of a request that came from a trusted proxy.
fn behind(proxy: IpAddr, request: &Request<'_>, trusted: &TrustedProxies) -> IpAddr {
    let forwarded = list(request, "X-Forwarded-For");
    if forwarded.is_empty() {
        let real = list(request, "X-Real-IP");
        return match real[..] {
            [real] => address(real).unwrap_or(proxy),
            _ => proxy,
        };
    }
    let mut last = proxy;
    for hop in forwarded.into_iter().rev() {
        let Some(hop) = address(hop).filter(|_| trusted.contains(last)) else { break };
        last = hop;
    }
    last
}

/// Returns the entries of a header that is a list, whether sent in one line or in several (RFC 9110 §5.3).
fn list<'r>(request: &'r Request<'_>, name: &str) -> Vec<&'r str> {
    request.headers().get(name).flat_map(|line| line.split(',')).map(str::trim).collect()
}

/// Reads an address as proxies write it: possibly with a port, possibly in brackets.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_proxies_write_it() {
        for (text, expected) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("::ffff:192.0.2.1", Some("192.0.2.1")),
            ("192.0.2.1:4711", Some("192.0.2.1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:4711", Some("2001:db8::1")),
            ("192.0.2.1, 192.0.2.2", None),
            ("192.0.2.256", None),
        ] {
            assert_eq!(address(text), expected.map(|address| address.parse().unwrap()), "{text:?}");
        }
    }
}
