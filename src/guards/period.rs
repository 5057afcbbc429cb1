use std::time::Duration;

use super::{Query, guard, managed};
use crate::config::Config;
use crate::http::error::{Problem, Source};
use crate::model::duration::format_duration;
use crate::model::{Period, Timestamp};
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::schema;

/// The query parameters `start` and `end`, both required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedPeriod(pub Period);

guard!(RequestedPeriod, |request| {
    managed::<Config>(request)
        .and_then(|config| read_period(Query::for_request(request), config.limits.max_period))
        .map(Self)
});

impl Part for RequestedPeriod {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let longest = format_duration(interface.config.limits.max_period);
        let end = format!("The last moment, not before `start` and at most {longest} after it.");
        for (name, description) in
            [("start", "The first moment; a plus sign is encoded as %2B."), ("end", &end)]
        {
            operation
                .parameter(Parameter::query(name, description, schema::date_time(description)).required());
        }
    }
}

fn read_period(query: Query<'_>, longest: Duration) -> Result<Period, Problem> {
    let (start, end) = (read_time(query, "start")?, read_time(query, "end")?);
    Period::new(start, end, longest).map_err(|error| Problem::invalid(Source::Query, "end", error))
}

fn read_time(query: Query<'_>, name: &str) -> Result<Timestamp, Problem> {
    Timestamp::parse(&query.require(name)?).map_err(|error| Problem::invalid(Source::Query, name, error))
}
