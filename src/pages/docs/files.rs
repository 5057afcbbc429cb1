use std::sync::Arc;

use rocket::tokio::sync::OnceCell;
use utoipa_swagger_ui::Config as Ui;

use crate::http::error::Problem;
use crate::rendering::cache::RenderedResponse;
use crate::rendering::precompress;

const NAMES: [&str; 3] = ["start.js", "swagger-ui.css", "swagger-ui-bundle.js"];
const START: &str = include_str!("start.js");

/// The files that the page loads. Each is compressed on first request.
#[derive(Debug, Default)]
pub(crate) struct Files([OnceCell<Option<RenderedResponse>>; NAMES.len()]);

impl Files {
    pub(super) async fn find(&self, name: &str) -> Result<Option<&RenderedResponse>, Problem> {
        let Some((name, ready)) = NAMES.into_iter().zip(&self.0).find(|(known, _)| *known == name) else {
            return Ok(None);
        };
        Ok(ready.get_or_try_init(|| load(name)).await?.as_ref())
    }
}

/// Returns a file of Swagger UI or its start script, compressed; `None` if there is no such file.
async fn load(name: &str) -> Result<Option<RenderedResponse>, Problem> {
    if name == "start.js" {
        return Ok(Some(precompress("text/javascript", START.into()).await?));
    }
    let file = utoipa_swagger_ui::serve(name, Arc::new(Ui::default()));
    match file.map_err(|error| Problem::internal(error.to_string()))? {
        Some(file) => Ok(Some(precompress(file.content_type, file.bytes.into_owned()).await?)),
        None => Ok(None),
    }
}
