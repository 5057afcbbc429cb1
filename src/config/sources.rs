use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::{CoveredData, duration};

/// A data source that is expected to report regularly: `sources.<name>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct SourceSettings {
    /// Subject of the source's credentials: the name of an API key or the `sub` of a token.
    pub subject: String,
    /// Expected interval, from a second to 366 days.
    #[serde(with = "duration")]
    pub every: Duration,
    /// The data that the source provides. **Default: `floods`, `reports`, `gauges`**
    #[serde(default = "all_data")]
    pub covers: BTreeSet<CoveredData>,
}

#[cfg(test)]
impl SourceSettings {
    pub(crate) fn new(subject: impl Into<String>, every: Duration) -> Self {
        Self { subject: subject.into(), every, covers: all_data() }
    }
}

const MAX_NAME: usize = 64;
const MIN_INTERVAL: Duration = Duration::from_secs(1);
const MAX_INTERVAL: Duration = Duration::from_hours(366 * 24);

fn all_data() -> BTreeSet<CoveredData> {
    CoveredData::ALL.into()
}

pub(super) fn check(sources: &BTreeMap<String, SourceSettings>) -> Result<(), ConfigError> {
    for (name, source) in sources {
        let key = format!("siaga.sources.{name}");
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_part) {
            let rule = format!(
                "the name of a source must be 1 to {MAX_NAME} of the characters a to z, 0 to 9 and -"
            );
            return Err(ConfigError::new(&key, rule));
        }
        let invalid = |part: &str, rule: &str| Err(ConfigError::new(&format!("{key}.{part}"), rule));
        if source.subject.is_empty() {
            return invalid("subject", "must be the name of an API key or the sub of a token");
        }
        if !(MIN_INTERVAL..=MAX_INTERVAL).contains(&source.every) {
            return invalid("every", "must be a duration from 1s to 366d");
        }
        if source.covers.is_empty() {
            return invalid("covers", "must name at least one of [floods, reports, gauges]");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use figment::Figment;

    use super::*;
    use crate::config::Config;

    fn configured(name: &str, change: impl Fn(Figment) -> Figment) -> Result<Config, ConfigError> {
        let key = |part| format!("siaga.sources.{name}.{part}");
        let figment = Figment::new().merge((key("subject"), "desk")).merge((key("every"), "10m"));
        Config::extract(&change(figment))
    }

    #[test]
    fn errors_name_the_key_of_a_source() {
        for name in ["Desk", "desk_1", &"a".repeat(65)] {
            let error = configured(name, |figment| figment).unwrap_err().to_string();
            assert!(error.starts_with(&format!("siaga.sources.{name}: the name of a ")), "{error}");
        }
        assert!(configured(&"a".repeat(64), |figment| figment).is_ok());
        for (part, value) in [("every", "0"), ("every", "999ms"), ("every", "367d"), ("subject", "")] {
            let key = format!("siaga.sources.desk.{part}");
            let error = configured("desk", |figment| figment.merge((&key, value))).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{key}: must be")), "{error}");
        }
        let key = "siaga.sources.desk.covers";
        for (value, must) in [(&[][..], "must name at least one"), (&["alerts"], "must be one of [floods")] {
            let error = configured("desk", |figment| figment.merge((key, value))).unwrap_err().to_string();
            assert!(error.starts_with(key) && error.contains(must), "{error}");
        }
    }
}
