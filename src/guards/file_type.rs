use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::Query;
use crate::error::Problem;
use crate::images::ImageType;

/// The query parameter `file_type`: the type an image will be sent as, `image/jpeg` unless given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileType(pub ImageType);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for FileType {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let asked = Query::of(request).one_of("file_type", &ImageType::ALL);
        Problem::outcome(request, asked.map(|asked| Self(asked.copied().unwrap_or(ImageType::Jpeg))))
    }
}
