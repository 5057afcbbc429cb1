use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use utoipa_swagger_ui::Config as Ui;

use crate::cache::Rendered;
use crate::routes::at_hand::at_hand;

/// What the page consists of.
const NAMES: [&str; 3] = ["start.js", "swagger-ui.css", "swagger-ui-bundle.js"];
const START: &str = include_str!("start.js");

/// The files of the page, each made ready to be sent when it is first asked for.
#[derive(Debug, Default)]
pub(crate) struct Files(Mutex<HashMap<&'static str, Rendered>>);

impl Files {
    /// The file of this name; `None` when there is none.
    pub(super) fn find(&self, name: &str) -> Result<Option<Rendered>, Box<dyn Error + Send + Sync>> {
        let Some(name) = NAMES.into_iter().find(|known| *known == name) else { return Ok(None) };
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = ready.get(name) {
            return Ok(Some(file.clone()));
        }
        let Some(file) = contained(name)? else { return Ok(None) };
        ready.insert(name, file.clone());
        Ok(Some(file))
    }
}

/// A file that is part of the program.
fn contained(name: &str) -> Result<Option<Rendered>, Box<dyn Error + Send + Sync>> {
    if name == "start.js" {
        return Ok(Some(at_hand("text/javascript", START.into())));
    }
    let file = utoipa_swagger_ui::serve(name, Arc::new(Ui::default())).map_err(|error| error.to_string())?;
    Ok(file.map(|file| at_hand(file.content_type, file.bytes.into_owned())))
}
