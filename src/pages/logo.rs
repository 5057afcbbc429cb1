//! The logo of the configuration.

use rocket::{State, get};

use crate::config::Config;
use crate::guards::Caller;
use crate::http::error::Problem;
use crate::rendering::{Answer, prepared};

/// `GET /logo`: responds with the configured logo. The policy for data, `default-src 'none'`, lets no script in it run.
#[get("/logo")]
pub(super) async fn show(_caller: Caller, config: &State<Config>) -> Result<Answer, Problem> {
    let logo = config.site.logo().ok_or_else(|| Problem::not_found("a logo"))?;
    Ok(Answer::shared(&prepared(logo.media_type, logo.bytes.clone()).await?))
}
