use serde_json::Value;

use super::Object;

/// The maximum nesting depth of a stored object, including the object. Some parsers in other languages would reject a whole
/// response with deeper JSON.
const LEVELS: usize = 16;

/// Why an object cannot be stored unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStorable {
    /// A text or name contains NUL, which databases cannot store.
    #[error("must not contain NUL characters")]
    Nul,
    /// The object is nested too deep.
    #[error("must be nested at most {LEVELS} levels deep")]
    Deep,
}

/// Checks that an object can be stored unchanged.
///
/// # Errors
///
/// If the object contains NUL, or is nested too deep.
pub fn check_storable(object: &Object) -> Result<(), NotStorable> {
    check_members(object, LEVELS)
}

fn check_members(object: &Object, levels: usize) -> Result<(), NotStorable> {
    if levels == 0 {
        return Err(NotStorable::Deep);
    }
    object.iter().try_for_each(|(name, value)| {
        check_text(name)?;
        check_value(value, levels - 1)
    })
}

fn check_value(value: &Value, levels: usize) -> Result<(), NotStorable> {
    match value {
        Value::String(text) => check_text(text),
        Value::Array(_) if levels == 0 => Err(NotStorable::Deep),
        Value::Array(items) => items.iter().try_for_each(|item| check_value(item, levels - 1)),
        Value::Object(object) => check_members(object, levels),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn check_text(text: &str) -> Result<(), NotStorable> {
    if text.contains('\0') { Err(NotStorable::Nul) } else { Ok(()) }
}
