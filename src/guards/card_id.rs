use rocket::request::FromParam;
use serde_json::json;

use crate::error::{Problem, Source};
use crate::model::CardId;
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::schema;

const NAME: &str = "cardId";

/// The part `:cardId` of a path. Take it as `Result<CardIdParam, Problem>`, so that a wrong one is
/// answered 400 with what it must be, and not 422 without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardIdParam(pub CardId);

impl<'r> FromParam<'r> for CardIdParam {
    type Error = Problem;

    fn from_param(param: &'r str) -> Result<Self, Problem> {
        param.parse().map(Self).map_err(|error| Problem::invalid(Source::Params, NAME, error))
    }
}

impl Part for CardIdParam {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let schema = json!({
            "type": "string", "minLength": 7, "maxLength": 14,
            "pattern": schema::WITHOUT_CONTROLS, "examples": ["abcdefg"],
        });
        operation.takes(Parameter::path(NAME, "The card.", schema));
        operation.refuses(404, "There is no such card.");
    }
}
