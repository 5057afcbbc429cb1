use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::model::alerts::{Issuer, Status};
use crate::model::{FloodState, Number};

/// The CAP `severity` of a flood of unknown depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnknownAs {
    /// Unknown, like the depth. Google rejects such alerts.
    #[default]
    Unknown,
    /// `Minor`, the severity of 10 to 70 cm.
    Minor,
}

/// Settings of alerts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The number of the issuing authority for Indonesia in the WMO register, a part of all identifiers. **Default: none**:
    /// identifiers begin with the host of the base address
    #[serde(deserialize_with = "authority")]
    pub authority: Option<u32>,
    /// CAP `contact`: how to reach the agency. **Default: none**
    pub contact: Option<String>,
    /// The severity of a flood of unknown depth: `Unknown` or `Minor`. **Default: `Unknown`**
    pub unknown_as: UnknownAs,
}

fn authority<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let number = Option::<Number>::deserialize(deserializer)?;
    let read = |number: Number| number.get().ok_or_else(|| D::Error::custom("must be a whole number"));
    number.map(read).transpose()
}

impl Options {
    /// Returns the issuer of the alerts of a service at this host.
    #[must_use]
    pub fn issuer(&self, host: &str, status: Status) -> Issuer {
        Issuer::new(self.authority, host, status)
    }

    /// Checks the contact.
    ///
    /// # Errors
    ///
    /// Returns the wrong key in `siaga.alerts`, and what its value must be.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        match &self.contact {
            Some(contact) if contact.trim().is_empty() => Err(("contact", "must be a text, or absent")),
            _ => Ok(()),
        }
    }

    pub(super) fn severity(&self, state: FloodState) -> &'static str {
        match (state, self.unknown_as) {
            (FloodState::Unknown, UnknownAs::Minor) => FloodState::Minor.severity(),
            (state, _) => state.severity(),
        }
    }
}
