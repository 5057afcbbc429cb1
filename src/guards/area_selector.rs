use std::collections::BTreeSet;
use std::marker::PhantomData;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use rocket::tokio::time::timeout;
use serde_json::json;

use super::{Query, managed};
use crate::changes::Follower;
use crate::config::Config;
use crate::error::{Problem, Source};
use crate::model::{AreaSelector, AreaSet, LayerKind};
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::resources::{Floods, MapResource, Offer, Selectable, describe};

/// The query parameters `city` and `admin`, as far as the resource supports them.
///
/// For resources that consist of areas, a selection has at least one of the loaded areas: anything else is 400 with the codes
/// that there are, so that a wrong code never looks like a city without floods. The areas are those that the server last read,
/// which costs no query.
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
        let areas = selected(request, R::default().kind()).await;
        Problem::outcome(request, areas.map(|areas| Self { areas, resource: PhantomData }))
    }
}

impl<R: MapResource + Default> Part for Select<R> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let kind = R::default().kind();
        let Selectable { city, admin } = interface.config.areas.supported.by(kind);
        let offer = describe(kind).offer();
        let of = |codes: &[String], are_all: bool| {
            let name = if are_all { "enum" } else { "examples" };
            json!({ "type": "string", name: codes })
        };
        if !city.is_empty() {
            let schema = of(city, offer == Offer::Configured);
            operation.takes(Parameter::query("city", "What lies in a city.", schema));
        }
        operation.takes(Parameter::query(
            "admin",
            "What lies in a province.",
            of(admin, offer != Offer::Loaded),
        ));
    }
}

/// The query parameters of [`Select<Floods>`], where a known city may have no area: then nothing is selected, and the response says that
/// the city is not covered. Cities are known to the interface, the configuration or the data.
#[derive(Clone, Debug)]
pub(crate) struct FloodSelect(pub AreaSelector);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for FloodSelect {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, selected_floods(request).await.map(Self))
    }
}

impl Part for FloodSelect {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        Select::<Floods>::describe(operation, interface);
    }
}

/// The cities of the interface. They are known on every installation.
const CITIES: [&str; 3] = ["bdg", "jbd", "sby"];

async fn selected_floods(request: &Request<'_>) -> Result<AreaSelector, Problem> {
    let (config, query) = (managed::<Config>(request)?, Query::of(request));
    let configured = config.areas.supported.by(LayerKind::Floods);
    if configured.city.is_empty() || query.get("city")?.is_none() {
        return selected(request, LayerKind::Floods).await;
    }
    let areas = managed::<Follower>(request)?.areas();
    let areas = timeout(config.limits.timeout, areas).await.map_err(Problem::late)??;
    let known = configured.city.iter().chain(&config.areas.cities).map(String::as_str).chain(CITIES);
    covered_or_known(query, configured, known, &areas)
}

/// Reads the parameters as codes of these areas, or as a city that is known.
fn covered_or_known<'a>(
    query: Query<'_>,
    configured: &Selectable,
    known: impl Iterator<Item = &'a str>,
    areas: &'a AreaSet,
) -> Result<AreaSelector, Problem> {
    let cities = areas.codes().map(|(city, _)| city.as_str());
    let city = one_of(query, "city", "a city", cities.chain(known))?;
    if city.as_deref().is_some_and(|city| areas.has_city(city)) {
        return among(query, configured, areas);
    }
    let regions = areas.codes().map(|(_, region)| region.as_str());
    let region = if areas.is_empty() {
        query.one_of("admin", &configured.admin)?.cloned()
    } else {
        one_of(query, "admin", "a province", regions)?
    };
    Ok(AreaSelector { city, region })
}

async fn selected(request: &Request<'_>, kind: LayerKind) -> Result<AreaSelector, Problem> {
    let (config, query) = (managed::<Config>(request)?, Query::of(request));
    let configured = config.areas.supported.by(kind);
    let is_everything = query.get("city")?.is_none() && query.get("admin")?.is_none();
    match describe(kind).offer() {
        Offer::Loaded if !is_everything => {
            let areas = managed::<Follower>(request)?.areas();
            let areas = timeout(config.limits.timeout, areas).await.map_err(Problem::late)??;
            if areas.is_empty() { selector(query, configured) } else { among(query, configured, &areas) }
        }
        Offer::AlsoCities if !is_everything => match selector(query, configured) {
            // It may be a city of the data.
            Err(_) => {
                let areas = managed::<Follower>(request)?.areas();
                let areas = timeout(config.limits.timeout, areas).await.ok().and_then(Result::ok);
                selector(query, &with_cities(configured, areas.as_deref()))
            }
            known => known,
        },
        _ => selector(query, configured),
    }
}

/// Returns the codes with the cities of the areas.
fn with_cities(configured: &Selectable, areas: Option<&AreaSet>) -> Selectable {
    let mut all = configured.clone();
    let codes = areas.into_iter().flat_map(AreaSet::codes);
    let cities: BTreeSet<_> = codes.map(|(city, _)| city).filter(|city| !city.is_empty()).collect();
    let others = cities.into_iter().filter(|city| !configured.city.contains(city));
    all.city.extend(others.cloned());
    all
}

/// Reads the parameters as codes of these areas.
fn among(query: Query<'_>, configured: &Selectable, areas: &AreaSet) -> Result<AreaSelector, Problem> {
    let cities = areas.codes().map(|(city, _)| city.as_str());
    let city = if configured.city.is_empty() { None } else { one_of(query, "city", "a city", cities)? };
    let in_city = areas.codes().filter(|(of, _)| city.as_ref().is_none_or(|city| city == of));
    let region = one_of(query, "admin", "a province", in_city.map(|(_, region)| region.as_str()))?;
    Ok(AreaSelector { city, region })
}

/// Reads a parameter, which must be one of these codes.
fn one_of<'a>(
    query: Query<'_>,
    name: &'static str,
    what: &str,
    codes: impl Iterator<Item = &'a str>,
) -> Result<Option<String>, Problem> {
    let codes: BTreeSet<&str> = codes.filter(|code| !code.is_empty()).collect();
    if codes.is_empty() && query.get(name)?.is_some() {
        return Err(Problem::invalid(
            Source::Query,
            name,
            format!("must be absent: no loaded area has {what}"),
        ));
    }
    let codes: Vec<&str> = codes.into_iter().collect();
    Ok(query.one_of(name, &codes)?.map(|&code| code.to_owned()))
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
    use crate::model::Area;
    use crate::model::alerts::Exercise;

    /// Returns areas with these codes of city and province.
    fn areas(codes: &[(&str, &str)]) -> AreaSet {
        let area = |(number, &(city, region)): (u64, &(&str, &str))| Area {
            id: number.try_into().unwrap(),
            geom_id: number.to_string(),
            city_code: city.to_owned(),
            region_code: region.to_owned(),
            ..Exercise::area()
        };
        AreaSet::new((1..).zip(codes).map(area).collect()).unwrap()
    }

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

    #[test]
    fn a_selection_among_areas_has_an_area() {
        let selectable = Selectable { city: vec!["jbd".into()], admin: Vec::new() };
        let all = areas(&[("jbd", "ID-JK"), ("bdg", "ID-JB")]);
        for text in ["city=jbd", "city=bdg", "admin=ID-JB", "admin=ID-JB&city=bdg", "admin=ID-JK&city=jbd"] {
            let selector = among(Query::new(text), &selectable, &all).unwrap();
            assert!(all.iter().any(|area| selector.matches(area)), "{text}");
        }
        for wrong in ["city=sby", "city=ID-JK", "admin=ID-AC", "city=jbd&admin=ID-JB", "city=x"] {
            assert!(among(Query::new(wrong), &selectable, &all).is_err(), "{wrong}");
        }
        let without = areas(&[("", "ID-JK"), ("", "ID-JB")]);
        assert!(among(Query::new("city=jbd"), &selectable, &without).is_err());
        assert!(among(Query::new("admin=ID-JK&city="), &selectable, &without).is_ok());
    }

    #[test]
    fn a_known_city_without_an_area_selects_nothing_and_an_unknown_one_is_refused() {
        let selectable = Selectable { city: vec!["jbd".into()], admin: vec!["ID-JK".into()] };
        let select = |text: &'static str, areas: &AreaSet| {
            covered_or_known(Query::new(text), &selectable, CITIES.into_iter(), areas)
        };
        let (all, none) = (areas(&[("jbd", "ID-JK"), ("mnl", "ID-JB")]), areas(&[]));
        for text in ["city=sby", "city=bdg&admin=ID-JK", "city=mnl", "city=jbd&admin=ID-JK"] {
            assert!(select(text, &all).is_ok(), "{text}");
        }
        for text in ["city=x", "city=sby&admin=ID-AC", "city=jbd&admin=ID-JB"] {
            assert!(select(text, &all).is_err(), "{text}");
        }
        assert!(select("city=sby&admin=ID-JK", &none).is_ok());
        assert!(select("city=sby&admin=ID-JB", &none).is_err());
    }

    #[test]
    fn cities_of_areas_are_offered_beside_the_configured_ones() {
        let selectable = Selectable { city: vec!["sby".into(), "jbd".into()], admin: Vec::new() };
        let areas = areas(&[("jbd", "ID-JK"), ("bdg", "ID-JB")]);
        assert_eq!(with_cities(&selectable, Some(&areas)).city, ["sby", "jbd", "bdg"]);
        assert_eq!(with_cities(&selectable, None), selectable);
    }
}
