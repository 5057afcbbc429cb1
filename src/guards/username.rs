use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::Query;
use crate::error::{Problem, Source};

/// The query parameter `username`: the user a client says it acts for. Logged beside the credential's
/// subject, and believed by nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Username(pub Option<String>);

impl Username {
    /// The longest name taken, in characters.
    const LONGEST: usize = 255;
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Username {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, username(Query::of(request)).map(Self))
    }
}

fn username(query: Query<'_>) -> Result<Option<String>, Problem> {
    const NAME: &str = "username";
    let Some(value) = query.get(NAME)? else { return Ok(None) };
    if value.chars().count() > Username::LONGEST || value.contains(char::is_control) {
        let must = format!("must be at most {} characters without control characters", Username::LONGEST);
        return Err(Problem::invalid(Source::Query, NAME, must));
    }
    Ok(Some(value.into_owned()))
}
