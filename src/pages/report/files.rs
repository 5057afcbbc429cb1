use rocket::tokio::sync::OnceCell;

use crate::error::Problem;
use crate::rendering::cache::Rendered;
use crate::rendering::prepared;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// The files that the page loads: name, media type and text.
const ALL: [(&str, &str, &str); 5] = [
    ("report.js", SCRIPT, include_str!("report.js")),
    ("later.js", SCRIPT, include_str!("later.js")),
    ("photo.js", SCRIPT, include_str!("photo.js")),
    ("outbox.js", SCRIPT, include_str!("outbox.js")),
    ("report.css", STYLE, include_str!("report.css")),
];

/// The files that the page loads. Each is compressed once, when it is first requested.
#[derive(Debug, Default)]
pub(crate) struct Files([OnceCell<Rendered>; ALL.len()]);

impl Files {
    /// Returns the file of this name; `None` if there is none.
    pub(super) async fn find(&self, name: &str) -> Result<Option<&Rendered>, Problem> {
        let Some(((_, media_type, text), ready)) =
            ALL.iter().zip(&self.0).find(|((known, ..), _)| *known == name)
        else {
            return Ok(None);
        };
        let prepare = || prepared(*media_type, text.as_bytes().to_vec());
        Ok(Some(ready.get_or_try_init(prepare).await?))
    }
}
