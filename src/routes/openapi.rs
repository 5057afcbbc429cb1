use std::sync::OnceLock;

use rocket::{State, get};
use serde_json::Value;

use super::Answer;
use super::answer::JSON;
use super::at_hand::at_hand;
use crate::cache::Rendered;
use crate::guards::Caller;

/// The description of the interface, made ready to be sent when it is first asked for.
#[derive(Debug)]
pub(crate) struct Description {
    document: Value,
    ready: OnceLock<Rendered>,
}

impl Description {
    /// Of an OpenAPI document.
    pub(crate) fn new(document: Value) -> Self {
        Self { document, ready: OnceLock::new() }
    }
}

/// `GET /openapi.json`: the description of the interface.
#[get("/openapi.json")]
pub(super) fn describe(_caller: Caller, description: &State<Description>) -> Answer {
    let Description { document, ready } = &**description;
    Answer::shared(ready.get_or_init(|| at_hand(JSON, document.to_string().into_bytes())))
}
