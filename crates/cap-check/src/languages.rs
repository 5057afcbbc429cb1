//! The `info` blocks of several languages must say the same thing.

use indexmap::IndexMap;

use super::document::{Element, Vocabulary};
use super::finding::{Notes, shown};

/// The elements that may not differ between languages, besides the areas.
const EQUAL: [&str; 8] =
    ["category", "eventCode", "urgency", "severity", "certainty", "effective", "onset", "expires"];

/// Returns the language of an `info`, which is `en-US` if it names none (CAP 1.2 §3.2.2).
pub(super) fn of(info: &Element) -> &str {
    info.cap("language").map(Element::value).filter(|language| !language.is_empty()).unwrap_or("en-US")
}

/// Compares the blocks of each language with those of the first: each with the one at the same place among its language.
pub(super) fn check(infos: &[&Element], notes: &mut Notes) {
    let mut languages: IndexMap<&str, Vec<&Element>> = IndexMap::new();
    for info in infos {
        languages.entry(of(info)).or_default().push(info);
    }
    let Some((first, originals)) = languages.first() else { return };
    for (language, infos) in languages.iter().skip(1) {
        let both = format!("the languages {} and {}", shown(first), shown(language));
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

/// Returns the values of all children of this name, sorted.
fn values<'a>(info: &'a Element, name: &'a str) -> Vec<Vec<&'a str>> {
    let mut values: Vec<_> = info.all(Vocabulary::Cap, name).map(parts).collect();
    values.sort_unstable();
    values
}

/// Returns the value of an element, or those of its children.
fn parts(element: &Element) -> Vec<&str> {
    if element.children.is_empty() {
        vec![element.value()]
    } else {
        element.children.iter().map(Element::value).collect()
    }
}

/// Returns what each area holds besides its name.
fn areas(info: &Element) -> Vec<Vec<(&str, Vec<&str>)>> {
    info.all(Vocabulary::Cap, "area").map(shapes).collect()
}

fn shapes(area: &Element) -> Vec<(&str, Vec<&str>)> {
    let shapes = area.children.iter().filter(|child| child.name() != "areaDesc");
    shapes.map(|child| (child.name(), parts(child))).collect()
}
