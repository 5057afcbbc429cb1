use std::sync::Arc;

use rocket::{State, get};

use crate::described;
use crate::guards::{
    AreaFilter, AreaIds, BboxParam, Caller, FormatChoice, Latitude, Level, Longitude, PathParam, QueryParam,
    RevisionParam,
};
use crate::http::error::Problem;
use crate::model::{AreaId, Position};
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::resources::{Areas, Floods};
use crate::stores::{AreaQuery, LayerQuery, Store, StoreError};

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_areas).summary("The outlines of areas, without their states"),
        described!(find_area)
            .summary("The area in which a place lies, with its state")
            .error(404, "No area contains the place."),
        described!(show_local_area).summary("One area with its state"),
    ]
}

/// Responds with the outlines. `Content-Location` is the address from which caches may reuse them for a day.
#[get("/areas")]
pub(super) async fn list_areas(
    _caller: Caller,
    select: AreaFilter<Areas>,
    level: QueryParam<Level>,
    ids: QueryParam<AreaIds>,
    within: QueryParam<BboxParam>,
    known: RevisionParam,
    choice: FormatChoice<Areas>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let query = LayerQuery::Areas(AreaQuery { selector: select.areas, level: level.0, ids: ids.0.clone() });
    Ok(cache.layer_within(query, within.0, choice.format).await?.at_revision(&known))
}

#[get("/areas/at")]
pub(super) async fn find_area(
    _caller: Caller,
    lat: QueryParam<Latitude>,
    lng: QueryParam<Longitude>,
    choice: FormatChoice<Floods>,
    cache: ResponseCache,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let places = store.places().await?.value;
    let place = Position::new(lng.0, lat.0);
    let area = place.and_then(|place| places.locator().locate(place).local_area_id);
    let missing = || StoreError::NotFound { what: format!("an area at {}, {}", lat.0, lng.0) };
    cache.layer(LayerQuery::Flood(area.ok_or_else(missing)?), choice.format).await
}

#[get("/areas/<id>", rank = 1)]
pub(super) async fn show_local_area(
    _caller: Caller,
    id: PathParam<AreaId>,
    choice: FormatChoice<Floods>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    cache.layer(LayerQuery::Flood(id.get()?), choice.format).await
}
