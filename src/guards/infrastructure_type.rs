use rocket::Request;
use rocket::request::{FromParam, FromRequest, Outcome};
use serde_json::json;

use super::Query;
use crate::error::{Problem, Source};
use crate::model::InfrastructureKind;
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "type";

/// The query parameter `type`: one kind of infrastructure, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfrastructureType(pub Option<InfrastructureKind>);

/// The part `:type` of a path. Take it as `Result<InfrastructureTypeParam, Problem>`, so that a wrong one is
/// answered 400 with what it must be, and not 422 without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfrastructureTypeParam(pub InfrastructureKind);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for InfrastructureType {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let kind = Query::of(request).one_of(NAME, &InfrastructureKind::ALL);
        Problem::outcome(request, kind.map(|kind| Self(kind.copied())))
    }
}

impl Part for InfrastructureType {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let kinds = json!({ "type": "string", "enum": InfrastructureKind::ALL });
        operation.takes(Parameter::query(NAME, "One kind; without it all.", kinds));
    }
}

impl<'r> FromParam<'r> for InfrastructureTypeParam {
    type Error = Problem;

    fn from_param(param: &'r str) -> Result<Self, Problem> {
        param.parse().map(Self).map_err(|error| Problem::invalid(Source::Params, NAME, error))
    }
}

impl Part for InfrastructureTypeParam {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let kinds = json!({ "type": "string", "enum": InfrastructureKind::ALL });
        operation.takes(Parameter::path(NAME, "The kind.", kinds));
    }
}
