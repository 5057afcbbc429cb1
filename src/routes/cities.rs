use std::sync::Arc;

use rocket::{State, get};
use serde_json::json;

use crate::described;
use crate::guards::{Admin, Caller, FormatChoice, Latitude, LongParam, QueryParam};
use crate::http::error::{Problem, Source};
use crate::model::Position;
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::object;
use crate::schema::resources::Boundaries;
use crate::stores::{LayerQuery, Store};

/// Routes for clients of `PetaBencana`, whose "cities" are provinces.
pub(super) fn routes() -> Vec<Described> {
    let whether = json!({
        "pointInCity": { "type": "boolean", "description": "Whether the place lies in the province." },
        "cityName": { "type": "string", "description": "The name of the province." },
    });
    vec![
        described!(list_cities).summary("The boundaries of provinces, as `/admin`, for maps of PetaBencana"),
        described!(locate_in_city)
            .summary("Whether a place lies in a province, for maps of PetaBencana")
            .result(object(whether)),
    ]
}

#[get("/cities")]
pub(super) async fn list_cities(
    _caller: Caller,
    choice: FormatChoice<Boundaries>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    cache.layer(LayerQuery::Boundaries(None), choice.format).await
}

#[get("/cities/bounds")]
pub(super) async fn locate_in_city(
    _caller: Caller,
    admin: QueryParam<Admin>,
    lat: QueryParam<Latitude>,
    long: QueryParam<LongParam>,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let Admin(code) = admin.get();
    let places = store.places().await?.value;
    let province = places.regions().iter().find(|province| province.code == code).ok_or_else(|| {
        let codes: Vec<_> = places.regions().iter().map(|province| province.code.as_str()).collect();
        Problem::invalid(Source::Query, "admin", format!("must be one of [{}]", codes.join(", ")))
    })?;
    let is_inside = Position::new(long.0, lat.0).is_some_and(|place| province.contains(place));
    ApiResponse::private_result(&json!({ "pointInCity": is_inside, "cityName": province.name }))
}
