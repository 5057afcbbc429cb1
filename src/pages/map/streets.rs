//! The search for streets, which the page asks if no other name matches.

use std::sync::Arc;

use rocket::tokio::time;
use rocket::{State, get};
use serde_json::{Value, json};

use crate::config::Config;
use crate::guards::{AreaFilter, Caller, QueryParam, QueryParameter};
use crate::http::error::Problem;
use crate::rendering::basemap::Basemap;
use crate::rendering::{ApiResponse, PermitPool, Renderer};
use crate::runtime::off_thread;
use crate::schema::resources;
use crate::stores::Store;

const MIN_LETTERS: usize = 3;
const MAX_LETTERS: usize = 60;

/// `q`: a part of the name of a street.
pub(in crate::pages) struct StreetName(String);

impl QueryParameter for StreetName {
    const NAME: &'static str = "q";
    const DESCRIPTION: &'static str = "A part of the name of a street.";
    const REQUIRED: bool = true;

    fn schema(_: &Config) -> Value {
        json!({ "type": "string", "minLength": MIN_LETTERS, "maxLength": MAX_LETTERS })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let name = value.unwrap_or_default();
        let letters = name.chars().filter(|char| char.is_alphanumeric()).count();
        if letters < MIN_LETTERS || name.chars().count() > MAX_LETTERS {
            return Err(format!(
                "must have {MIN_LETTERS} letters or more, and at most {MAX_LETTERS} characters"
            ));
        }
        Ok(Self(name.to_owned()))
    }
}

/// Responds with streets of the base map by name, each with the areas that it touches. Not cached: a name tells where a person is.
#[get("/map/streets", rank = 1)]
pub(in crate::pages) async fn find_streets(
    _caller: Caller,
    select: AreaFilter<resources::Floods>,
    name: QueryParam<StreetName>,
    basemap: &State<Basemap>,
    renderer: &State<Arc<Renderer>>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let places =
        time::timeout(config.limits.timeout, store.places()).await.map_err(Problem::slow_store)??;
    let _permit = renderer.permits.small(PermitPool::Periods).await?;
    let (streets, country) = (basemap.streets(), config.country.clone());
    let find = move |_: &_| {
        let abbreviations = country.data().abbreviations();
        let found = streets.find(&name.0, abbreviations, places.value.areas(), &select.areas);
        ApiResponse::private_result(&found)
    };
    off_thread(find).await.map_err(Problem::internal)?
}
