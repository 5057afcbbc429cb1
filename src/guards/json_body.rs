use rocket::data::{FromData, Outcome};
use rocket::http::ContentType;
use rocket::serde::json::Value;
use rocket::tokio::time::timeout;
use rocket::{Data, Request};
use serde_json::Map;

use super::body_headers::{check_content_length, check_not_encoded};
use super::managed;
use crate::config::Config;
use crate::http::error::{Problem, Source};
use crate::model::duration::format_duration;
use crate::openapi::{Interface, Operation, Part};

/// A body that is a JSON object. The content type may also be absent, or the type for forms that curl sends by default.
#[derive(Clone, Debug)]
pub struct JsonBody(pub Map<String, Value>);

#[rocket::async_trait]
impl<'r> FromData<'r> for JsonBody {
    type Error = Problem;

    async fn from_data(request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r, Self> {
        Problem::outcome(request, read_object(request, data).await.map(Self))
    }
}

impl Part for JsonBody {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.error(400, "The body is invalid; the message names the fault.");
        operation.error(408, "The body did not arrive in time.");
        operation.error(413, "The body is too large.");
        operation.error(415, "The headers say that the body is not JSON.");
    }
}

/// Reads a JSON object within the size limit and the timeout. Replaces lone surrogates; skips a byte order mark.
async fn read_object(request: &Request<'_>, data: Data<'_>) -> Result<Map<String, Value>, Problem> {
    check_not_encoded(request)?;
    check_content_type(request)?;
    let limits = managed::<Config>(request)?.limits;
    check_content_length(request, limits.body)?;
    let mut body = timeout(limits.timeout, data.open(limits.body).into_bytes())
        .await
        .map_err(|_| Problem::timeout(format_duration(limits.timeout)))?
        .map_err(|_| invalid("the body must arrive whole".to_owned()))?;
    if !body.is_complete() {
        return Err(Problem::too_large(limits.body));
    }
    replace_lone_surrogates(&mut body);
    let text = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&body);
    match serde_json::from_slice(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(invalid("the body must be a JSON object".to_owned())),
        Err(error) => Err(invalid(format!("the body must be JSON: {error}"))),
    }
}

/// Replaces escapes of unpaired surrogates by the escape of U+FFFD. JavaScript creates them when it cuts an emoji in two.
fn replace_lone_surrogates(json: &mut [u8]) {
    let mut at = 0;
    // Valid JSON has backslashes only in strings; other JSON is rejected anyway.
    while let Some(next) = json.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += next;
        at += match (escaped_unit(&json[at..]), escaped_unit(json.get(at + 6..).unwrap_or_default())) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                json[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            _ => 2,
        };
    }
}

fn escaped_unit(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | (*digit as char).to_digit(16)? as u16))
}

fn invalid(message: String) -> Problem {
    Problem::bad_request(Source::Body, &[], message)
}

/// Accepts JSON, forms and an absent type, but not several types.
fn check_content_type(request: &Request<'_>) -> Result<(), Problem> {
    // Check the header itself, because Rocket treats an invalid content type as absent.
    let mut kinds = request.headers().get("Content-Type");
    let is_json = match (kinds.next(), kinds.next()) {
        (None | Some(""), None) => true,
        (Some(_), None) => request.content_type().is_some_and(|kind| {
            let is_type = |other: ContentType| kind.top() == other.top() && kind.sub() == other.sub();
            is_type(ContentType::JSON) || is_type(ContentType::Form)
        }),
        _ => false,
    };
    if is_json {
        Ok(())
    } else {
        Err(Problem::unsupported_media_type("Content-Type must be application/json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpaired_surrogates_are_replaced() {
        for (json, expected) in [
            (r#""banjir \ud83d""#, "banjir \u{fffd}"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\uD83D\uD83D\uDE00""#, "\u{fffd}😀"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\n\ude00""#, "\u{fffd}\n\u{fffd}"),
            (r#""\ud83d😀""#, "\u{fffd}😀"),
            // An escaped backslash: the text after it is no escape.
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
            (r#""\u00e4\"\u20ac""#, "ä\"€"),
        ] {
            let mut bytes = json.as_bytes().to_vec();
            replace_lone_surrogates(&mut bytes);
            assert_eq!(serde_json::from_slice::<String>(&bytes).unwrap(), expected, "{json}");
        }
        for cut in ["", "\\", "\"\\u", "\"\\ud83", "\"\\ud83d\\u", "\\ud83d\\"] {
            replace_lone_surrogates(&mut cut.as_bytes().to_vec());
        }
    }
}
