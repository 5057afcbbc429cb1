//! Query parameters for the log of all areas.

use serde_json::{Value, json};

use super::{PathParameter, QueryParameter};
use crate::config::Config;
use crate::model::{self, BatchNumber, InvalidBatchNumber, InvalidTimestamp, Timestamp, is_name};
use crate::schema;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogSince(pub(crate) Option<Timestamp>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogUntil(pub(crate) Option<Timestamp>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogAuthor(pub(crate) Option<String>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogBatch(pub(crate) Option<BatchNumber>);

impl QueryParameter for LogSince {
    const NAME: &'static str = "since";
    const DESCRIPTION: &'static str = "A time: only changes at it or later are listed.";

    fn schema(_: &Config) -> Value {
        schema::date_time(Self::DESCRIPTION)
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        parse_time(value).map(Self)
    }
}

impl QueryParameter for LogUntil {
    const NAME: &'static str = "until";
    const DESCRIPTION: &'static str = "A time: only changes at it or earlier are listed.";

    fn schema(_: &Config) -> Value {
        schema::date_time(Self::DESCRIPTION)
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        parse_time(value).map(Self)
    }
}

fn parse_time(value: Option<&str>) -> Result<Option<Timestamp>, String> {
    value.map(Timestamp::parse).transpose().map_err(|error: InvalidTimestamp| error.to_string())
}

impl QueryParameter for LogAuthor {
    const NAME: &'static str = "by";
    const DESCRIPTION: &'static str =
        "The author of the change: the subject of the credential, or the `username`.";

    fn schema(_: &Config) -> Value {
        schema::name(Self::DESCRIPTION, "bpbd")
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        match value {
            Some(value) if !is_name(value) => Err(format!("must be {}", model::NAME)),
            value => Ok(Self(value.map(str::to_owned))),
        }
    }
}

impl QueryParameter for LogBatch {
    const NAME: &'static str = "batch";
    const DESCRIPTION: &'static str = "The number of a batch; without it all changes.";

    fn schema(_: &Config) -> Value {
        <BatchNumber as PathParameter>::schema()
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        value.map(<BatchNumber as PathParameter>::parse).transpose().map(Self)
    }
}

impl PathParameter for BatchNumber {
    const NAME: &'static str = "batch";
    const DESCRIPTION: &'static str = "The batch.";
    const MISSING: Option<&'static str> = Some("There is no such batch.");

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": Self::MAX, "examples": [12] })
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: InvalidBatchNumber| error.to_string())
    }
}
