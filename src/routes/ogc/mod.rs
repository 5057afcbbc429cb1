//! OGC API – Features 1.0, Part 1: the classes Core, GeoJSON and OpenAPI 3.0 (OGC 17-069r4).

mod api;
mod documents;
mod params;

use rocket::http::Header;
use rocket::{Responder, get};
use serde_json::{Value, json};

use self::params::{OgcParams, OgcState};
use crate::described;
use crate::formats::tables::{Collection, GEOJSON};
use crate::guards::Caller;
use crate::http::error::Problem;
use crate::openapi::{Described, Interface, Operation, Parameter};
use crate::rendering::{ApiResponse, ItemSelector, ItemsQuery, JSON, ResponseCache, ResponseKey};
use crate::schema::{array, object};

pub(super) fn routes() -> Vec<Described> {
    let document = || json!({ "type": "object" });
    let strict = |described: Described| described.strict_parameters();
    let with_collection = |described: Described| strict(described).error(404, "There is no such collection.");
    let text = json!({ "type": "string" });
    let links = array(object(json!({ "href": text, "rel": text, "type": text, "title": text })));
    let feature = object(json!({
        "type": { "const": "Feature" },
        "id": { "type": ["integer", "string"] },
        "geometry": document(),
        "properties": document(),
        "links?": links,
    }));
    let features = object(json!({
        "type": { "const": "FeatureCollection" },
        "features": array(feature.clone()),
        "links": links,
        "numberMatched?": { "type": "integer", "minimum": 0 },
        "numberReturned": { "type": "integer", "minimum": 0 },
    }));
    vec![
        strict(described!(show_landing))
            .summary("The data for GIS programs: the landing page of OGC API – Features")
            .response(document()),
        strict(described!(list_conformance)).summary("The parts of OGC API – Features that the service has").response(document()),
        strict(described!(describe_api))
            .summary("The description of these addresses for GIS programs")
            .with(|operation, _| operation.response(api::OPENAPI, json!({ "type": "object" }))),
        strict(described!(list_collections)).summary("The collections of features").response(document()),
        with_collection(described!(show_collection)).summary("One collection").response(document()),
        with_collection(described!(show_schema))
            .summary("The columns of a collection, as JSON Schema")
            .with(|operation, _| operation.response(documents::SCHEMA, json!({ "type": "object" }))),
        with_collection(described!(show_queryables))
            .summary("The columns that select features of a collection: all of them, as JSON Schema")
            .with(|operation, _| operation.response(documents::SCHEMA, json!({ "type": "object" }))),
        with_collection(described!(list_items))
            .summary("Features of a collection, page by page. Each column is a parameter too: `state=3` selects by its value")
            .with(describe_selection)
            .with(move |operation, _| {
                operation.response(GEOJSON, features.clone());
                operation.cached_response();
            }),
        with_collection(described!(show_item))
            .summary("One feature of a collection")
            .error(404, "There is no such feature.")
            .with(move |operation, _| {
                operation.response(GEOJSON, feature.clone());
                operation.cached_response();
            }),
    ]
}

fn describe_selection(operation: &mut Operation, interface: &Interface<'_>) {
    for (name, description, schema) in params::selection_parameters(interface.config) {
        operation.parameter(Parameter::query(name, description, schema));
    }
}

/// A response that does not depend on `Accept`.
#[derive(Responder)]
pub(super) struct OgcResponse {
    response: ApiResponse,
    vary: Header<'static>,
}

impl OgcResponse {
    /// Creates a document. Its texts are in the language that the client prefers.
    fn document(media_type: &'static str, document: &Value) -> Self {
        Self {
            response: ApiResponse::public(media_type, document.to_string().into_bytes()),
            vary: Header::new("Vary", "Accept-Encoding, Accept-Language"),
        }
    }

    /// Responds with features, which are the same in all languages.
    async fn features(
        collection: Collection,
        selector: ItemSelector,
        cache: ResponseCache,
    ) -> Result<Self, Problem> {
        let response = cache.get(ResponseKey::Items(ItemsQuery { collection, selector })).await?;
        Ok(Self { response, vary: Header::new("Vary", "Accept-Encoding") })
    }
}

#[get("/ogc")]
pub(super) async fn show_landing(
    _caller: Caller,
    params: OgcParams,
    state: OgcState<'_>,
) -> Result<OgcResponse, Problem> {
    params.check_known(&[])?;
    Ok(OgcResponse::document(JSON, &documents::landing(&state, &params)))
}

#[get("/ogc/conformance")]
pub(super) async fn list_conformance(_caller: Caller, params: OgcParams) -> Result<OgcResponse, Problem> {
    params.check_known(&[])?;
    Ok(OgcResponse::document(JSON, &documents::conformance()))
}

#[get("/ogc/api")]
pub(super) async fn describe_api(
    _caller: Caller,
    params: OgcParams,
    state: OgcState<'_>,
) -> Result<OgcResponse, Problem> {
    params.check_known(&[])?;
    Ok(OgcResponse::document(api::OPENAPI, &api::document(&state)))
}

#[get("/ogc/collections")]
pub(super) async fn list_collections(
    _caller: Caller,
    params: OgcParams,
    state: OgcState<'_>,
) -> Result<OgcResponse, Problem> {
    params.check_known(&[])?;
    Ok(OgcResponse::document(JSON, &documents::collections(&state, &params).await?))
}

#[get("/ogc/collections/<collection>")]
pub(super) async fn show_collection(
    _caller: Caller,
    collection: &str,
    params: OgcParams,
    state: OgcState<'_>,
) -> Result<OgcResponse, Problem> {
    let collection = parse_collection(collection)?;
    params.check_known(&[])?;
    Ok(OgcResponse::document(JSON, &documents::collection(&state, &params, collection).await?))
}

#[get("/ogc/collections/<collection>/schema")]
pub(super) async fn show_schema(
    _caller: Caller,
    collection: &str,
    params: OgcParams,
    state: OgcState<'_>,
) -> Result<OgcResponse, Problem> {
    schema(&state, &params, collection, "schema")
}

#[get("/ogc/collections/<collection>/queryables")]
pub(super) async fn show_queryables(
    _caller: Caller,
    collection: &str,
    params: OgcParams,
    state: OgcState<'_>,
) -> Result<OgcResponse, Problem> {
    schema(&state, &params, collection, "queryables")
}

fn schema(
    state: &OgcState<'_>,
    params: &OgcParams,
    collection: &str,
    document: &str,
) -> Result<OgcResponse, Problem> {
    let collection = parse_collection(collection)?;
    params.check_known(&[])?;
    Ok(OgcResponse::document(documents::SCHEMA, &documents::schema(state, params, collection, document)))
}

#[get("/ogc/collections/<collection>/items")]
pub(super) async fn list_items(
    _caller: Caller,
    collection: &str,
    params: OgcParams,
    state: OgcState<'_>,
    cache: ResponseCache,
) -> Result<OgcResponse, Problem> {
    let collection = parse_collection(collection)?;
    let selector = params.selection(collection, &state.renderer.tables)?;
    OgcResponse::features(collection, selector, cache).await
}

#[get("/ogc/collections/<collection>/items/<id>")]
pub(super) async fn show_item(
    _caller: Caller,
    collection: &str,
    id: &str,
    params: OgcParams,
    cache: ResponseCache,
) -> Result<OgcResponse, Problem> {
    let collection = parse_collection(collection)?;
    params.check_known(&[])?;
    OgcResponse::features(collection, ItemSelector::One(id.to_owned()), cache).await
}

fn parse_collection(name: &str) -> Result<Collection, Problem> {
    Collection::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Collection::ALL.map(Collection::name).into();
        let names = names.join(", ");
        Problem::not_found(format_args!("the collection {name:?} (there are: {names})"))
    })
}
