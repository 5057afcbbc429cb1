use serde::{Deserialize, Serialize};

use super::MessageKey;
use crate::model::{AreaId, Timestamp, digits};

/// The OID arc of Indonesia in the WMO register of alerting authorities.
const INDONESIA: &str = "urn:oid:2.49.0.1.360";

/// The purpose of alerts (CAP 1.2 §3.2.1, `status`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// Everybody concerned should act on the alerts.
    #[default]
    Actual,
    /// Only participants of an exercise should act on the alerts.
    Exercise,
    /// Nobody should act on the alerts: they test the delivery.
    Test,
}

impl Status {
    /// Returns its name in CAP.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Actual => "Actual",
            Self::Exercise => "Exercise",
            Self::Test => "Test",
        }
    }
}

/// The issuer of alerts. It makes the identifiers of its alerts globally unique.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issuer {
    prefix: String,
    separator: char,
    /// The purpose of the alerts.
    pub status: Status,
}

impl Issuer {
    /// Creates an issuer with its number among Indonesia's alerting authorities. Without a number, identifiers contain `host`.
    #[must_use]
    pub fn new(authority: Option<u32>, host: &str, status: Status) -> Self {
        let (prefix, separator) = match authority {
            Some(authority) => (format!("{INDONESIA}.{authority}."), '.'),
            None => (format!("{host}-"), '-'),
        };
        Self { prefix, separator, status }
    }

    /// Returns the CAP `identifier` of a message, without whitespace, commas, `<` or `&` (CAP 1.2 §3.2.1). Times before 1970
    /// count as the start of 1970.
    #[must_use]
    pub(crate) fn identifier(&self, area: AreaId, key: MessageKey) -> String {
        let Self { prefix, separator, .. } = self;
        let millis = key.run.to_utc().timestamp_millis().max(0);
        format!("{prefix}{area}{separator}{millis}{separator}{}", key.renewal)
    }

    /// Parses an identifier into the area and key of its message; `None` if the identifier is not from this issuer.
    #[must_use]
    pub fn parse(&self, identifier: &str) -> Option<(AreaId, MessageKey)> {
        let mut numbers = identifier.strip_prefix(self.prefix.as_str())?.split(self.separator).map(digits);
        let mut next = || numbers.next().flatten();
        let (area, millis, renewal) = (next()?, next()?, next()?);
        let run = Timestamp::from_millis(i64::try_from(millis).ok()?)?;
        let key = MessageKey { run, renewal: renewal.try_into().ok()? };
        let area = area.try_into().ok()?;
        // Rejects leading zeros: with them, a message would have more than one identifier.
        (self.identifier(area, key) == identifier).then_some((area, key))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn issuers() -> [Issuer; 2] {
        [None, Some(7)].map(|authority| Issuer::new(authority, "siaga.example.org", Status::Actual))
    }

    proptest! {
        #[test]
        fn an_identifier_names_one_message(area in 0..=AreaId::MAX, millis in 0..253_402_300_799_999i64, renewal: u32) {
            let area = area.try_into().unwrap();
            let key = MessageKey { run: Timestamp::from_millis(millis).unwrap(), renewal };
            for issuer in issuers() {
                prop_assert_eq!(issuer.parse(&issuer.identifier(area, key)), Some((area, key)));
            }
        }

        #[test]
        fn any_parsed_text_is_the_identifier_of_its_message(
            begin in "(siaga|other)[.]example[.]org-|urn:oid:2[.]49[.]0[.]1[.]360[.][78][.]",
            separator in "[.-]",
            (area, run, renewal) in ("0?[0-9]{1,20}", "-?[0-9]{1,14}", "[0-9]{1,11}(-1)?"),
        ) {
            let text = [begin + &area, run, renewal].join(&*separator);
            for issuer in issuers() {
                if let Some((area, key)) = issuer.parse(&text) {
                    prop_assert_eq!(issuer.identifier(area, key), text.as_str());
                }
            }
        }
    }

    #[test]
    fn an_identifier_begins_with_the_authority_or_else_with_the_host() {
        let key = MessageKey { run: Timestamp::from_millis(1_482_155_632_274).unwrap(), renewal: 2 };
        let identifiers = issuers().map(|issuer| issuer.identifier(5.try_into().unwrap(), key));
        let expected = ["siaga.example.org-5-1482155632274-2", "urn:oid:2.49.0.1.360.7.5.1482155632274.2"];
        assert_eq!(identifiers, expected);
    }
}
