use rocket::request::FromParam;

use crate::error::{Problem, Source};
use crate::model::AreaId;

/// The part `:localAreaId` of a path. Take it as `Result<LocalAreaId, Problem>`, so that a wrong one is
/// answered 400 and not 404.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAreaId(pub AreaId);

impl<'r> FromParam<'r> for LocalAreaId {
    type Error = Problem;

    fn from_param(param: &'r str) -> Result<Self, Problem> {
        let invalid = |error| Problem::invalid(Source::Params, "localAreaId", error);
        param.parse().map(Self).map_err(invalid)
    }
}
