use rocket::Request;
use serde_json::json;

use super::{Query, guard};
use crate::http::error::{Problem, Source};
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::photos::ImageType;

const NAME: &str = "file_type";
const HEADER: &str = "Content-Type";

/// The media type of a future upload: the query parameter `file_type`, else the header `Content-Type`, else `image/jpeg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileType(pub ImageType);

guard!(FileType, |request| file_type(request).map(Self));

impl Part for FileType {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let types = json!({ "type": "string", "enum": ImageType::NAMES.map(|(name, _)| name) });
        // Describe only the query parameter, because OpenAPI ignores header parameters with the name `Content-Type`.
        let description = "The type of the image. Default: the header `Content-Type`, else `image/jpeg`.";
        operation.parameter(Parameter::query(NAME, description, types));
        operation.error(400, "`Content-Type` names a type that no image can have.");
    }
}

fn file_type(request: &Request<'_>) -> Result<ImageType, Problem> {
    if let Some(name) = Query::for_request(request).get(NAME)? {
        return ImageType::from_name(&name).ok_or_else(|| unknown(Source::Query, NAME));
    }
    match request.headers().get_one(HEADER) {
        None => Ok(ImageType::Jpeg),
        Some(text) => from_header(text),
    }
}

/// Returns the image type of the header. Values that HTTP libraries send by default count as JPEG.
fn from_header(text: &str) -> Result<ImageType, Problem> {
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_default =
        ["", "application/json", "application/x-www-form-urlencoded"].contains(&essence.as_str());
    let image_type = ImageType::from_name(&essence).or_else(|| is_default.then_some(ImageType::Jpeg));
    image_type.ok_or_else(|| unknown(Source::Headers, HEADER))
}

fn unknown(source: Source, name: &str) -> Problem {
    let allowed = ImageType::ALL.map(ImageType::media_type).join(", ");
    Problem::invalid(source, name, format!("must be one of [{allowed}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_an_image_type_or_a_default_of_libraries() {
        for (text, expected) in [
            ("IMAGE/PNG", ImageType::Png),
            ("image/webp; q=1", ImageType::Webp),
            ("image/jpg", ImageType::Jpeg),
            ("image/x-png", ImageType::Png),
            ("", ImageType::Jpeg),
            ("application/json; charset=utf-8", ImageType::Jpeg),
            ("application/x-www-form-urlencoded", ImageType::Jpeg),
        ] {
            assert_eq!(from_header(text).unwrap(), expected, "{text}");
        }
        for text in ["audio/mpeg", "image/svg+xml", "image/heic", "png", "image/*", "text/plain"] {
            assert!(from_header(text).is_err(), "{text}");
        }
    }
}
