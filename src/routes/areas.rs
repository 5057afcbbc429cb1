use std::sync::Arc;

use rocket::{State, get};

use crate::described;
use crate::guards::{
    AreaIds, Caller, FormatChoice, KnownRevision, Latitude, Level, Longitude, Param, PathParam, Select,
    Within,
};
use crate::http::error::Problem;
use crate::model::{AreaId, Position};
use crate::openapi::Described;
use crate::rendering::{Answer, Answers};
use crate::schema::resources::{Areas, Floods};
use crate::stores::{AreaQuery, LayerQuery, Store, StoreError};

/// Returns the routes of the resource.
pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_areas).says("The outlines of areas, without their states"),
        described!(find_area)
            .says("The area in which a place lies, with its state")
            .refuses(404, "No area contains the place."),
        described!(show_local_area).says("One area with its state"),
    ]
}

/// `GET /areas`: responds with outlines. `Content-Location` is the address from which caches may reuse them for a day.
#[get("/areas")]
pub(super) async fn list_areas(
    _caller: Caller,
    select: Select<Areas>,
    level: Param<Level>,
    ids: Param<AreaIds>,
    within: Param<Within>,
    known: KnownRevision,
    choice: FormatChoice<Areas>,
    answers: Answers,
) -> Result<Answer, Problem> {
    let query = LayerQuery::Areas(AreaQuery { selector: select.areas, level: level.0, ids: ids.0.clone() });
    Ok(answers.layer_within(query, within.0, choice.format).await?.at_revision(&known))
}

/// `GET /areas/at`: responds with the area at a place.
#[get("/areas/at")]
pub(super) async fn find_area(
    _caller: Caller,
    lat: Param<Latitude>,
    lng: Param<Longitude>,
    choice: FormatChoice<Floods>,
    answers: Answers,
    store: &State<Arc<dyn Store>>,
) -> Result<Answer, Problem> {
    let places = store.places().await?.value;
    let place = Position::new(lng.0, lat.0);
    let area = place.and_then(|place| places.locator().locate(place).local_area_id);
    let missing = || StoreError::NotFound { what: format!("an area at {}, {}", lat.0, lng.0) };
    answers.layer(LayerQuery::Flood(area.ok_or_else(missing)?), choice.format).await
}

/// `GET /areas/:id`: responds with one area and its state.
#[get("/areas/<id>", rank = 1)]
pub(super) async fn show_local_area(
    _caller: Caller,
    id: PathParam<AreaId>,
    choice: FormatChoice<Floods>,
    answers: Answers,
) -> Result<Answer, Problem> {
    answers.layer(LayerQuery::Flood(id.get()?), choice.format).await
}
