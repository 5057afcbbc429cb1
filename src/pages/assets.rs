//! The scripts and style sheets of the live map, the form for reports and the desk.

use rocket::tokio::sync::OnceCell;

use crate::http::error::Problem;
use crate::rendering::cache::RenderedResponse;
use crate::rendering::{ApiResponse, precompress};

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

const VIEW: &str = include_str!("map/module/view.js");
const LAYERS: &str = include_str!("map/module/layers.js");
const NAMES: &str = include_str!("names.js");
const NAME_SEARCH: &str = include_str!("name_search.js");
const REQUEST: &str = include_str!("request.js");
const OUTBOX: &str = include_str!("outbox.js");
const WORDS: &str = include_str!("map/words.js");
const GROUND: &str = include_str!("map/ground.js");
const LIVE: &str = include_str!("../../examples/clients/live.js");
const PHOTO: &str = include_str!("report/photo.js");

const SUBSCRIPTION: &str = include_str!("map/subscription.js");

/// The service worker, which is not a module: some browsers do not run a module as a worker.
const WORKER: &str = "/map/sw.js";

/// The scripts that a page loads later. Their relative imports are modules of the page's own script, at the second address.
const LATER: [(&str, &str); 1] = [("/map/points.js", "/map/map.js")];

/// The address of each file, and the modules that are joined in it: one script per page needs one request, and compresses better.
/// A module must come after the modules that it imports by a relative path. Top-level names must differ (tested).
const FILES: [(&str, &[&str]); 14] = [
    (
        "/map/map.js",
        &[
            VIEW,
            LAYERS,
            NAMES,
            REQUEST,
            WORDS,
            GROUND,
            LIVE,
            include_str!("map/statements.js"),
            include_str!("map/panel.js"),
            include_str!("map/list.js"),
            include_str!("map/search.js"),
            include_str!("map/past.js"),
            include_str!("map/connection.js"),
            include_str!("map/map.js"),
        ],
    ),
    ("/map/module.js", &[VIEW, LAYERS]),
    ("/map/points.js", &[include_str!("map/points.js")]),
    ("/map/trend.js", &[include_str!("map/trend.js")]),
    ("/map/push.js", &[REQUEST, SUBSCRIPTION, include_str!("map/push.js")]),
    ("/map/name_search.js", &[NAMES, REQUEST, NAME_SEARCH]),
    ("/map/tiles.js", &[include_str!("map/module/tiles.js")]),
    ("/map/view.css", &[include_str!("map/module/view.css")]),
    (WORKER, &[SUBSCRIPTION, include_str!("map/sw.js")]),
    (
        "/reporting/report.js",
        &[
            PHOTO,
            NAMES,
            REQUEST,
            OUTBOX,
            include_str!("report/waiting.js"),
            include_str!("report/parts.js"),
            include_str!("report/kept.js"),
            include_str!("report/draft.js"),
            include_str!("report/place.js"),
            include_str!("report/depth.js"),
            include_str!("report/report.js"),
        ],
    ),
    ("/reporting/later.js", &[PHOTO, include_str!("report/later.js")]),
    ("/reporting/report.css", &[include_str!("report/report.css")]),
    (
        "/desk/desk.js",
        &[
            VIEW,
            LAYERS,
            NAMES,
            REQUEST,
            WORDS,
            GROUND,
            LIVE,
            OUTBOX,
            include_str!("desk/outcome.js"),
            include_str!("desk/own.js"),
            include_str!("desk/waiting.js"),
            include_str!("desk/rows.js"),
            NAME_SEARCH,
            include_str!("desk/places.js"),
            include_str!("desk/orders.js"),
            include_str!("desk/gauges.js"),
            include_str!("desk/night.js"),
            include_str!("desk/chart.js"),
            include_str!("desk/desk.js"),
        ],
    ),
    ("/desk/desk.css", &[include_str!("desk/desk.css")]),
];

/// The files that pages load. Each is compressed on first request.
#[derive(Debug, Default)]
pub(crate) struct Assets([OnceCell<RenderedResponse>; FILES.len()]);

impl Assets {
    /// Returns the file at an address. Fails with 404 if there is none.
    pub(super) async fn find(&self, folder: &str, name: &str) -> Result<ApiResponse, Problem> {
        let is_wanted = |address: &str| address.strip_prefix(folder) == Some(name);
        let ((address, parts), ready) = FILES
            .iter()
            .zip(&self.0)
            .find(|((address, _), _)| is_wanted(address))
            .ok_or_else(|| Problem::not_found("this file"))?;
        let media_type = if address.rsplit('.').next() == Some("css") { STYLE } else { SCRIPT };
        let prepare = || precompress(media_type, joined(address, parts).into_bytes());
        Ok(ApiResponse::shared(ready.get_or_try_init(prepare).await?))
    }
}

/// Returns the file of an address.
fn joined(address: &str, parts: &[&str]) -> String {
    let page = LATER.iter().find(|(later, _)| *later == address);
    let imports = page.map(|(_, page)| {
        let lines = parts.iter().flat_map(|part| part.lines()).filter(|line| is_joined(line));
        let names = lines.filter_map(|line| line.split_once(" from ")).map(|(names, _)| names);
        names.map(|names| format!("{names} from \"{page}\";\n")).collect::<String>()
    });
    let code: String = parts.iter().map(|part| minify(part)).collect();
    let code = if address == WORKER { code.replace("\nexport ", "\n") } else { code };
    imports.into_iter().chain([code]).collect()
}

/// Returns whether a line imports a module that is joined in the same file, or is in the page's own script.
fn is_joined(line: &str) -> bool {
    line.starts_with("import ") && line.contains(" from \".")
}

/// Removes comment lines, indentation and imports of joined modules from a file. This saves a third of the bytes.
pub(super) fn minify(text: &str) -> String {
    let is_comment = |line: &str| ["//", "/*", "*"].iter().any(|begin| line.starts_with(begin));
    let is_code = |line: &&str| !line.is_empty() && !is_comment(line) && !is_joined(line);
    text.lines().map(str::trim_start).filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn minified_files_have_all_code_and_no_comments_indentation_or_relative_imports() {
        let text = "// Says why.\n\nimport { two } from \"./two.js\";\n/**\n * Doubles.\n *\n * @param of\n */\nconst twice = (of) => {\n  return 2 * of; // both\n};\n";
        assert_eq!(minify(text), "const twice = (of) => {\nreturn 2 * of; // both\n};\n");
    }

    #[test]
    fn no_template_literal_spans_lines_because_it_would_lose_its_indentation() {
        for (address, parts) in scripts() {
            let lines = parts.iter().flat_map(|part| part.lines());
            for line in lines.filter(|line| !line.trim_start().starts_with(['/', '*'])) {
                assert!(line.matches('`').count() % 2 == 0, "{address}: {line}");
            }
        }
    }

    #[test]
    fn a_script_that_is_loaded_later_imports_from_the_script_of_its_page() {
        for (address, page) in LATER {
            let parts =
                |address| FILES.iter().find(|(of, _)| *of == address).map(|(_, parts)| *parts).unwrap();
            let exported = joined(page, parts(page));
            let file = joined(address, parts(address));
            let imports: Vec<_> = file.lines().filter(|line| line.starts_with("import ")).collect();
            assert!(!imports.is_empty(), "{file}");
            for line in imports {
                let names = line
                    .strip_prefix("import { ")
                    .and_then(|line| line.strip_suffix(&format!(" }} from \"{page}\";")))
                    .unwrap();
                for name in names.split(", ") {
                    let of_page = exported.lines().filter(|line| line.starts_with("export "));
                    assert!(
                        of_page.flat_map(declared_names).any(|declared| declared == name),
                        "{page} exports {name}"
                    );
                }
            }
        }
    }

    fn scripts() -> impl Iterator<Item = &'static (&'static str, &'static [&'static str])> {
        FILES.iter().filter(|(address, _)| address.rsplit('.').next() == Some("js"))
    }

    /// Returns the names that a top-level line declares.
    fn declared_names(line: &str) -> Vec<&str> {
        let line = line.trim_start_matches("export ").trim_start_matches("async ");
        let (keyword, rest) = line.split_once(' ').unwrap_or_default();
        let ended = rest.split([';', '}']).next().unwrap_or(rest);
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        let names: Vec<&str> = match keyword {
            "const" if rest.starts_with('{') => {
                ended[1..].split(',').filter_map(|part| part.rsplit(": ").next()).collect()
            }
            "let" => ended.split(", ").filter_map(|part| part.split(" = ").next()).collect(),
            "const" if rest.starts_with(|char: char| char.is_uppercase()) => {
                // Several constants may stand in one line.
                rest.split(", ").filter_map(|part| part.split_once(" = ")).map(|(name, _)| name).collect()
            }
            "const" | "function" | "class" => rest.split(|char| !is_part(char)).take(1).collect(),
            _ => Vec::new(),
        };
        names.into_iter().map(str::trim).filter(|name| name.chars().all(is_part)).collect()
    }

    #[test]
    fn joined_modules_declare_each_name_once_and_before_they_import_it() {
        assert_eq!(declared_names("export const { base, texts: t } = settings;"), ["base", "t"]);
        assert_eq!(declared_names("let hits = [], active = -1; // one, other"), ["hits", "active"]);
        assert_eq!(declared_names("const PREFIX = 0.5, TYPO = 2;"), ["PREFIX", "TYPO"]);
        for (address, parts) in scripts() {
            if LATER.iter().any(|(later, _)| later == address) {
                continue;
            }
            let mut known = HashSet::new();
            for line in parts.iter().flat_map(|part| part.lines()) {
                if let Some((names, _)) =
                    line.strip_prefix("import { ").and_then(|line| line.split_once(" } from \"."))
                {
                    let unknown: Vec<_> = names.split(", ").filter(|name| !known.contains(name)).collect();
                    assert!(unknown.is_empty(), "{address} lacks {unknown:?} before: {line}");
                }
                for name in declared_names(line) {
                    assert!(known.insert(name), "{address} declares {name} twice: {line}");
                }
            }
        }
    }
}
