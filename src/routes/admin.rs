use rocket::get;

use crate::described;
use crate::guards::{AreaFilter, Caller, FormatChoice};
use crate::http::error::Problem;
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::resources::Boundaries;
use crate::stores::LayerQuery;

pub(super) fn routes() -> Vec<Described> {
    vec![described!(list_boundaries).summary("The boundaries of provinces")]
}

#[get("/admin")]
pub(super) async fn list_boundaries(
    _caller: Caller,
    select: AreaFilter<Boundaries>,
    choice: FormatChoice<Boundaries>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    cache.layer(LayerQuery::Boundaries(select.areas.region), choice.format).await
}
