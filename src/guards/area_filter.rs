use std::collections::BTreeSet;
use std::marker::PhantomData;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use rocket::tokio::time::timeout;
use serde_json::json;

use super::{Query, guard, managed};
use crate::changes::Follower;
use crate::config::Config;
use crate::http::error::{Problem, Source};
use crate::model::{AreaSelector, AreaSet, LayerKind};
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::schema::resources::{Description, Floods, MapResource, Offer, SelectableCodes, describe};

/// The query parameters `city` and `admin`, as far as the resource supports them.
///
/// For resources that consist of areas, a selection must contain at least one loaded area. Otherwise the response is 400 with the
/// valid codes, so that a wrong code never looks like a city without floods. The valid codes are those of the areas that the
/// service read last.
#[derive(Clone, Debug)]
pub struct AreaFilter<R> {
    /// The selected areas.
    pub areas: AreaSelector,
    resource: PhantomData<R>,
}

#[rocket::async_trait]
impl<'r, R: MapResource> FromRequest<'r> for AreaFilter<R> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let areas = area_selector(request, R::DESCRIPTION.kind).await;
        Problem::outcome(request, areas.map(|areas| Self { areas, resource: PhantomData }))
    }
}

impl<R: MapResource> Part for AreaFilter<R> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let Description { kind, offer, .. } = R::DESCRIPTION;
        let SelectableCodes { city, admin } = interface.config.areas.selectable(kind);
        let code_schema = |codes: &[String], are_all: bool| {
            let name = if are_all { "enum" } else { "examples" };
            json!({ "type": "string", name: codes })
        };
        if !city.is_empty() {
            let schema = code_schema(city, offer == Offer::Configured);
            operation.parameter(Parameter::query("city", "What lies in a city.", schema));
        }
        operation.parameter(Parameter::query(
            "admin",
            "What lies in a province.",
            code_schema(admin, offer != Offer::Loaded),
        ));
    }
}

/// Like [`AreaFilter<Floods>`], but also accepts a known city without loaded areas. Such a city selects nothing, and the response
/// states that the city is not covered. The known cities are `CITIES` and those in the configuration and the data.
#[derive(Clone, Debug)]
pub(crate) struct FloodAreaFilter(pub AreaSelector);

guard!(FloodAreaFilter, |request| flood_selector(request).await.map(Self));

impl Part for FloodAreaFilter {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        AreaFilter::<Floods>::describe(operation, interface);
    }
}

/// The city codes that every installation accepts, whatever its configuration.
const CITIES: [&str; 3] = ["bdg", "jbd", "sby"];

async fn flood_selector(request: &Request<'_>) -> Result<AreaSelector, Problem> {
    let (config, query) = (managed::<Config>(request)?, Query::for_request(request));
    let configured = config.areas.selectable(LayerKind::Floods);
    if configured.city.is_empty() || query.get("city")?.is_none() {
        return area_selector(request, LayerKind::Floods).await;
    }
    let areas = managed::<Follower>(request)?.areas();
    let areas = timeout(config.limits.timeout, areas).await.map_err(Problem::slow_store)??;
    let known_cities = configured.city.iter().chain(&config.areas.cities).map(String::as_str).chain(CITIES);
    known_city_selector(query, configured, known_cities, &areas)
}

/// Reads the parameters as codes of loaded areas, or as a known city.
fn known_city_selector<'a>(
    query: Query<'_>,
    configured: &SelectableCodes,
    known_cities: impl Iterator<Item = &'a str>,
    areas: &'a AreaSet,
) -> Result<AreaSelector, Problem> {
    let cities = areas.codes().map(|(city, _)| city.as_str());
    let city = one_of(query, "city", "a city", cities.chain(known_cities))?;
    if city.as_deref().is_some_and(|city| areas.has_city(city)) {
        return from_areas(query, configured, areas);
    }
    let regions = areas.codes().map(|(_, region)| region.as_str());
    let region = if areas.is_empty() {
        query.one_of("admin", &configured.admin)?.cloned()
    } else {
        one_of(query, "admin", "a province", regions)?
    };
    Ok(AreaSelector { city, region })
}

/// Checks the codes against the loaded areas or the configuration, depending on the layer.
async fn area_selector(request: &Request<'_>, kind: LayerKind) -> Result<AreaSelector, Problem> {
    let (config, query) = (managed::<Config>(request)?, Query::for_request(request));
    let configured = config.areas.selectable(kind);
    let is_unfiltered = query.get("city")?.is_none() && query.get("admin")?.is_none();
    match describe(kind).offer {
        Offer::Loaded if !is_unfiltered => {
            let areas = managed::<Follower>(request)?.areas();
            let areas = timeout(config.limits.timeout, areas).await.map_err(Problem::slow_store)??;
            if areas.is_empty() {
                from_codes(query, configured)
            } else {
                from_areas(query, configured, &areas)
            }
        }
        Offer::AlsoCities if !is_unfiltered => match from_codes(query, configured) {
            // The configuration lacks the code, but it may be a city in the data.
            Err(_) => {
                let areas = managed::<Follower>(request)?.areas();
                let areas = timeout(config.limits.timeout, areas).await.ok().and_then(Result::ok);
                from_codes(query, &with_cities(configured, areas.as_deref()))
            }
            known => known,
        },
        _ => from_codes(query, configured),
    }
}

fn with_cities(configured: &SelectableCodes, areas: Option<&AreaSet>) -> SelectableCodes {
    let mut selectable = configured.clone();
    let codes = areas.into_iter().flat_map(AreaSet::codes);
    let cities: BTreeSet<_> = codes.map(|(city, _)| city).filter(|city| !city.is_empty()).collect();
    let unlisted = cities.into_iter().filter(|city| !configured.city.contains(city));
    selectable.city.extend(unlisted.cloned());
    selectable
}

/// Accepts the cities of the loaded areas, and the regions in the selected city.
fn from_areas(
    query: Query<'_>,
    configured: &SelectableCodes,
    areas: &AreaSet,
) -> Result<AreaSelector, Problem> {
    let cities = areas.codes().map(|(city, _)| city.as_str());
    let city = if configured.city.is_empty() { None } else { one_of(query, "city", "a city", cities)? };
    let in_city = areas.codes().filter(|(code, _)| city.as_ref().is_none_or(|city| city == code));
    let region = one_of(query, "admin", "a province", in_city.map(|(_, region)| region.as_str()))?;
    Ok(AreaSelector { city, region })
}

/// Reads a parameter that must be one of `codes`. Any value is an error if there are no codes.
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

fn from_codes(query: Query<'_>, selectable: &SelectableCodes) -> Result<AreaSelector, Problem> {
    Ok(AreaSelector {
        city: if selectable.city.is_empty() {
            // `city` is ignored like any unknown parameter, because the resource does not support it.
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
    use crate::fixture;

    #[test]
    fn a_known_city_without_an_area_selects_nothing_and_an_unknown_one_is_rejected() {
        let selectable = SelectableCodes { city: vec!["jbd".into()], admin: vec!["ID-JK".into()] };
        let select = |text: &'static str, areas: &AreaSet| {
            known_city_selector(Query::new(text), &selectable, CITIES.into_iter(), areas)
        };
        let mut areas: Vec<_> = fixture::areas().iter().cloned().collect();
        "mnl".clone_into(&mut areas[0].city_code);
        let (all, none) = (AreaSet::new(areas).unwrap(), AreaSet::default());
        for text in ["city=sby", "city=mnl", "city=jbd&admin=ID-JK"] {
            assert!(select(text, &all).is_ok(), "{text}");
        }
        for text in ["city=x", "city=sby&admin=ID-AC", "city=jbd&admin=ID-JB"] {
            assert!(select(text, &all).is_err(), "{text}");
        }
        assert!(select("city=sby&admin=ID-JK", &none).is_ok());
        assert!(select("city=sby&admin=ID-JB", &none).is_err());
    }
}
