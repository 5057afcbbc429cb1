use std::sync::Arc;

use rocket::data::ToByteUnit;
use rocket::serde::json::json;
use rocket::tokio::time::timeout;
use rocket::{Data, State, get, put};

use crate::config::Config;
use crate::described;
use crate::guards::{Caller, SignedUpload};
use crate::http::error::Problem;
use crate::openapi::{Described, Parameter};
use crate::photos::{CardImages, ImageError, ImageType};
use crate::rendering::ApiResponse;
use crate::schema::{self, object};

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(receive_image)
            .summary("Uploads the image of a card to its signed address")
            .response(object(json!({ "statusCode": { "const": 200 }, "received": { "const": true } }))),
        described!(find_image).summary("The published image of a card").with(|operation, _| {
            let name = json!({ "type": "string", "examples": ["abcdefg.jpg"] });
            operation.parameter(Parameter::path("name", "The card, with the ending of its image.", name));
            operation.response(ImageType::Jpeg.media_type(), schema::bytes());
            operation.cached_response();
            operation.error(404, "There is no such image.");
        }),
    ]
}

#[put("/uploads/<_>", data = "<body>")]
pub(super) async fn receive_image(
    upload: SignedUpload,
    mut body: Data<'_>,
    config: &State<Config>,
    images: &State<Arc<CardImages>>,
) -> Result<ApiResponse, Problem> {
    let SignedUpload(incoming) = upload;
    let limit = config.limits.timeout;
    let leading = timeout(limit, body.peek(ImageType::LEADING)).await.map_err(|_| ImageError::TooSlow)?;
    if ImageType::detect(leading).is_none() {
        return Err(ImageError::NoImage.into());
    }
    // Accepts one byte over the limit, to detect an image that is too large.
    images.receive(incoming, body.open(config.images.max_bytes + 1.bytes())).await?;
    ApiResponse::bare(&json!({ "statusCode": 200, "received": true }))
}

#[get("/images/<name>")]
pub(super) async fn find_image(
    _caller: Caller,
    name: &str,
    images: &State<Arc<CardImages>>,
) -> Result<ApiResponse, Problem> {
    Ok(ApiResponse::photo(ImageType::Jpeg.media_type(), images.published(name).await?))
}
