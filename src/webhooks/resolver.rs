//! Allows webhooks to connect only to globally reachable addresses (IANA's registries of special-purpose addresses).

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rocket::tokio::net::lookup_host;

/// IPv4 networks that are not globally reachable: address and prefix length.
const NON_GLOBAL_V4: [([u8; 4], u32); 15] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Non-global IPv6 networks in `2000::/3`. Includes all protocol assignments (`2001::/23`), although some of them are global.
const NON_GLOBAL_V6: [([u16; 3], u32); 4] =
    [([0x2001, 0, 0], 23), ([0x2001, 0xdb8, 0], 32), ([0x2002, 0, 0], 16), ([0x3fff, 0, 0], 20)];

/// Prefix of addresses that a gateway translates to IPv4 (NAT64, RFC 6052).
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

/// Whether an address is globally reachable. If an IPv4 address is embedded in an IPv6 address, only the IPv4 address counts.
pub(super) fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(embedded_v4) => is_global_v4(embedded_v4),
            None => is_global_v6(address),
        },
    }
}

fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., high, low] = address.segments();
    let is_translated = address.segments()[..6] == NAT64;
    let v4 = || Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    address.to_ipv4_mapped().or_else(|| is_translated.then(v4))
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    let is_in = |&([a, b, c, d], length): &([u8; 4], u32)| {
        (address.to_bits() ^ Ipv4Addr::new(a, b, c, d).to_bits()) >> (32 - length) == 0
    };
    !NON_GLOBAL_V4.iter().any(is_in)
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    let is_in = |&([a, b, c], length): &([u16; 3], u32)| {
        (address.to_bits() ^ Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).to_bits()) >> (128 - length) == 0
    };
    address.segments()[0] >> 13 == 1 && !NON_GLOBAL_V6.iter().any(is_in)
}

pub(super) trait Lookup: Send + Sync + 'static {
    fn lookup(&self, name: String) -> impl Future<Output = std::io::Result<Vec<SocketAddr>>> + Send;
}

pub(super) struct SystemLookup;

impl Lookup for SystemLookup {
    async fn lookup(&self, name: String) -> std::io::Result<Vec<SocketAddr>> {
        Ok(lookup_host((name, 0)).await?.collect())
    }
}

/// Resolves the receiver's name for each connection, and fails unless all addresses are globally reachable. The connection uses
/// one of these addresses, so changing the name's addresses between check and connection (DNS rebinding) has no effect.
pub(super) struct ReachableResolver<L>(pub(super) Arc<L>);

#[derive(Debug, thiserror::Error)]
#[error(
    "{name} has an address that is not globally reachable ({address}); to send to receivers in your own network, set private = true"
)]
struct Unreachable {
    name: String,
    address: IpAddr,
}

impl<L: Lookup> Resolve for ReachableResolver<L> {
    fn resolve(&self, name: Name) -> Resolving {
        let lookup = Arc::clone(&self.0);
        let name = name.as_str().to_owned();
        Box::pin(async move {
            let addresses = lookup.lookup(name.clone()).await?;
            match addresses.iter().map(SocketAddr::ip).find(|address| !is_global(*address)) {
                Some(address) => Err(Box::new(Unreachable { name, address }) as Box<dyn Error + Send + Sync>),
                None => Ok(Box::new(addresses.into_iter()) as Addrs),
            }
        })
    }
}

/// Returns an error text if the host is an IP address that is not globally reachable. Such a host is never resolved.
pub(super) fn check_literal(host: Option<url::Host<&str>>) -> Option<String> {
    let address = match host? {
        url::Host::Domain(_) => return None,
        url::Host::Ipv4(address) => IpAddr::V4(address),
        url::Host::Ipv6(address) => IpAddr::V6(address),
    };
    (!is_global(address)).then(|| Unreachable { name: address.to_string(), address }.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_purpose_networks_are_rejected_from_first_to_last_address() {
        for (before, first, last, after) in [
            ("", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
            ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
            ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
            ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
            ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
            ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
            ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
            ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
            ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
            ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
            ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
            ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
            ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
            ("223.255.255.255", "224.0.0.0", "255.255.255.255", ""),
            ("", "::", "64:ff9b::10.0.0.1", "64:ff9b::8.8.8.8"),
            ("::ffff:8.8.8.8", "::ffff:127.0.0.1", "1fff::", "2000::"),
            ("2000:ffff::", "2001::", "2001:1ff::", "2001:200::"),
            ("2001:db7::", "2001:db8::", "2001:db8:ffff::", "2001:db9::"),
            ("2001:ffff::", "2002::", "2002:ffff::", "2003::"),
            ("3ffe::", "3fff::", "3fff:fff::", "3fff:1000::"),
            ("", "4000::", "ff02::1", ""),
        ] {
            for (address, expected) in [(before, true), (first, false), (last, false), (after, true)] {
                assert!(address.is_empty() || is_global(address.parse().unwrap()) == expected, "{address}");
            }
        }
    }
}
