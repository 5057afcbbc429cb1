use std::net::IpAddr;
use std::sync::Arc;

use crate::auth::CredentialKind;

/// A client whose requests are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// The holder of a credential. Includes the kind, because a token can have the same name as a key.
    Credential(CredentialKind, Arc<str>),
    /// An IPv4 address.
    V4(u32),
    /// The first 64 bits of an IPv6 address: one customer can use every address in such a network.
    V6(u64),
    /// A /24 network of IPv4.
    V4Subnet(u32),
    /// An IPv6 network of up to 64 bits.
    V6Prefix {
        /// The bits of the prefix.
        bits: u64,
        /// The number of bits.
        length: u8,
    },
    /// A /16 network of IPv4, if its addresses are not counted individually.
    V4Network(u16),
    /// A /32 network of IPv6, if its /64 networks are not counted individually.
    V6Network(u32),
    /// All clients that are not counted individually or by network.
    Rest,
}

impl Client {
    /// Returns the network under which the client is counted if there are too many clients.
    pub(super) fn wider(&self) -> Self {
        match self {
            Self::V4(address) => Self::V4Network((address >> 16) as u16),
            Self::V6(network) => Self::V6Network((network >> 32) as u32),
            Self::V4Subnet(subnet) => Self::V4Network((subnet >> 8) as u16),
            Self::V6Prefix { bits, length } => Self::V6Network((bits << (64 - length) >> 32) as u32),
            Self::Credential(..) | Self::V4Network(_) | Self::V6Network(_) | Self::Rest => Self::Rest,
        }
    }

    /// Whether the client is counted individually even beyond the limits. Safe for credentials: only the operator creates them.
    pub(super) fn is_credential(&self) -> bool {
        matches!(self, Self::Credential(..))
    }
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_clients_are_networks_and_ipv4_clients_are_addresses() {
        let client = |text: &str| Client::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(client("2001:db8:1:2::1"), client("2001:db8:1:2:ffff::9"));
        assert_ne!(client("2001:db8:1:2::1"), client("2001:db8:1:3::1"));
        assert_eq!(client("192.0.2.1"), client("::ffff:192.0.2.1"));
        assert_ne!(client("192.0.2.1"), client("192.0.2.2"));
        assert_eq!(client("192.0.2.1").wider(), client("192.0.255.1").wider());
        assert_eq!(client("2001:db8:1:2::1").wider(), client("2001:db8:ffff::").wider());
        assert_eq!(client("192.0.2.1").wider().wider(), client("2001:db8::").wider().wider());
    }
}
