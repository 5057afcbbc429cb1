use std::time::Duration;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::Query;
use crate::error::{Problem, Source};
use crate::model::digits;
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "timeperiod";

/// The query parameter `timeperiod`: how long back the answer reaches, in seconds. **Default: one hour**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimePeriod(pub Duration);

impl TimePeriod {
    /// The longest: one week.
    const LONGEST: u64 = 604_800;
    /// What it is unless given.
    pub const DEFAULT: Duration = Duration::from_hours(1);
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for TimePeriod {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, time_period(Query::of(request)).map(Self))
    }
}

impl Part for TimePeriod {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let (longest, default) = (Self::LONGEST, Self::DEFAULT.as_secs());
        let seconds = json!({ "type": "integer", "minimum": 1, "maximum": longest, "default": default });
        operation.takes(Parameter::query(NAME, "How long back the answer reaches, in seconds.", seconds));
    }
}

fn time_period(query: Query<'_>) -> Result<Duration, Problem> {
    let Some(value) = query.get(NAME)? else { return Ok(TimePeriod::DEFAULT) };
    let seconds = digits(&value).filter(|seconds| (1..=TimePeriod::LONGEST).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| {
        let must = format!("must be a whole number of seconds from 1 to {}", TimePeriod::LONGEST);
        Problem::invalid(Source::Query, NAME, must)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_number_of_seconds_up_to_a_week() {
        for (text, seconds) in
            [("", 3600), ("timeperiod=", 3600), ("timeperiod=1", 1), ("timeperiod=604800", 604_800)]
        {
            assert_eq!(time_period(Query::new(text)).unwrap().as_secs(), seconds, "{text}");
        }
        for wrong in ["0", "604801", "-1", "+1", "1.5", "1h", "hour", "%20", "99999999999999999999"] {
            let text = format!("timeperiod={wrong}");
            assert!(time_period(Query::new(&text)).is_err(), "{wrong}");
        }
    }
}
