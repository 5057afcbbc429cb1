use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::Query;
use crate::error::Problem;
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "training";

/// The query parameter `training`: whether reports of trainings are asked for as well. **Default: `false`**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Training(pub bool);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Training {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let asked = Query::of(request).one_of(NAME, &["true", "false"]);
        Problem::outcome(request, asked.map(|asked| Self(asked == Some(&"true"))))
    }
}

impl Part for Training {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let says = "Whether reports made in trainings count as well.";
        operation.takes(Parameter::query(NAME, says, json!({ "type": "boolean", "default": false })));
    }
}
