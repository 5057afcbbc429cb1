use std::sync::Arc;

use rocket::{State, get};

use crate::described;
use crate::guards::{Admin, Caller, FormatChoice, QueryParam};
use crate::http::error::{Problem, Source};
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::resources::Areas;
use crate::stores::{LayerQuery, Store, places_with_cities};

/// Returns the routes of the resource, which `PetaBencana`'s clients ask for. What these call regions are cities.
pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_regions).summary("The boundaries of cities, for clients of PetaBencana"),
        described!(show_region).summary("The boundary of one city, for clients of PetaBencana"),
    ]
}

/// `GET /regions`: responds with the boundaries of all cities.
#[get("/regions")]
pub(super) async fn list_regions(
    _caller: Caller,
    choice: FormatChoice<Areas>,
    answers: ResponseCache,
) -> Result<ApiResponse, Problem> {
    answers.layer(LayerQuery::Cities(None), choice.format).await
}

/// `GET /regions/bounds`: responds with the boundary of one city.
#[get("/regions/bounds")]
pub(super) async fn show_region(
    _caller: Caller,
    admin: QueryParam<Admin>,
    choice: FormatChoice<Areas>,
    answers: ResponseCache,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let Admin(id) = admin.get();
    let places = places_with_cities(&***store).await?.value;
    if !places.city_outlines().iter().any(|city| city.id == id) {
        let ids: Vec<_> = places.city_outlines().iter().map(|city| city.id.as_str()).collect();
        let must = format!("must be one of [{}]", ids.join(", "));
        return Err(Problem::invalid(Source::Query, "admin", must));
    }
    answers.layer(LayerQuery::Cities(Some(id)), choice.format).await
}
