use rocket::get;

use crate::described;
use crate::guards::{Caller, FormatChoice, InfrastructureType, Param, PathParam, Select, Within};
use crate::http::error::Problem;
use crate::model::{BoundingBox, InfrastructureKind};
use crate::openapi::Described;
use crate::rendering::{Answer, Answers};
use crate::schema::resources::Infrastructure;
use crate::stores::LayerQuery;

/// Returns the routes of the resource.
pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_infrastructure).says("Floodgates, pumps and waterways, or one kind of them"),
        described!(list_infrastructure_of_type).says("One kind of infrastructure"),
    ]
}

/// `GET /infrastructure`: responds with floodgates, pumps and waterways, or with one kind of them.
#[get("/infrastructure")]
pub(super) async fn list_infrastructure(
    _caller: Caller,
    kind: Param<InfrastructureType>,
    select: Select<Infrastructure>,
    within: Param<Within>,
    choice: FormatChoice<Infrastructure>,
    answers: Answers,
) -> Result<Answer, Problem> {
    list(kind.0, select, within.0, choice, &answers).await
}

/// `GET /infrastructure/:type`: responds with one kind of infrastructure.
#[get("/infrastructure/<kind>")]
pub(super) async fn list_infrastructure_of_type(
    _caller: Caller,
    kind: PathParam<InfrastructureKind>,
    select: Select<Infrastructure>,
    within: Param<Within>,
    choice: FormatChoice<Infrastructure>,
    answers: Answers,
) -> Result<Answer, Problem> {
    list(Some(kind.get()?), select, within.0, choice, &answers).await
}

async fn list(
    kind: Option<InfrastructureKind>,
    select: Select<Infrastructure>,
    within: Option<BoundingBox>,
    choice: FormatChoice<Infrastructure>,
    answers: &Answers,
) -> Result<Answer, Problem> {
    answers.layer_within(LayerQuery::Infrastructure(select.areas, kind), within, choice.format).await
}
