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
use crate::rendering::cache::Rendered;
use crate::rendering::{ApiResponse, JSON, prepared};

/// The description of the interface, compressed when it is first requested, and again after its examples have changed.
#[derive(Debug)]
pub(crate) struct Description {
    document: Value,
    ready: Mutex<Option<(Codes, Rendered)>>,
}

/// The codes of the cities and provinces of areas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Codes {
    city: BTreeSet<String>,
    admin: BTreeSet<String>,
}

impl Codes {
    fn new(areas: &AreaSet) -> Self {
        let (city, admin): (BTreeSet<_>, BTreeSet<_>) = areas.codes().cloned().unzip();
        let filled = |codes: BTreeSet<String>| codes.into_iter().filter(|code| !code.is_empty()).collect();
        Self { city: filled(city), admin: filled(admin) }
    }

    /// Makes them the examples of the parameters `city` and `admin` that have examples. Without codes, those of the configuration stay.
    fn exemplify(&self, document: &mut Value) {
        let paths = document["paths"].as_object_mut();
        let operations = paths.into_iter().flatten().filter_map(|(_, path)| path.as_object_mut()).flatten();
        let parameters = operations.filter_map(|(_, of)| of.get_mut("parameters")?.as_array_mut()).flatten();
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

impl Description {
    /// Makes the description from an OpenAPI document.
    pub(crate) fn new(document: Value) -> Self {
        Self { document, ready: Mutex::default() }
    }

    /// Returns the description with examples from these areas.
    async fn for_areas(&self, areas: Option<Arc<AreaSet>>) -> Result<ApiResponse, Problem> {
        let codes = areas.as_deref().map(Codes::new).unwrap_or_default();
        let mut ready = self.ready.lock().await;
        if let Some((_, rendered)) = ready.as_ref().filter(|(known, _)| *known == codes) {
            return Ok(ApiResponse::shared(rendered));
        }
        let mut document = self.document.clone();
        codes.exemplify(&mut document);
        let rendered = prepared(JSON, document.to_string().into_bytes()).await?;
        let answer = ApiResponse::shared(&rendered);
        *ready = Some((codes, rendered));
        Ok(answer)
    }
}

/// `GET /openapi.json`: responds with the description of the interface.
#[get("/openapi.json")]
pub(super) async fn describe(
    _caller: Caller,
    description: &State<Description>,
    follower: &State<Follower>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let areas = timeout(config.limits.timeout, follower.areas()).await.ok().and_then(Result::ok);
    description.for_areas(areas).await
}
