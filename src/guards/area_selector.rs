use std::marker::PhantomData;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::{Query, Resource, managed};
use crate::config::{Config, Selectable};
use crate::error::Problem;
use crate::model::AreaSelector;

/// The query parameters `city` and `admin`, as far as the resource supports them.
#[derive(Clone, Debug)]
pub struct Select<R> {
    /// The areas selected.
    pub areas: AreaSelector,
    resource: PhantomData<R>,
}

#[rocket::async_trait]
impl<'r, R: Resource> FromRequest<'r> for Select<R> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let areas = managed::<Config>(request)
            .and_then(|config| selector(Query::of(request), R::selectable(&config.areas)));
        Problem::outcome(request, areas.map(|areas| Self { areas, resource: PhantomData }))
    }
}

fn selector(query: Query<'_>, selectable: &Selectable) -> Result<AreaSelector, Problem> {
    Ok(AreaSelector {
        city: query.one_of("city", &selectable.city)?.cloned(),
        region: query.one_of("admin", &selectable.admin)?.cloned(),
    })
}
