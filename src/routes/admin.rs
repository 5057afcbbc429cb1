use rocket::{State, get};

use super::{Answer, Answers};
use crate::error::Problem;
use crate::guards::{Boundaries, Caller, FormatChoice, Select};
use crate::stores::LayerQuery;

/// `GET /admin`: the boundaries of all provinces, or of one.
#[get("/admin")]
pub(super) async fn list_boundaries(
    _caller: Caller,
    select: Select<Boundaries>,
    choice: FormatChoice<Boundaries>,
    answers: &State<Answers>,
) -> Result<Answer, Problem> {
    answers.layer(LayerQuery::Boundaries(select.areas.region), choice.format).await
}
