//! Query parameters that need only their value and the configuration.

use std::time::Duration;

use serde_json::{Value, json};

use super::QueryParameter;
use super::parameter::one_of;
use crate::config::Config;
use crate::model::{
    self, DisasterType, FloodState, InfrastructureKind, InvalidTimestamp, Timestamp, digits, is_name,
};
use crate::schema;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BeforeTime(pub Option<Timestamp>);

impl QueryParameter for BeforeTime {
    const NAME: &'static str = "before";
    const DESCRIPTION: &'static str =
        "A time: only earlier changes are listed; a plus sign is encoded as %2B.";

    fn schema(_: &Config) -> Value {
        schema::date_time(Self::DESCRIPTION)
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        value.map(Timestamp::parse).transpose().map(Self).map_err(|error: InvalidTimestamp| error.to_string())
    }
}

/// `disaster`: one type of disaster, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disaster(pub Option<DisasterType>);

impl QueryParameter for Disaster {
    const NAME: &'static str = "disaster";
    const DESCRIPTION: &'static str = "One type of disaster.";

    fn schema(config: &Config) -> Value {
        json!({ "type": "string", "enum": config.disaster_types() })
    }

    fn parse(value: Option<&str>, config: &Config) -> Result<Self, String> {
        let disaster = value.map(|value| one_of(value, &config.disaster_types()).copied());
        disaster.transpose().map(Self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InfrastructureType(pub Option<InfrastructureKind>);

impl QueryParameter for InfrastructureType {
    const NAME: &'static str = "type";
    const DESCRIPTION: &'static str = "One kind; without it all.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "string", "enum": InfrastructureKind::ALL })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        value.map(|value| one_of(value, &InfrastructureKind::ALL).copied()).transpose().map(Self)
    }
}

/// `minimum_state`: 1 to 4, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumState(pub Option<FloodState>);

impl QueryParameter for MinimumState {
    const NAME: &'static str = "minimum_state";
    const DESCRIPTION: &'static str =
        "Areas whose state is at least this one; without it those that have none as well.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "integer", "enum": FloodState::ALL })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        value
            .map(str::parse)
            .transpose()
            .map(Self)
            .map_err(|error: model::InvalidFloodState| error.to_string())
    }
}

/// `timeperiod`: how long before now the period begins, in seconds. **Default: one hour**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimePeriod(pub Duration);

impl TimePeriod {
    const MAX_SECONDS: u64 = 604_800;
    /// The default.
    pub const DEFAULT: Duration = Duration::from_hours(1);
}

impl QueryParameter for TimePeriod {
    const NAME: &'static str = "timeperiod";
    const DESCRIPTION: &'static str = "How long before now the response begins, in seconds.";

    fn schema(_: &Config) -> Value {
        let default = Self::DEFAULT.as_secs();
        json!({ "type": "integer", "minimum": 1, "maximum": Self::MAX_SECONDS, "default": default })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let Some(value) = value else { return Ok(Self(Self::DEFAULT)) };
        let seconds = digits(value).filter(|seconds| (1..=Self::MAX_SECONDS).contains(seconds));
        let rule = || format!("must be a whole number of seconds from 1 to {}", Self::MAX_SECONDS);
        seconds.map(|seconds| Self(Duration::from_secs(seconds))).ok_or_else(rule)
    }
}

/// `quality`: `usable` readings, the default, or `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WithFailed(pub bool);

impl QueryParameter for WithFailed {
    const NAME: &'static str = "quality";
    const DESCRIPTION: &'static str =
        "Whether readings that failed a test (4) or have no value (9) are listed as well.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "string", "enum": ["usable", "all"], "default": "usable" })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let value = value.map(|value| one_of(value, &["usable", "all"])).transpose()?;
        Ok(Self(value == Some(&"all")))
    }
}

/// `silent`: whether gauges without a reading in the period are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WithSilent(pub bool);

impl QueryParameter for WithSilent {
    const NAME: &'static str = "silent";
    const DESCRIPTION: &'static str =
        "Whether gauges without a reading in the period are listed as well, with their last reading.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "boolean", "default": false })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        truth(value).map(Self)
    }
}

/// `latest`: whether only the newest reading of each gauge is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnlyLatest(pub bool);

impl QueryParameter for OnlyLatest {
    const NAME: &'static str = "latest";
    const DESCRIPTION: &'static str =
        "Whether only the newest reading of each gauge in the period is listed.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "boolean", "default": false })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        truth(value).map(Self)
    }
}

fn truth(value: Option<&str>) -> Result<bool, String> {
    let value = value.map(|value| one_of(value, &["true", "false"])).transpose()?;
    Ok(value == Some(&"true"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Training(pub bool);

impl QueryParameter for Training {
    const NAME: &'static str = "training";
    const DESCRIPTION: &'static str = "Whether reports made in trainings count as well.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "boolean", "default": false })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        truth(value).map(Self)
    }
}

/// `username`: the user for whom the client claims to act. Logged with flood states next to the credential's subject, but never
/// trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Username(pub Option<String>);

impl QueryParameter for Username {
    const NAME: &'static str = "username";
    const DESCRIPTION: &'static str = "The user the client acts for; it is logged.";

    fn schema(_: &Config) -> Value {
        schema::name(Self::DESCRIPTION, "@operator")
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        match value {
            Some(value) if !is_name(value) => Err(format!("must be {}", model::NAME)),
            value => Ok(Self(value.map(str::to_owned))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::Query;
    use crate::guards::parameter::read;
    use crate::http::error::Problem;

    fn parsed<P: QueryParameter>(query: &str) -> Result<P, Problem> {
        read(Query::new(query), &Config::default())
    }

    #[test]
    fn parameters_may_be_absent_and_have_a_minimum_and_a_maximum() {
        for (text, expected) in [
            ("minimum_state=", None),
            ("minimum_state=1", Some(FloodState::Unknown)),
            ("minimum_state=4", Some(FloodState::Severe)),
        ] {
            assert_eq!(parsed::<MinimumState>(text).unwrap().0, expected, "{text}");
        }
        for wrong in ["0", "5", "%2B2", "02", "18446744073709551617"] {
            assert!(parsed::<MinimumState>(&format!("minimum_state={wrong}")).is_err(), "{wrong}");
        }
        for (text, seconds) in [("timeperiod=", 3600), ("timeperiod=1", 1), ("timeperiod=604800", 604_800)] {
            assert_eq!(parsed::<TimePeriod>(text).unwrap().0.as_secs(), seconds, "{text}");
        }
        for wrong in ["0", "604801", "1.5", "%2B60", "99999999999999999999"] {
            assert!(parsed::<TimePeriod>(&format!("timeperiod={wrong}")).is_err(), "{wrong}");
        }
        assert_eq!(parsed::<Username>("username=").unwrap().0, None);
        let longest = "%C3%A9".repeat(255);
        assert!(parsed::<Username>(&format!("username={longest}")).is_ok(), "characters, not bytes");
        assert!(parsed::<Username>(&format!("username={longest}e")).is_err());
    }
}
