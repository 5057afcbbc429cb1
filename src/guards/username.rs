use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::Query;
use crate::error::{Problem, Source};
use crate::model::{self, is_name};
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::schema;

const NAME: &str = "username";

/// The query parameter `username`: the user a client says it acts for. Logged beside the credential's
/// subject, and believed by nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Username(pub Option<String>);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Username {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, username(Query::of(request)).map(Self))
    }
}

impl Part for Username {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let says = "Whom the client acts for; it is logged.";
        operation.takes(Parameter::query(NAME, says, schema::name(says, "@operator")));
    }
}

fn username(query: Query<'_>) -> Result<Option<String>, Problem> {
    let Some(value) = query.get(NAME)? else { return Ok(None) };
    if !is_name(&value) {
        return Err(Problem::invalid(Source::Query, NAME, format!("must be {}", model::NAME)));
    }
    Ok(Some(value.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_short_text_or_absent() {
        for (text, expected) in
            [("", None), ("username=", None), ("username=Ibu+O%27Neil", Some("Ibu O'Neil"))]
        {
            assert_eq!(username(Query::new(text)).unwrap().as_deref(), expected, "{text}");
        }
        let longest = "%C3%A9".repeat(255);
        assert!(username(Query::new(&format!("username={longest}"))).is_ok(), "characters, not bytes");
        for wrong in [&format!("{longest}e"), "a%00b", "a%0D%0Ab", "%FF", "a&username=b"] {
            assert!(username(Query::new(&format!("username={wrong}"))).is_err(), "{wrong}");
        }
    }
}
