use super::fields::{Fault, Object, code, read};
use crate::model::{FloodState, InvalidFloodState};

/// Reads the new state of an area.
///
/// # Errors
///
/// The fault of the body.
pub(crate) fn read_flood_state(body: &Object) -> Result<FloodState, Vec<Fault>> {
    read(body, |fields| {
        let state = fields.get("state").and_then(code);
        if state.is_none() {
            fields.fault("state", InvalidFloodState);
        }
        state
    })
}
