use std::time::Duration;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::{Value, json};

use super::QueryParameter;
use crate::changes::{Cursor, InvalidCursor};
use crate::config::Config;
use crate::http::error::Problem;
use crate::model::digits;
use crate::openapi::{Interface, Operation, Part};
use crate::schema;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SinceCursor(pub Option<Cursor>);

impl QueryParameter for SinceCursor {
    const NAME: &'static str = "since";
    const DESCRIPTION: &'static str = "The cursor of the last response; without it all states.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "string", "pattern": schema::CURSOR, "examples": ["1b2c3d4e5f607182.12.40.7.1"] })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        value.map(str::parse).transpose().map(Self).map_err(|error: InvalidCursor| error.to_string())
    }
}

/// `wait`: how long the response may wait for a change, in seconds. **Default: 0**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait(pub Duration);

impl Wait {
    const MAX_SECONDS: u64 = 30;
}

impl QueryParameter for Wait {
    const NAME: &'static str = "wait";
    const DESCRIPTION: &'static str = "How long to wait for a change, in seconds.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "integer", "minimum": 0, "maximum": Self::MAX_SECONDS, "default": 0 })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let seconds = value.map_or(Some(0), digits).filter(|seconds| *seconds <= Self::MAX_SECONDS);
        let rule = || format!("must be a whole number of seconds from 0 to {}", Self::MAX_SECONDS);
        seconds.map(|seconds| Self(Duration::from_secs(seconds))).ok_or_else(rule)
    }
}

/// The header `Last-Event-ID`, which browsers send when they reconnect; an invalid cursor counts as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastEventId(pub Option<Cursor>);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for LastEventId {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let last = request.headers().get_one("Last-Event-ID").and_then(|text| text.parse().ok());
        Outcome::Success(Self(last))
    }
}

impl Part for LastEventId {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}
