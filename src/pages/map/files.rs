use rocket::tokio::sync::OnceCell;

use crate::error::Problem;
use crate::rendering::cache::Rendered;
use crate::rendering::prepared;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! files {
    ($($name:literal: $media_type:ident $path:literal;)*) => {
        /// The files that the page loads: name, media type and text. Other pages use the map of `view.js`, `layers.js` and `tiles.js`.
        const ALL: [(&str, &str, &str); [$($name),*].len()] = [$(($name, $media_type, include_str!($path))),*];
    };
}

files! {
    "view.js": SCRIPT "module/view.js";
    "layers.js": SCRIPT "module/layers.js";
    "tiles.js": SCRIPT "module/tiles.js";
    "view.css": STYLE "module/view.css";
    "map.js": SCRIPT "map.js";
    "words.js": SCRIPT "words.js";
    "list.js": SCRIPT "list.js";
    "search.js": SCRIPT "search.js";
    "points.js": SCRIPT "points.js";
    "past.js": SCRIPT "past.js";
    "ground.js": SCRIPT "ground.js";
    "connection.js": SCRIPT "connection.js";
    "sw.js": SCRIPT "sw.js";
    "live.js": SCRIPT "../../../examples/clients/live.js";
}

/// The files that the page loads. Each is compressed once, when it is first requested.
#[derive(Debug, Default)]
pub(crate) struct Files([OnceCell<Rendered>; ALL.len()]);

impl Files {
    /// Returns the names of the modules that the page's own script imports, so that a browser requests all of them at once. The
    /// others it loads after the floods.
    pub(super) fn modules() -> [&'static str; 5] {
        ["view.js", "layers.js", "words.js", "list.js", "ground.js"]
    }

    /// Returns the style sheets of the page, which are part of it: a request less on a slow connection.
    pub(super) fn styles() -> String {
        [include_str!("module/view.css"), include_str!("map.css")].map(bare).concat()
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

/// Returns a script or a style sheet of a page without comments on lines of their own, and without indentation: a third of the
/// bytes on a slow connection.
pub(in crate::pages) fn bare(text: &str) -> String {
    let is_code =
        |line: &&str| !["//", "/*", "*"].iter().any(|begin| line.starts_with(begin)) && !line.is_empty();
    text.lines().map(str::trim_start).filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_sent_without_comments_and_indentation_and_with_all_code() {
        let text = "// Says why.\n\n/**\n * Doubles.\n *\n * @param of\n */\nconst twice = (of) => {\n  return 2 * of; // both\n};\n";
        assert_eq!(bare(text), "const twice = (of) => {\nreturn 2 * of; // both\n};\n");
    }

    #[test]
    fn no_text_of_a_script_spans_lines_because_its_spaces_would_be_lost() {
        for (name, _, text) in ALL.iter().filter(|(_, media_type, _)| *media_type == SCRIPT) {
            for line in text.lines().filter(|line| !line.trim_start().starts_with(['/', '*'])) {
                assert!(line.matches('`').count() % 2 == 0, "{name}: {line}");
            }
        }
    }
}
