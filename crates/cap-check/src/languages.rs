//! The `info` blocks of all languages must have the same content.

use indexmap::IndexMap;

use super::document::{Element, Vocabulary};
use super::finding::{Notes, quote};

/// Elements that must be equal in all languages. The areas must be equal too.
const EQUAL: [&str; 8] =
    ["category", "eventCode", "urgency", "severity", "certainty", "effective", "onset", "expires"];

/// Returns the language of an `info`; the default is `en-US` (CAP 1.2 §3.2.2).
pub(super) fn language(info: &Element) -> &str {
    info.cap("language").map(Element::value).filter(|language| !language.is_empty()).unwrap_or("en-US")
}

/// Compares the blocks of each language with the blocks of the first language, by position.
pub(super) fn check(infos: &[&Element], notes: &mut Notes) {
    let mut languages: IndexMap<&str, Vec<&Element>> = IndexMap::new();
    for info in infos {
        languages.entry(language(info)).or_default().push(info);
    }
    let Some((first, originals)) = languages.first() else { return };
    for (language, infos) in languages.iter().skip(1) {
        let both = format!("the languages {} and {}", quote(first), quote(language));
        for (info, original) in infos.iter().zip(originals) {
            let names = EQUAL.into_iter().filter(|name| values(info, name) != values(original, name));
            for name in names.chain(Some("area").filter(|_| areas(info) != areas(original))) {
                notes.error(
                    info.cap(name).unwrap_or(info).line,
                    format!("<{name}> differs between {both}"),
                    "make it equal in all languages: only texts may differ (Google)",
                );
            }
        }
        if let Some(info) = infos.first().filter(|_| infos.len() != originals.len()) {
            let found = format!("{both} have different numbers of <info>");
            notes.error(info.line, found, "write the same ones in all languages (Google)");
        }
    }
}

/// Returns the values of an element, sorted.
fn values<'a>(info: &'a Element, name: &'a str) -> Vec<Vec<&'a str>> {
    let mut values: Vec<_> = info.all(Vocabulary::Cap, name).map(parts).collect();
    values.sort_unstable();
    values
}

fn parts(element: &Element) -> Vec<&str> {
    if element.children.is_empty() {
        vec![element.value()]
    } else {
        element.children.iter().map(Element::value).collect()
    }
}

/// Returns the content of each area without its name.
fn areas(info: &Element) -> Vec<Vec<(&str, Vec<&str>)>> {
    info.all(Vocabulary::Cap, "area").map(shapes).collect()
}

fn shapes(area: &Element) -> Vec<(&str, Vec<&str>)> {
    let shapes = area.children.iter().filter(|child| child.name() != "areaDesc");
    shapes.map(|child| (child.name(), parts(child))).collect()
}
