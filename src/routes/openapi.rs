use std::sync::Arc;

use rocket::{State, get};
use serde_json::Value;

use super::Answer;
use super::answer::JSON;
use crate::cache::Rendered;
use crate::content::Content;
use crate::guards::Caller;

/// The description of the interface, as it is sent.
#[derive(Clone, Debug)]
pub struct Description(Rendered);

impl Description {
    /// Of an OpenAPI document.
    #[must_use]
    pub fn new(document: &Value) -> Self {
        let content = Content::tagged(document.to_string().into_bytes());
        Self(Rendered { media_type: JSON.into(), content: Arc::new(content) })
    }
}

/// `GET /openapi.json`: the description of the interface.
#[get("/openapi.json")]
pub(super) fn describe(_caller: Caller, description: &State<Description>) -> Answer {
    Answer::shared(&description.0)
}
