use rocket::{State, get};

use crate::config::Config;
use crate::guards::Caller;
use crate::http::error::Problem;
use crate::rendering::{ApiResponse, precompress};

/// Responds with the logo. The content security policy for data, `default-src 'none'`, blocks scripts in an SVG logo.
#[get("/logo")]
pub(super) async fn show(_caller: Caller, config: &State<Config>) -> Result<ApiResponse, Problem> {
    let logo = config.site.logo().ok_or_else(|| Problem::not_found("a logo"))?;
    Ok(ApiResponse::shared(&precompress(logo.media_type, logo.bytes.clone()).await?))
}
