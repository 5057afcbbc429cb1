use rocket::request::FromParam;

use crate::error::{Problem, Source};
use crate::model::ReportKey;

/// The part `:id` of the path of a report. Take it as `Result<ReportKeyParam, Problem>`, so that a wrong one is
/// answered 400 and not 404.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportKeyParam(pub ReportKey);

impl<'r> FromParam<'r> for ReportKeyParam {
    type Error = Problem;

    fn from_param(param: &'r str) -> Result<Self, Problem> {
        param.parse().map(Self).map_err(|error| Problem::invalid(Source::Params, "id", error))
    }
}
