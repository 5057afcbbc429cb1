use std::collections::BTreeSet;
use std::sync::Arc;

use rocket::tokio::sync::Mutex;
use rocket::tokio::time::timeout;
use rocket::{State, get};
use serde_json::{Value, json};

use crate::changes::Follower;
use crate::config::Config;
use crate::guards::Caller;
use crate::http::error::Problem;
use crate::model::AreaSet;
use crate::rendering::cache::RenderedResponse;
use crate::rendering::{ApiResponse, JSON, precompress};

/// The OpenAPI document, compressed on first request, and again when the codes in its examples change.
#[derive(Debug)]
pub(crate) struct OpenApiDocument {
    document: Value,
    rendered: Mutex<Option<(AreaCodes, RenderedResponse)>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AreaCodes {
    city: BTreeSet<String>,
    admin: BTreeSet<String>,
}

impl AreaCodes {
    fn new(areas: &AreaSet) -> Self {
        let (city, admin): (BTreeSet<_>, BTreeSet<_>) = areas.codes().cloned().unzip();
        let non_empty = |codes: BTreeSet<String>| codes.into_iter().filter(|code| !code.is_empty()).collect();
        Self { city: non_empty(city), admin: non_empty(admin) }
    }

    /// Replaces the examples of the parameters `city` and `admin`. Without codes, the configured examples stay.
    fn set_examples(&self, document: &mut Value) {
        let paths = document["paths"].as_object_mut();
        let operations = paths.into_iter().flatten().filter_map(|(_, path)| path.as_object_mut()).flatten();
        let parameters =
            operations.filter_map(|(_, operation)| operation.get_mut("parameters")?.as_array_mut()).flatten();
        for parameter in parameters {
            let codes = match parameter["name"].as_str() {
                Some("city") => &self.city,
                Some("admin") => &self.admin,
                _ => continue,
            };
            if let Some(examples) = parameter["schema"].get_mut("examples").filter(|_| !codes.is_empty()) {
                *examples = json!(codes);
            }
        }
    }
}

impl OpenApiDocument {
    pub(crate) fn new(document: Value) -> Self {
        Self { document, rendered: Mutex::default() }
    }

    /// Returns the document with the codes of the areas as examples; renders it again only when the codes change.
    async fn for_areas(&self, areas: Option<Arc<AreaSet>>) -> Result<ApiResponse, Problem> {
        let codes = areas.as_deref().map(AreaCodes::new).unwrap_or_default();
        let mut ready = self.rendered.lock().await;
        if let Some((_, rendered)) = ready.as_ref().filter(|(known, _)| *known == codes) {
            return Ok(ApiResponse::shared(rendered));
        }
        let mut document = self.document.clone();
        codes.set_examples(&mut document);
        let rendered = precompress(JSON, document.to_string().into_bytes()).await?;
        let response = ApiResponse::shared(&rendered);
        *ready = Some((codes, rendered));
        Ok(response)
    }
}

#[get("/openapi.json")]
pub(super) async fn describe(
    _caller: Caller,
    description: &State<OpenApiDocument>,
    follower: &State<Follower>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let areas = timeout(config.limits.timeout, follower.areas()).await.ok().and_then(Result::ok);
    description.for_areas(areas).await
}
