use serde_json::Value;

use super::Object;

/// How deep an object that is kept may be nested, including the object itself. Parsers in other languages reject JSON
/// that is much deeper, together with the whole response.
const LEVELS: usize = 16;

/// Why an object cannot be kept unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStorable {
    /// A text or a name in it contains a NUL character, which databases cannot store.
    #[error("must not contain NUL characters")]
    Nul,
    /// It is nested too deep.
    #[error("must be nested at most {LEVELS} levels deep")]
    Deep,
}

/// Checks that an object can be kept unchanged.
///
/// # Errors
///
/// If not.
pub fn can_be_kept(object: &Object) -> Result<(), NotStorable> {
    members_can_be_kept(object, LEVELS)
}

/// Checks the members of an object that may have this many levels.
fn members_can_be_kept(object: &Object, levels: usize) -> Result<(), NotStorable> {
    if levels == 0 {
        return Err(NotStorable::Deep);
    }
    object.iter().try_for_each(|(name, value)| {
        text_can_be_kept(name)?;
        value_can_be_kept(value, levels - 1)
    })
}

/// Checks a value that may have this many levels of objects and arrays.
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
