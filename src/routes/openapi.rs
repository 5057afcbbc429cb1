use rocket::tokio::sync::OnceCell;
use rocket::{State, get};
use serde_json::Value;

use crate::error::Problem;
use crate::guards::Caller;
use crate::rendering::cache::Rendered;
use crate::rendering::{Answer, JSON, prepared};

/// The description of the interface, compressed when it is first requested.
#[derive(Debug)]
pub(crate) struct Description {
    document: Value,
    ready: OnceCell<Rendered>,
}

impl Description {
    /// Makes the description from an OpenAPI document.
    pub(crate) fn new(document: Value) -> Self {
        Self { document, ready: OnceCell::new() }
    }
}

/// `GET /openapi.json`: responds with the description of the interface.
#[get("/openapi.json")]
pub(super) async fn describe(_caller: Caller, description: &State<Description>) -> Result<Answer, Problem> {
    let Description { document, ready } = &**description;
    let made = ready.get_or_try_init(|| prepared(JSON, document.to_string().into_bytes()));
    made.await.map(Answer::shared)
}
