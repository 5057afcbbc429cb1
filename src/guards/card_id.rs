use std::convert::Infallible;

use rocket::request::FromParam;
use serde_json::json;

use crate::config::Config;
use crate::http::error::{Problem, Source};
use crate::model::CardId;
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::schema;

const NAME: &str = "cardId";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CardIdParam<'r>(&'r str);

impl CardIdParam<'_> {
    /// Returns the identifier, or a 400 if it is invalid or longer than `cards.max_id_length`.
    pub(crate) fn read(self, config: &Config) -> Result<CardId, Problem> {
        let id = config.cards.max_id_length.read(self.0);
        id.map_err(|error| Problem::invalid(Source::Params, NAME, error))
    }
}

impl<'r> FromParam<'r> for CardIdParam<'r> {
    type Error = Infallible;

    fn from_param(param: &'r str) -> Result<Self, Infallible> {
        Ok(Self(param))
    }
}

impl Part for CardIdParam<'_> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let schema = json!({
            "type": "string", "minLength": CardId::SHORTEST,
            "maxLength": interface.config.cards.max_id_length.get(),
            "pattern": schema::WITHOUT_CONTROLS, "examples": ["abcdefg"],
        });
        operation.parameter(Parameter::path(NAME, "The card.", schema));
        operation.error(404, "There is no such card.");
    }
}
