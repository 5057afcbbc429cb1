use std::sync::Arc;

use rocket::{State, get};

use crate::described;
use crate::guards::{Admin, Caller, FormatChoice, QueryParam};
use crate::http::error::{Problem, Source};
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::resources::Areas;
use crate::stores::{LayerQuery, Store, places_with_cities};

/// Routes for clients of `PetaBencana`, whose "regions" are cities.
pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_regions).summary("The boundaries of cities, for clients of PetaBencana"),
        described!(show_region).summary("The boundary of one city, for clients of PetaBencana"),
    ]
}

#[get("/regions")]
pub(super) async fn list_regions(
    _caller: Caller,
    choice: FormatChoice<Areas>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    cache.layer(LayerQuery::Cities(None), choice.format).await
}

#[get("/regions/bounds")]
pub(super) async fn show_region(
    _caller: Caller,
    admin: QueryParam<Admin>,
    choice: FormatChoice<Areas>,
    cache: ResponseCache,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let Admin(id) = admin.get();
    let places = places_with_cities(&***store).await?.value;
    if !places.city_outlines().iter().any(|city| city.id == id) {
        let ids: Vec<_> = places.city_outlines().iter().map(|city| city.id.as_str()).collect();
        let rule = format!("must be one of [{}]", ids.join(", "));
        return Err(Problem::invalid(Source::Query, "admin", rule));
    }
    cache.layer(LayerQuery::Cities(Some(id)), choice.format).await
}
