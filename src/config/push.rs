use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{ConfigError, Rate};

/// Messages to the phones of residents (Web Push).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Push {
    /// Lets residents subscribe to areas. **Default: `false`**
    pub(crate) enabled: bool,
    /// The hosts of push services to which messages are sent; `*.` stands for any subdomain. **Default: those of Chrome, Firefox, Edge and
    /// Safari**
    pub(crate) services: Vec<String>,
    /// The maximum number of subscriptions. **Default: `100000`**
    pub(crate) max: u32,
    /// First messages that an address may cause, per hour and server; further ones are rejected. `0` for no limit. **Default: `1000`**
    pub(crate) per_address: Rate,
    /// Allows services with addresses that are not globally reachable, `http` and ports. **Default: `false`**
    pub(crate) private: bool,
}

impl Default for Push {
    fn default() -> Self {
        let services =
            ["fcm.googleapis.com", "*.push.services.mozilla.com", "*.notify.windows.com", "*.push.apple.com"];
        Self {
            enabled: false,
            services: services.map(str::to_owned).to_vec(),
            max: 100_000,
            per_address: Rate::new(NonZeroU32::new(1_000)),
            private: false,
        }
    }
}

impl Push {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let is_host = |host: &str| {
            let name = host.strip_prefix("*.").unwrap_or(host);
            name.contains('.') && url::Host::parse(name).is_ok_and(|host| host.to_string() == name)
        };
        match self.services.iter().find(|host| !is_host(host)) {
            Some(host) => {
                let reason = format!("{host:?} must be a host in lower case, such as \"*.push.apple.com\"");
                Err(ConfigError::new("siaga.push.services", reason))
            }
            None if self.services.len() > 20 => {
                Err(ConfigError::new("siaga.push.services", "must be at most 20 hosts"))
            }
            None => Ok(()),
        }
    }

    /// Returns the service of a host.
    pub(crate) fn service(&self, host: &str) -> Option<&str> {
        let matches = |service: &&String| match service.strip_prefix('*') {
            Some(domain) => host.len() > domain.len() && host.ends_with(domain),
            None => host == **service,
        };
        self.services.iter().find(matches).map(String::as_str)
    }
}
