use rocket::get;

use crate::described;
use crate::guards::{AreaFilter, BboxParam, Caller, FormatChoice, InfrastructureType, PathParam, QueryParam};
use crate::http::error::Problem;
use crate::model::{BoundingBox, InfrastructureKind};
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::resources::Infrastructure;
use crate::stores::LayerQuery;

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_infrastructure).summary("Floodgates, pumps and waterways, or one kind of them"),
        described!(list_infrastructure_of_type).summary("One kind of infrastructure"),
    ]
}

#[get("/infrastructure")]
pub(super) async fn list_infrastructure(
    _caller: Caller,
    kind: QueryParam<InfrastructureType>,
    select: AreaFilter<Infrastructure>,
    within: QueryParam<BboxParam>,
    choice: FormatChoice<Infrastructure>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    list(kind.0, select, within.0, choice, &cache).await
}

#[get("/infrastructure/<kind>")]
pub(super) async fn list_infrastructure_of_type(
    _caller: Caller,
    kind: PathParam<InfrastructureKind>,
    select: AreaFilter<Infrastructure>,
    within: QueryParam<BboxParam>,
    choice: FormatChoice<Infrastructure>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    list(Some(kind.get()?), select, within.0, choice, &cache).await
}

async fn list(
    kind: Option<InfrastructureKind>,
    select: AreaFilter<Infrastructure>,
    within: Option<BoundingBox>,
    choice: FormatChoice<Infrastructure>,
    cache: &ResponseCache,
) -> Result<ApiResponse, Problem> {
    cache.layer_within(LayerQuery::Infrastructure(select.areas, kind), within, choice.format).await
}
