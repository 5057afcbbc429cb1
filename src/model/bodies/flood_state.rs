use serde_json::Value;

use super::fields::{Fault, Object, code, read};
use crate::model::{FloodState, InvalidFloodState};

/// Parses the new state of an area: a number, or a text with the number, which the CogniCity desk sends.
pub(crate) fn read_flood_state(body: &Object) -> Result<FloodState, Vec<Fault>> {
    read(body, |fields| {
        let parse_state =
            |state: &Value| state.as_str().map_or_else(|| code(state), |text| text.parse().ok());
        let state = fields.get("state").and_then(parse_state);
        if state.is_none() {
            fields.fault("state", InvalidFloodState);
        }
        state
    })
}
