use rocket::request::FromParam;
use serde_json::json;

use crate::error::{Problem, Source};
use crate::model::AreaId;
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "localAreaId";

/// The part `:localAreaId` of a path. Take it as `Result<LocalAreaId, Problem>`, so that a wrong one is
/// answered 400 with what it must be, and not 422 without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAreaId(pub AreaId);

impl<'r> FromParam<'r> for LocalAreaId {
    type Error = Problem;

    fn from_param(param: &'r str) -> Result<Self, Problem> {
        let invalid = |error| Problem::invalid(Source::Params, NAME, error);
        param.parse().map(Self).map_err(invalid)
    }
}

impl Part for LocalAreaId {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let schema = json!({ "type": "integer", "minimum": 0, "maximum": AreaId::MAX, "examples": [5] });
        operation.takes(Parameter::path(NAME, "The local area.", schema));
        operation.refuses(404, "There is no such area.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_number_in_a_path() {
        assert_eq!(LocalAreaId::from_param("5").unwrap().0.number(), 5);
        for wrong in ["", "x", "5.0", "-5", "0x5", "99999999999999999999"] {
            assert!(LocalAreaId::from_param(wrong).is_err(), "{wrong}");
        }
    }
}
