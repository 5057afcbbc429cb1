use std::sync::Arc;

use rocket::{State, get};

use super::{Answer, Encoder};
use crate::error::Problem;
use crate::guards::{Boundaries, Caller, FormatChoice, Select};
use crate::model::Layer;
use crate::stores::Store;

/// `GET /admin`: the boundaries of all provinces, or of one.
#[get("/admin")]
pub(super) async fn list_boundaries(
    _caller: Caller,
    select: Select<Boundaries>,
    choice: FormatChoice<Boundaries>,
    store: &State<Arc<dyn Store>>,
    encoder: &State<Encoder>,
) -> Result<Answer, Problem> {
    let boundaries = store.boundaries(select.areas.region.as_deref()).await?;
    encoder.answer(choice.format, Layer::Boundaries(boundaries.value)).await
}
