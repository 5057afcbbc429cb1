use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::Query;
use crate::error::{Problem, Source};
use crate::model::FloodState;
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "minimum_state";

/// The query parameter `minimum_state`: 1 to 4, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumState(pub Option<FloodState>);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for MinimumState {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, minimum_state(Query::of(request)).map(Self))
    }
}

impl Part for MinimumState {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let states = json!({ "type": "integer", "enum": FloodState::ALL });
        let says = "Areas whose state is at least this one; without it those that have none as well.";
        operation.takes(Parameter::query(NAME, says, states));
    }
}

fn minimum_state(query: Query<'_>) -> Result<Option<FloodState>, Problem> {
    let Some(value) = query.get(NAME)? else { return Ok(None) };
    value.parse().map(Some).map_err(|error| Problem::invalid(Source::Query, NAME, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_code_or_absent() {
        for (text, expected) in [
            ("", None),
            ("minimum_state=", None),
            ("minimum_state=1", Some(FloodState::Unknown)),
            ("minimum_state=2", Some(FloodState::Minor)),
            ("minimum_state=3", Some(FloodState::Moderate)),
            ("minimum_state=4", Some(FloodState::Severe)),
        ] {
            assert_eq!(minimum_state(Query::new(text)).unwrap(), expected, "{text}");
        }
        for wrong in ["0", "5", "-1", "1.0", "one", "1%20", "%2B2", "02", "18446744073709551617"] {
            let text = format!("minimum_state={wrong}");
            assert!(minimum_state(Query::new(&text)).is_err(), "{wrong}");
        }
    }
}
