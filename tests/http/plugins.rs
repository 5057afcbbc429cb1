//! Formats, routes and fairings added from outside.

use std::sync::Arc;

use rocket::fairing::AdHoc;
use rocket::http::Status;
use rocket::{State, get, routes};
use serde_json::json;
use siaga::error::Problem;
use siaga::formats::{EncodeContext, Format};
use siaga::guards::{AreaFilter, Caller, QueryParam, TimePeriod};
use siaga::model::{AreaSelector, FloodState, Layer, LayerKind};
use siaga::rendering::{ApiResponse, ResponseCache};
use siaga::resources::Floods;
use siaga::stores::{FloodQuery, LayerQuery, Store, StoreError};

use crate::fixture::block_on;
use crate::independent::text_format::TextFormat;
use crate::suite::support::{Siaga, assert_invalid, figment, json_of};

/// A format that writes the number and the name of each area.
fn csv() -> Arc<dyn Format> {
    let write = |layer: &Layer, _: &EncodeContext| {
        let Layer::Floods(floods) = layer else { unreachable!("it carries floods alone") };
        Ok(floods.features().map(|flood| format!("{},{}\n", flood.area.id, flood.area.name)).collect())
    };
    Arc::new(TextFormat { name: "csv", kind: LayerKind::Floods, write })
}

fn with_csv(default: &str) -> Siaga {
    let figment = figment()
        .merge(("siaga.formats.enabled", ["topojson", "csv"]))
        .merge(("siaga.formats.default", default));
    Siaga::with(figment, |builder| builder.format(csv()))
}

#[test]
fn a_format_of_an_agency_is_chosen_like_the_services_own() {
    let siaga = with_csv("topojson");
    for query in ["geoformat=csv", "format=text"] {
        let response = siaga.client.get(format!("/v1/floods?city=bdg&{query}")).dispatch();
        assert_eq!(response.headers().get_one("Content-Type"), Some("text/csv; charset=utf-8"));
        assert_eq!(response.into_string().unwrap(), "30,RW 30\n");
    }
    assert_eq!(siaga.result("/v1/floods")["type"], "Topology");
    assert_invalid(siaga.get("/v1/floods?geoformat=x"), "query", &["geoformat"], "one of [topojson, csv]");
    assert_eq!(with_csv("csv").get("/v1/floods?city=bdg").into_string().unwrap(), "30,RW 30\n");
}

#[get("/<city>")]
async fn warn(
    _caller: Caller,
    city: &str,
    time_period: QueryParam<TimePeriod>,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let selector = AreaSelector { city: Some(city.to_owned()), region: None };
    let flooded = store.floods(&FloodQuery { selector, minimum_state: Some(FloodState::Minor) }).await?;
    ApiResponse::bare(
        &json!({ "flooded": flooded.value.features().count(), "seconds": time_period.0.as_secs() }),
    )
}

#[test]
fn routes_of_an_agency_are_mounted_beside_the_services_own() {
    let siaga = Siaga::with(figment(), |builder| builder.mount("/warnings/", routes![warn]));
    let response = siaga.get("/v1/warnings/jbd?timeperiod=60");
    assert_eq!(response.headers().get_one("Access-Control-Allow-Origin"), Some("*"));
    assert_eq!(json_of(response), json!({ "flooded": 1, "seconds": 60 }));
    assert_invalid(siaga.get("/v1/warnings/jbd?timeperiod=x"), "query", &["timeperiod"], "whole number");
    let wrong_method = siaga.put("/v1/warnings/jbd", "{}");
    assert_eq!(wrong_method.status(), Status::MethodNotAllowed);
    assert_eq!(wrong_method.headers().get_one("Allow"), Some("GET, HEAD, OPTIONS"));
    assert_eq!(siaga.get("/warnings/jbd").status(), Status::NotFound);
}

#[test]
fn routes_cannot_be_mounted_at_an_invalid_path() {
    for wrong in ["warnings", "/warnings?of=jbd"] {
        let builder = siaga::Siaga::builder().figment(figment().merge(("siaga.store", "memory")));
        let refused = block_on(builder.mount(wrong, routes![warn]).build());
        let refused = refused.expect_err(wrong).to_string();
        assert!(refused.starts_with(&format!("routes cannot be mounted at {wrong:?}: ")), "{refused}");
    }
}

#[test]
fn a_fairing_of_an_agency_sees_every_response() {
    let siaga = Siaga::with(figment(), |builder| {
        builder.attach(AdHoc::on_response("Agency", |_, response| {
            response.set_raw_header("X-Agency", "BPBD");
            Box::pin(async {})
        }))
    });
    for address in ["/v1/floods", "/v1/nowhere", "/health/live"] {
        assert_eq!(siaga.get(address).headers().get_one("X-Agency"), Some("BPBD"), "{address}");
    }
}

#[rocket::patch("/floods/<number>")]
fn amend_area(number: u64) -> String {
    number.to_string()
}

#[get("/floods/<_number>")]
fn show_area(_number: &str) -> rocket::response::Redirect {
    rocket::response::Redirect::to("/elsewhere")
}

#[test]
fn a_route_of_an_agency_may_share_a_path_of_the_service_for_other_methods() {
    let siaga = Siaga::with(figment(), |builder| builder.mount("/", routes![amend_area, show_area]));
    assert_eq!(siaga.client.patch("/v1/floods/7").dispatch().into_string().unwrap(), "7");
    assert_eq!(siaga.get("/v1/floods/7").status(), Status::SeeOther);
    let wrong = siaga.client.post("/v1/floods/7").dispatch();
    assert_eq!(wrong.headers().get_one("Allow"), Some("GET, HEAD, PUT, DELETE, PATCH, OPTIONS"));
    let paths = json_of(siaga.get("/openapi.json"))["paths"].clone();
    assert!(paths.get("/floods/{number}").is_none());
    let at = paths["/floods/{localAreaId}"].as_object().unwrap();
    assert_eq!(at.keys().collect::<Vec<_>>(), ["put", "delete", "patch", "get"]);
    assert_eq!(at["patch"]["parameters"][0]["name"], "localAreaId");
}

#[get("/own")]
async fn answer_own(select: AreaFilter<Floods>, responses: ResponseCache) -> Result<ApiResponse, Problem> {
    let query = FloodQuery { selector: select.areas, minimum_state: None };
    // A format of a single route, with the name of another.
    let write = |_: &Layer, _: &EncodeContext| Ok("own".to_owned());
    let own = TextFormat { name: "csv", kind: LayerKind::Floods, write };
    responses.layer(LayerQuery::Floods(query), Arc::new(own)).await
}

#[test]
fn formats_of_the_same_name_on_two_routes_are_not_confused() {
    let figment = figment().merge(("siaga.formats.enabled", ["topojson", "csv"]));
    let siaga = Siaga::with(figment, |builder| builder.format(csv()).mount("/", routes![answer_own]));
    for _ in 0..2 {
        assert_eq!(siaga.get("/v1/own?city=bdg").into_string().unwrap(), "own");
        assert_eq!(siaga.get("/v1/floods?city=bdg&geoformat=csv").into_string().unwrap(), "30,RW 30\n");
    }
}

#[get("/refused")]
fn refuse() -> Result<ApiResponse, Problem> {
    Err(StoreError::Refused { what: "states are set by the control room alone".to_owned() }.into())
}

#[test]
fn a_refusal_of_a_store_is_403_with_its_reason() {
    let siaga = Siaga::with(figment(), |builder| builder.mount("/", routes![refuse]));
    let refused = siaga.get("/v1/refused");
    assert_eq!(refused.status(), Status::Forbidden);
    assert_eq!(json_of(refused)["message"], "states are set by the control room alone");
}
