use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use super::Hazards;

/// The kind of disaster that a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum DisasterType {
    /// Flood.
    Flood,
    /// Earthquake.
    Earthquake,
    /// Fire.
    Fire,
    /// Haze.
    Haze,
    /// Extreme wind.
    Wind,
    /// Volcano.
    Volcano,
    /// Preparedness: something to repair before a disaster. Responses list such reports only on request.
    Prep,
    /// A type defined by the installation ([`Disasters::also`]).
    Other(OtherDisaster),
}

/// The name of a custom disaster type: 1 to 24 lower-case letters, digits, `_`, `-`. Inline, as [`DisasterType`] is `Copy`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtherDisaster {
    /// Padded with zeros, which no name contains.
    name: [u8; Self::LONGEST],
}

/// Error for a text that cannot be the name of a [`DisasterType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} lower-case letters, digits, _ and -", OtherDisaster::LONGEST)]
pub struct InvalidDisasterType;

/// The disaster types of an installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Disasters {
    /// Further types, for reports of a previous installation. **Default: none**
    pub also: Vec<DisasterType>,
}

impl Disasters {
    /// Returns all types: the types of the country, preparedness, then the configured types in their order.
    pub(crate) fn all(&self, hazards: &Hazards) -> Vec<DisasterType> {
        let mut all: Vec<_> = hazards.disasters().collect();
        for also in &self.also {
            if !all.contains(also) {
                all.push(*also);
            }
        }
        all
    }
}

impl DisasterType {
    /// The built-in types.
    pub const OWN: [Self; 7] =
        [Self::Flood, Self::Earthquake, Self::Fire, Self::Haze, Self::Wind, Self::Volcano, Self::Prep];

    /// Returns the name in requests and responses.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Flood => "flood",
            Self::Earthquake => "earthquake",
            Self::Fire => "fire",
            Self::Haze => "haze",
            Self::Wind => "wind",
            Self::Volcano => "volcano",
            Self::Prep => "prep",
            Self::Other(other) => other.name(),
        }
    }
}

impl OtherDisaster {
    const LONGEST: usize = 24;

    fn new(name: &str) -> Option<Self> {
        let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        let mut padded = [0; Self::LONGEST];
        padded.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        (!name.is_empty() && name.bytes().all(valid)).then_some(Self { name: padded })
    }

    fn name(&self) -> &str {
        let length = self.name.iter().position(|&byte| byte == 0).unwrap_or(Self::LONGEST);
        // Never the default, because `new` accepts only ASCII.
        str::from_utf8(&self.name[..length]).unwrap_or_default()
    }
}

impl fmt::Debug for OtherDisaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

impl AsRef<str> for DisasterType {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl fmt::Display for DisasterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for DisasterType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for DisasterType {
    type Err = InvalidDisasterType;

    /// Accepts any valid name, whether or not the installation has the type.
    fn from_str(name: &str) -> Result<Self, InvalidDisasterType> {
        let own = Self::OWN.into_iter().find(|known| known.name() == name);
        own.or_else(|| OtherDisaster::new(name).map(Self::Other)).ok_or(InvalidDisasterType)
    }
}

impl TryFrom<String> for DisasterType {
    type Error = InvalidDisasterType;

    fn try_from(name: String) -> Result<Self, InvalidDisasterType> {
        name.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_a_built_in_one_or_a_short_name() {
        for own in DisasterType::OWN {
            assert_eq!(own.name().parse(), Ok(own));
        }
        for other in ["typhoon", "t", "land_slide-2", &"a".repeat(24)] {
            let parsed: DisasterType = other.parse().unwrap();
            assert!(matches!(parsed, DisasterType::Other(_)), "{other}");
            assert_eq!(parsed.name(), other);
        }
        for wrong in ["", "Typhoon", "ty phoon", "ty\0phoon", "tyfón", &"a".repeat(25)] {
            assert_eq!(wrong.parse::<DisasterType>(), Err(InvalidDisasterType), "{wrong:?}");
        }
    }

    #[test]
    fn a_configured_type_that_is_built_in_is_listed_once() {
        let also = ["typhoon", "flood"].map(|name| name.parse().unwrap()).to_vec();
        let names: Vec<_> =
            Disasters { also }.all(&Hazards::default()).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["flood", "earthquake", "fire", "haze", "wind", "volcano", "prep", "typhoon"]);
    }
}
