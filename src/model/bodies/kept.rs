use serde_json::Value;

use super::Object;

/// The maximum nesting depth of a stored object, itself included. Parsers in other languages reject a whole response with deeper
/// JSON.
const LEVELS: usize = 16;

/// Why an object cannot be stored unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStorable {
    /// A text or name contains NUL, which databases cannot store.
    #[error("must not contain NUL characters")]
    Nul,
    /// It is nested too deep.
    #[error("must be nested at most {LEVELS} levels deep")]
    Deep,
}

/// Checks that an object can be stored unchanged.
///
/// # Errors
///
/// If it cannot.
pub fn can_be_kept(object: &Object) -> Result<(), NotStorable> {
    members_can_be_kept(object, LEVELS)
}

fn members_can_be_kept(object: &Object, levels: usize) -> Result<(), NotStorable> {
    if levels == 0 {
        return Err(NotStorable::Deep);
    }
    object.iter().try_for_each(|(name, value)| {
        text_can_be_kept(name)?;
        value_can_be_kept(value, levels - 1)
    })
}

fn value_can_be_kept(value: &Value, levels: usize) -> Result<(), NotStorable> {
    match value {
        Value::String(text) => text_can_be_kept(text),
        Value::Array(_) if levels == 0 => Err(NotStorable::Deep),
        Value::Array(items) => items.iter().try_for_each(|item| value_can_be_kept(item, levels - 1)),
        Value::Object(object) => members_can_be_kept(object, levels),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn text_can_be_kept(text: &str) -> Result<(), NotStorable> {
    if text.contains('\0') { Err(NotStorable::Nul) } else { Ok(()) }
}
