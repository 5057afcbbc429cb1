use rocket::request::FromParam;

use crate::error::{Problem, Source};
use crate::model::CardId;

/// The part `:cardId` of a path. Take it as `Result<CardIdParam, Problem>`, so that a wrong one is
/// answered 400 and not 404.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardIdParam(pub CardId);

impl<'r> FromParam<'r> for CardIdParam {
    type Error = Problem;

    fn from_param(param: &'r str) -> Result<Self, Problem> {
        param.parse().map(Self).map_err(|error| Problem::invalid(Source::Params, "cardId", error))
    }
}
