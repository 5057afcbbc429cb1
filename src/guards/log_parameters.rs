//! What selects entries of the log of all areas.

use serde_json::{Value, json};

use super::{PathParameter, QueryParameter};
use crate::config::Config;
use crate::model::{self, BatchNumber, InvalidBatchNumber, InvalidTimestamp, Timestamp, is_name};
use crate::schema;

/// `since`: the earliest time of an entry, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogSince(pub(crate) Option<Timestamp>);

/// `until`: the latest time of an entry, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogUntil(pub(crate) Option<Timestamp>);

/// `by`: who made the change, or absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogAuthor(pub(crate) Option<String>);

/// `batch`: the number of a batch, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogBatch(pub(crate) Option<BatchNumber>);

impl QueryParameter for LogSince {
    const NAME: &'static str = "since";
    const SAYS: &'static str = "A time: only changes at it or later are listed.";

    fn schema(_: &Config) -> Value {
        schema::moment(Self::SAYS)
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        moment(value).map(Self)
    }
}

impl QueryParameter for LogUntil {
    const NAME: &'static str = "until";
    const SAYS: &'static str = "A time: only changes at it or earlier are listed.";

    fn schema(_: &Config) -> Value {
        schema::moment(Self::SAYS)
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        moment(value).map(Self)
    }
}

fn moment(value: Option<&str>) -> Result<Option<Timestamp>, String> {
    value.map(Timestamp::parse).transpose().map_err(|error: InvalidTimestamp| error.to_string())
}

impl QueryParameter for LogAuthor {
    const NAME: &'static str = "by";
    const SAYS: &'static str = "Who made the change: the subject of the credential, or the `username`.";

    fn schema(_: &Config) -> Value {
        schema::name(Self::SAYS, "bpbd")
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
    const SAYS: &'static str = "The number of a batch; without it all changes.";

    fn schema(_: &Config) -> Value {
        <BatchNumber as PathParameter>::schema()
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        value.map(<BatchNumber as PathParameter>::parse).transpose().map(Self)
    }
}

impl PathParameter for BatchNumber {
    const NAME: &'static str = "batch";
    const SAYS: &'static str = "The batch.";
    const MISSING: Option<&'static str> = Some("There is no such batch.");

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": Self::MAX, "examples": [12] })
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: InvalidBatchNumber| error.to_string())
    }
}
