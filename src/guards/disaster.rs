use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::{Query, managed};
use crate::config::Config;
use crate::error::Problem;
use crate::model::DisasterType;
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "disaster";

/// The query parameter `disaster`: one type of disaster, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disaster(pub Option<DisasterType>);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Disaster {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let disaster = managed::<Config>(request).and_then(|config| {
            let disaster = Query::of(request).one_of(NAME, &config.disasters.all())?.copied();
            Ok(Self(disaster))
        });
        Problem::outcome(request, disaster)
    }
}

impl Part for Disaster {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let types = json!({ "type": "string", "enum": interface.config.disasters.all() });
        operation.takes(Parameter::query(NAME, "One type of disaster.", types));
    }
}
