use std::num::NonZeroU16;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BaseUrl, ConfigError};
use crate::model::Number;
use crate::model::duration;

/// What leads clients to HTTPS. Certificate and key are Rocket's own `tls.certs` and `tls.key`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Https {
    /// A port on which every request is sent on to the scheme and host of `base_url`, which is `https`. **Default: none**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_from: Option<Port>,
    /// For how long browsers shall use nothing but HTTPS for this host, which they are told when they do. **Default: they
    /// are told nothing**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hsts: Option<MaxAge>,
}

impl Https {
    /// Checks that there is something to be sent on to.
    pub(super) fn check(&self, base_url: &BaseUrl) -> Result<(), ConfigError> {
        if self.redirect_from.is_some() && !base_url.is_https() {
            let reason = "needs a siaga.base_url that begins with https://";
            return Err(ConfigError::new("siaga.https.redirect_from", reason));
        }
        Ok(())
    }
}

/// A port to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number")]
pub struct Port(NonZeroU16);

/// A number that is no [`Port`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a port from 1 to 65535")]
pub struct InvalidPort;

impl Port {
    /// The number.
    #[must_use]
    pub fn get(self) -> u16 {
        self.0.get()
    }
}

impl TryFrom<Number> for Port {
    type Error = InvalidPort;

    fn try_from(number: Number) -> Result<Self, InvalidPort> {
        let port = number.get().and_then(|number| NonZeroU16::new(number.try_into().ok()?));
        port.map(Self).ok_or(InvalidPort)
    }
}

/// How long something is to be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MaxAge(#[serde(with = "duration")] pub Duration);
