use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::Query;
use crate::error::Problem;
use crate::images::ImageType;
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "file_type";

/// The query parameter `file_type`: the type an image will be sent as, `image/jpeg` unless given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileType(pub ImageType);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for FileType {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let asked = Query::of(request).one_of(NAME, &ImageType::ALL);
        Problem::outcome(request, asked.map(|asked| Self(asked.copied().unwrap_or(ImageType::Jpeg))))
    }
}

impl Part for FileType {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let (types, default) = (ImageType::ALL.map(ImageType::media_type), ImageType::Jpeg.media_type());
        let types = json!({ "type": "string", "enum": types, "default": default });
        operation.takes(Parameter::query(NAME, "The type the image will be sent as.", types));
    }
}
