use std::sync::Arc;

use rocket::tokio::sync::OnceCell;
use utoipa_swagger_ui::Config as Ui;

use crate::http::error::Problem;
use crate::rendering::cache::Rendered;
use crate::rendering::prepared;

/// The files that the page loads.
const NAMES: [&str; 3] = ["start.js", "swagger-ui.css", "swagger-ui-bundle.js"];
const START: &str = include_str!("start.js");

/// The files that the page loads. Each is compressed once, when it is first requested.
#[derive(Debug, Default)]
pub(crate) struct Files([OnceCell<Option<Rendered>>; NAMES.len()]);

impl Files {
    /// Returns the file of this name; `None` if there is none.
    pub(super) async fn find(&self, name: &str) -> Result<Option<&Rendered>, Problem> {
        let Some((name, ready)) = NAMES.into_iter().zip(&self.0).find(|(known, _)| *known == name) else {
            return Ok(None);
        };
        Ok(ready.get_or_try_init(|| contained(name)).await?.as_ref())
    }
}

/// Returns a file that is part of the program.
async fn contained(name: &str) -> Result<Option<Rendered>, Problem> {
    if name == "start.js" {
        return Ok(Some(prepared("text/javascript", START.into()).await?));
    }
    let file = utoipa_swagger_ui::serve(name, Arc::new(Ui::default()));
    match file.map_err(|error| Problem::internal(error.to_string()))? {
        Some(file) => Ok(Some(prepared(file.content_type, file.bytes.into_owned()).await?)),
        None => Ok(None),
    }
}
