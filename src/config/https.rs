use std::num::NonZeroU16;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BaseUrl, ConfigError};
use crate::model::Number;
use crate::model::duration;

/// Redirects to HTTPS. Certificate and key are Rocket's own `tls.certs` and `tls.key`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Https {
    /// A port that redirects every request to the scheme and host of `base_url`, which must be `https`. **Default: none**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_from: Option<Port>,
    /// How long browsers must use only HTTPS for this host; sent in responses over HTTPS. **Default: not sent**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hsts: Option<MaxAge>,
}

impl Https {
    pub(super) fn check(&self, base_url: &BaseUrl) -> Result<(), ConfigError> {
        if self.redirect_from.is_some() && !base_url.is_https() {
            let reason = "needs a siaga.base_url that begins with https://";
            return Err(ConfigError::new("siaga.https.redirect_from", reason));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number")]
pub(crate) struct Port(NonZeroU16);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a port from 1 to 65535")]
pub(crate) struct InvalidPort;

impl Port {
    #[must_use]
    pub(crate) fn get(self) -> u16 {
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

/// Value of `max-age`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct MaxAge(#[serde(with = "duration")] pub Duration);
