use rocket::data::{FromData, Outcome};
use rocket::http::ContentType;
use rocket::serde::json::Value;
use rocket::{Data, Request};
use serde_json::Map;

use super::managed;
use crate::config::Config;
use crate::error::{Problem, Source};

/// A body that is a JSON object.
///
/// Bodies without a content type, and those curl sends as a form by itself, are read as JSON too.
#[derive(Clone, Debug)]
pub struct JsonBody(pub Map<String, Value>);

#[rocket::async_trait]
impl<'r> FromData<'r> for JsonBody {
    type Error = Problem;

    async fn from_data(request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r, Self> {
        Problem::outcome(request, object(request, data).await.map(Self))
    }
}

async fn object(request: &Request<'_>, data: Data<'_>) -> Result<Map<String, Value>, Problem> {
    if !may_be_json(request) {
        return Err(Problem::unsupported_media_type("application/json"));
    }
    let limit = managed::<Config>(request)?.limits.body;
    let body =
        data.open(limit).into_bytes().await.map_err(|_| invalid("the body must arrive whole".to_owned()))?;
    if !body.is_complete() {
        return Err(Problem::too_large(limit));
    }
    match serde_json::from_slice(&body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(invalid("the body must be a JSON object".to_owned())),
        Err(error) => Err(invalid(format!("the body must be JSON: {error}"))),
    }
}

fn invalid(message: String) -> Problem {
    Problem::contradictory(Source::Body, &[], message)
}

fn may_be_json(request: &Request<'_>) -> bool {
    // An unreadable content type reads as none, so the header itself is looked at.
    if request.headers().get_one("Content-Type").is_none() {
        return true;
    }
    request.content_type().is_some_and(|kind| {
        let same = |other: ContentType| kind.top() == other.top() && kind.sub() == other.sub();
        same(ContentType::JSON) || same(ContentType::Form)
    })
}
