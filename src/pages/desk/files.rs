use rocket::tokio::sync::OnceCell;

use crate::error::Problem;
use crate::pages::map::bare;
use crate::rendering::cache::Rendered;
use crate::rendering::prepared;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// The files that the page loads, besides those of the map: name, media type and text.
const ALL: [(&str, &str, &str); 6] = [
    ("desk.js", SCRIPT, include_str!("desk.js")),
    ("outbox.js", SCRIPT, include_str!("outbox.js")),
    ("rows.js", SCRIPT, include_str!("rows.js")),
    ("night.js", SCRIPT, include_str!("night.js")),
    ("chart.js", SCRIPT, include_str!("chart.js")),
    ("desk.css", STYLE, include_str!("desk.css")),
];
/// The modules of the map that the page uses.
const OF_THE_MAP: [&str; 5] = ["view.js", "layers.js", "words.js", "ground.js", "live.js"];

/// The files that the page loads. Each is compressed once, when it is first requested.
#[derive(Debug, Default)]
pub(crate) struct Files([OnceCell<Rendered>; ALL.len()]);

impl Files {
    /// Returns the addresses of the modules that the page's own script imports, so that a browser requests all of them at once.
    pub(super) fn modules() -> impl Iterator<Item = String> {
        let own = ALL.iter().filter(|(name, kind, _)| *kind == SCRIPT && *name != "desk.js");
        let own = own.map(|(name, ..)| format!("/desk/{name}"));
        own.chain(OF_THE_MAP.iter().map(|name| format!("/map/{name}")))
    }

    /// Returns the file of this name; `None` if there is none.
    pub(super) async fn find(&self, name: &str) -> Result<Option<&Rendered>, Problem> {
        let Some(((_, media_type, text), ready)) =
            ALL.iter().zip(&self.0).find(|((known, ..), _)| *known == name)
        else {
            return Ok(None);
        };
        let prepare = || prepared(*media_type, bare(text).into_bytes());
        Ok(Some(ready.get_or_try_init(prepare).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_script_spans_lines_because_its_spaces_would_be_lost() {
        for (name, _, text) in ALL.iter().filter(|(_, kind, _)| *kind == SCRIPT) {
            for line in text.lines().filter(|line| !line.trim_start().starts_with(['/', '*'])) {
                assert!(line.matches('`').count() % 2 == 0, "{name}: {line}");
            }
        }
    }
}
