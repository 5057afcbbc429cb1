use serde_json::json;

use super::guard;
use crate::http::error::{Problem, Source};
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "Idempotency-Key";

/// The header `Idempotency-Key`: a UUID from the client, or absent. Repeating a request with its key changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdempotencyKey(pub(crate) Option<u128>);

guard!(IdempotencyKey, |request| {
    let mut values = request.headers().get(NAME);
    match (values.next(), values.next()) {
        (None, _) => Ok(Self(None)),
        (Some(value), None) => uuid(value).map(|id| Self(Some(id))).ok_or_else(invalid),
        _ => Err(invalid()),
    }
});

impl Part for IdempotencyKey {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let description = "A UUID of your own for the request. Repeating the request with it within a day changes nothing, and gives \
            the first response again.";
        let schema = json!({ "type": "string", "format": "uuid" });
        operation.parameter(Parameter::header(NAME, description, schema));
        operation.error(422, "The same `Idempotency-Key` came with another request.");
    }
}

fn invalid() -> Problem {
    Problem::invalid(Source::Headers, NAME, "must be one UUID, such as 0b0e7a4c-53ab-4b49-9f7c-1f6dd7a0f1d2")
}

fn uuid(text: &str) -> Option<u128> {
    let text = text.trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let bytes = text.as_bytes();
    let is_dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let is_right =
        |(at, byte): (usize, &u8)| if is_dash(at) { *byte == b'-' } else { byte.is_ascii_hexdigit() };
    if bytes.len() != 36 || !bytes.iter().enumerate().all(is_right) {
        return None;
    }
    u128::from_str_radix(&text.replace('-', ""), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_uuid() {
        let known = Some(0x0b0e_7a4c_53ab_4b49_9f7c_1f6d_d7a0_f1d2);
        for text in ["0b0e7a4c-53ab-4b49-9f7c-1f6dd7a0f1d2", "\"0B0E7A4C-53AB-4B49-9F7C-1F6DD7A0F1D2\""] {
            assert_eq!(uuid(text), known, "{text}");
        }
        for wrong in ["0b0e7a4c-53ab-4b49-9f7c-1f6dd7a0f1dg", "----"] {
            assert_eq!(uuid(wrong), None, "{wrong}");
        }
    }
}
