use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use rocket::tokio::task::spawn_blocking;
use utoipa_swagger_ui::Config as Ui;

use crate::cache::Rendered;
use crate::content::Content;

/// What the page consists of.
const NAMES: [&str; 3] = ["start.js", "swagger-ui.css", "swagger-ui-bundle.js"];
const START: &str = include_str!("start.js");

/// The files of the page, each made ready to be sent when it is first asked for, and its shorter forms a while later.
#[derive(Debug, Default)]
pub struct Files(Mutex<HashMap<&'static str, Rendered>>);

impl Files {
    /// The file of this name; `None` when there is none.
    pub(super) fn find(&self, name: &str) -> Result<Option<Rendered>, Box<dyn Error + Send + Sync>> {
        let Some(name) = NAMES.into_iter().find(|known| *known == name) else { return Ok(None) };
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = ready.get(name) {
            return Ok(Some(file.clone()));
        }
        let Some(file) = made(name)? else { return Ok(None) };
        ready.insert(name, file.clone());
        let content = Arc::clone(&file.content);
        spawn_blocking(move || content.code(usize::MAX));
        Ok(Some(file))
    }
}

fn made(name: &str) -> Result<Option<Rendered>, Box<dyn Error + Send + Sync>> {
    let ready = |media_type: String, bytes: Vec<u8>| {
        Some(Rendered { media_type: media_type.into(), content: Arc::new(Content::tagged(bytes)) })
    };
    if name == "start.js" {
        return Ok(ready("text/javascript".to_owned(), START.into()));
    }
    let file = utoipa_swagger_ui::serve(name, Arc::new(Ui::default())).map_err(|error| error.to_string())?;
    Ok(file.and_then(|file| ready(file.content_type, file.bytes.into_owned())))
}
