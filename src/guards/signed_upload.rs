use std::sync::Arc;

use rocket::Request;
use rocket::http::ContentType;
use serde_json::json;

use super::body_headers::{check_content_length, check_not_encoded, content_length};
use super::{Query, guard, managed};
use crate::config::Config;
use crate::http::error::Problem;
use crate::http::fairings::RequestInfo;
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::photos::{AdmittedUpload, CardImages, ImageError, ImageType, InvalidAddress};

/// An upload to a signed address. Its headers have the type that the address was signed for, and an allowed length. The upload
/// counts as in progress until this value is dropped.
#[derive(Debug)]
pub(crate) struct SignedUpload(pub AdmittedUpload);

guard!(SignedUpload, |request| admit_upload(request).await.map(Self));

impl Part for SignedUpload {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let text = || json!({ "type": "string", "minLength": 1 });
        operation.parameter(Parameter::path("name", "Which upload it is.", text()));
        for (name, description) in
            [("expires", "When the address expires."), ("signature", "The signature of the address.")]
        {
            operation.parameter(Parameter::query(name, description, text()).required());
        }
        // List only one name of each type. The service accepts other names as well, but they would confuse generated clients.
        operation.body_media_types(ImageType::ALL.map(ImageType::media_type));
        operation.error(403, "The address does not permit this, or no longer.");
        operation.error(408, "The body arrived too slowly.");
        operation.error(409, "The card has an image.");
        operation.error(413, "The body is too large.");
        operation.error(429, "Two uploads to the address are in progress, or too many of the client.");
        operation.error(503, "The server is receiving as many uploads as it may.");
        operation.error(415, "The body is not an image of the type the address is for.");
    }
}

/// Verifies the signature and the headers, checks that the address is unused, and takes a slot for the upload.
async fn admit_upload(request: &Request<'_>) -> Result<AdmittedUpload, Problem> {
    let images = managed::<Arc<CardImages>>(request)?;
    let query = Query::for_request(request);
    // A missing or invalid part of the address is reported like a wrong signature.
    let invalid = || ImageError::InvalidAddress(InvalidAddress::WrongSignature);
    let parameter = |name| query.get(name).ok().flatten().ok_or_else(invalid);
    // Segment 1 of `/uploads/:name`, below the mount path.
    let name = request.param::<&str>(1).and_then(Result::ok).unwrap_or_default();
    let permit = images.permit(name, &parameter("expires")?, &parameter("signature")?).await?;
    images.check_unused(&permit).await?;
    check_not_encoded(request)?;
    check_type(request, permit.image_type)?;
    check_content_length(request, managed::<Config>(request)?.images.max_bytes)?;
    Ok(images.admit(permit, RequestInfo::for_request(request).client)?.with_length(content_length(request)))
}

/// The request must have exactly one `Content-Type`, the image type that the address was signed for.
fn check_type(request: &Request<'_>, expected: ImageType) -> Result<(), Problem> {
    let is_single = request.headers().get("Content-Type").count() == 1;
    let name = |kind: &ContentType| format!("{}/{}", kind.top(), kind.sub()).to_ascii_lowercase();
    let image_type = request.content_type().and_then(|kind| ImageType::from_name(&name(kind)));
    if is_single && image_type == Some(expected) {
        Ok(())
    } else {
        Err(Problem::unsupported_media_type(&format!("Content-Type must be {expected}")))
    }
}
