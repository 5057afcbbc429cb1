use rocket::get;

use crate::described;
use crate::guards::{AreaFilter, Caller, FormatChoice};
use crate::http::error::Problem;
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::resources::Boundaries;
use crate::stores::LayerQuery;

/// Returns the routes of the resource.
pub(super) fn routes() -> Vec<Described> {
    vec![described!(list_boundaries).summary("The boundaries of provinces")]
}

/// `GET /admin`: responds with the boundaries of all provinces, or of one.
#[get("/admin")]
pub(super) async fn list_boundaries(
    _caller: Caller,
    select: AreaFilter<Boundaries>,
    choice: FormatChoice<Boundaries>,
    answers: ResponseCache,
) -> Result<ApiResponse, Problem> {
    answers.layer(LayerQuery::Boundaries(select.areas.region), choice.format).await
}
