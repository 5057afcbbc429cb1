use rocket::get;

use crate::described;
use crate::guards::{Caller, FormatChoice, Select};
use crate::http::error::Problem;
use crate::openapi::Described;
use crate::rendering::{Answer, Answers};
use crate::schema::resources::Boundaries;
use crate::stores::LayerQuery;

/// Returns the routes of the resource.
pub(super) fn routes() -> Vec<Described> {
    vec![described!(list_boundaries).says("The boundaries of provinces")]
}

/// `GET /admin`: responds with the boundaries of all provinces, or of one.
#[get("/admin")]
pub(super) async fn list_boundaries(
    _caller: Caller,
    select: Select<Boundaries>,
    choice: FormatChoice<Boundaries>,
    answers: Answers,
) -> Result<Answer, Problem> {
    answers.layer(LayerQuery::Boundaries(select.areas.region), choice.format).await
}
