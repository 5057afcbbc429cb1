use std::marker::PhantomData;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::{Query, managed};
use crate::config::Config;
use crate::error::Problem;
use crate::model::AreaSelector;
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::resources::{MapResource, Selectable};

/// The query parameters `city` and `admin`, as far as the resource supports them.
#[derive(Clone, Debug)]
pub struct Select<R> {
    /// The selected areas.
    pub areas: AreaSelector,
    resource: PhantomData<R>,
}

#[rocket::async_trait]
impl<'r, R: MapResource + Default> FromRequest<'r> for Select<R> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let areas = managed::<Config>(request)
            .and_then(|config| selector(Query::of(request), config.areas.supported.by(R::default().kind())));
        Problem::outcome(request, areas.map(|areas| Self { areas, resource: PhantomData }))
    }
}

impl<R: MapResource + Default> Part for Select<R> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let Selectable { city, admin } = interface.config.areas.supported.by(R::default().kind());
        let of = |codes: &[String]| json!({ "type": "string", "enum": codes });
        if !city.is_empty() {
            operation.takes(Parameter::query("city", "What lies in a city.", of(city)));
        }
        operation.takes(Parameter::query("admin", "What lies in a province.", of(admin)));
    }
}

fn selector(query: Query<'_>, selectable: &Selectable) -> Result<AreaSelector, Problem> {
    Ok(AreaSelector {
        city: if selectable.city.is_empty() {
            // A parameter that the resource does not have is ignored like any unknown parameter.
            None
        } else {
            query.one_of("city", &selectable.city)?.cloned()
        },
        region: query.one_of("admin", &selectable.admin)?.cloned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_the_codes_the_resource_supports() {
        let selectable = Selectable { city: vec!["jbd".into(), "bdg".into()], admin: vec!["ID-JK".into()] };
        for (text, city, region) in [
            ("", None, None),
            ("city=jbd", Some("jbd"), None),
            ("admin=ID-JK", None, Some("ID-JK")),
            ("city=bdg&admin=ID-JK", Some("bdg"), Some("ID-JK")),
        ] {
            let areas = selector(Query::new(text), &selectable).unwrap();
            assert_eq!((areas.city.as_deref(), areas.region.as_deref()), (city, region), "{text}");
        }
        for wrong in ["city=sby", "city=ID-JK", "admin=jbd", "admin=id-jk", "city=jbd&admin=ID-JB"] {
            assert!(selector(Query::new(wrong), &selectable).is_err(), "{wrong}");
        }
    }
}
