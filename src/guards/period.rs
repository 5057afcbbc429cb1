use std::time::Duration;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::{Query, managed};
use crate::config::Config;
use crate::error::{Problem, Source};
use crate::model::{InvalidPeriod, Period, Timestamp};

/// The query parameters `start` and `end`, both required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedPeriod(pub Period);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for RequestedPeriod {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let period = managed::<Config>(request)
            .and_then(|config| period(Query::of(request), config.limits.max_period));
        Problem::outcome(request, period.map(Self))
    }
}

fn period(query: Query<'_>, longest: Duration) -> Result<Period, Problem> {
    let (start, end) = (moment(query, "start")?, moment(query, "end")?);
    Period::new(start, end, longest).map_err(|error| invalid("end", error))
}

fn moment(query: Query<'_>, name: &str) -> Result<Timestamp, Problem> {
    Period::parse_moment(&query.require(name)?).map_err(|error| invalid(name, error))
}

fn invalid(name: &str, error: InvalidPeriod) -> Problem {
    Problem::invalid(Source::Query, name, error)
}
