use rocket::request::FromParam;
use serde_json::json;

use crate::error::{Problem, Source};
use crate::model::ReportKey;
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "id";

/// The part `:id` of the path of a report. Take it as `Result<ReportKeyParam, Problem>`, so that a wrong one is
/// answered 400 with what it must be, and not 422 without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportKeyParam(pub ReportKey);

impl<'r> FromParam<'r> for ReportKeyParam {
    type Error = Problem;

    fn from_param(param: &'r str) -> Result<Self, Problem> {
        param.parse().map(Self).map_err(|error| Problem::invalid(Source::Params, NAME, error))
    }
}

impl Part for ReportKeyParam {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let schema = json!({ "type": "integer", "minimum": 1, "maximum": ReportKey::MAX, "examples": [1] });
        operation.takes(Parameter::path(NAME, "The report.", schema));
        operation.refuses(404, "There is no such report.");
    }
}
