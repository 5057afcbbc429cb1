use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::Value;

use super::asked::{Asked, Site};
use super::picture::Picture;
use crate::collections::Collection;
use crate::error::Problem;
use crate::rendering::{ItemsQuery, Wanted};
use crate::shell::{Here, PageTemplate};

const PAGE: PageTemplate = PageTemplate::new("ogc.html", include_str!("page.html"));

/// A link as pages show it.
#[derive(Serialize)]
struct Shown<'a> {
    path: String,
    text: &'a str,
    about: &'a str,
}

/// Writes a document as a page.
///
/// # Errors
///
/// If the template cannot be rendered.
pub(super) fn page(site: &Site<'_>, asked: &Asked, path: &str, document: &Value) -> Result<String, Problem> {
    let texts = asked.language.texts().group("ogc");
    let text = |key: &str| texts[key].as_str().unwrap_or_default();
    let language = asked.language.code();
    let to = |path: &str| format!("{}?f=html&lang={language}", site.path(path));
    let shown = |collection: Collection| Shown {
        path: to(&format!("/collections/{collection}")),
        text: texts["names"][collection.name()]["title"].as_str().unwrap_or_default(),
        about: texts["names"][collection.name()]["about"].as_str().unwrap_or_default(),
    };
    let one = path.strip_prefix("/collections/").and_then(Collection::named);
    let (title, about, links) = match one {
        Some(of) => {
            let Shown { text: title, about, path } = shown(of);
            let path = path.replacen('?', "/items?", 1);
            (title, about, vec![Shown { path, text: text("items"), about: "" }])
        }
        None if path == "/conformance" => (text("conformance"), "", Vec::new()),
        None => (text("title"), text("about"), Collection::ALL.map(shown).into()),
    };
    let columns = one.map(|of| {
        let columns = site.renderer.tables.columns(of).iter();
        columns.map(|column| (column.name.to_string(), column.says.to_string())).collect::<Vec<_>>()
    });
    let values = context! {
        t => Serde(texts),
        title, about,
        all => to(""),
        is_first => path.is_empty(),
        address => site.address(""),
        links => Serde(links),
        columns => Serde(columns),
        classes => Serde(&document["conformsTo"]),
        json => format!("{}?f=json", site.path(path)),
    };
    rendered(site, asked, path, &[], values)
}

/// Writes features as a page: a map and a table.
///
/// # Errors
///
/// If the features are not JSON, or the template cannot be rendered.
pub(super) fn features_page(
    site: &Site<'_>,
    asked: &Asked,
    query: &ItemsQuery,
    features: &[u8],
) -> Result<String, Problem> {
    let document: Value = serde_json::from_slice(features).map_err(Problem::internal)?;
    let texts = asked.language.texts().group("ogc");
    let language = asked.language.code();
    let collection = query.collection;
    let (path, kept) = match &query.wanted {
        Wanted::One(id) => (format!("/collections/{collection}/items/{id}"), ""),
        Wanted::Page(_, kept) => (format!("/collections/{collection}/items"), kept.as_str()),
    };
    let features: &[Value] = match &document["features"] {
        Value::Array(features) => features,
        _ => std::slice::from_ref(&document),
    };
    let columns = site.renderer.tables.columns(collection);
    let row = |feature: &Value| {
        let cells = columns.iter().map(|column| match &feature["properties"][&*column.name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        });
        let id = match &feature["id"] {
            Value::String(id) => id.clone(),
            id => id.to_string(),
        };
        let segment = percent_encoding::utf8_percent_encode(&id, percent_encoding::NON_ALPHANUMERIC);
        let path = site.path(&format!("/collections/{collection}/items/{segment}?f=html&lang={language}"));
        (path, id, cells.collect::<Vec<_>>())
    };
    let links = document["links"].as_array().into_iter().flatten();
    let next = links.clone().find(|link| link["rel"] == "next").and_then(|link| link["href"].as_str());
    // Pages for people are smaller: the limit of the link is that of this page, which it does not name.
    let next = next
        .and_then(|href| href.split_once('?'))
        .map(|(_, parameters)| format!("{}?{parameters}&f=html&lang={language}", site.path(&path)));
    let sign = if kept.is_empty() { "" } else { "&" };
    let name = &texts["names"][collection.name()]["title"];
    let values = context! {
        t => Serde(texts),
        title => name.as_str(),
        all => format!("{}?f=html&lang={language}", site.path("")),
        one => format!("{}?f=html&lang={language}", site.path(&format!("/collections/{collection}"))),
        names => Serde(columns.iter().map(|column| column.name.to_string()).collect::<Vec<_>>()),
        rows => Serde(features.iter().map(row).collect::<Vec<_>>()),
        picture => Serde(Picture::of(features)),
        next,
        json => format!("{}?{kept}{sign}f=json", site.path(&path)),
    };
    let kept: Vec<_> = url::form_urlencoded::parse(kept.as_bytes()).collect();
    let keep: Vec<(&str, &str)> = kept.iter().map(|(name, value)| (&**name, &**value)).collect();
    rendered(site, asked, &path, &keep, values)
}

fn rendered(
    site: &Site<'_>,
    asked: &Asked,
    path: &str,
    keep: &[(&str, &str)],
    values: minijinja::Value,
) -> Result<String, Problem> {
    let keep = [keep, &[("f", "html")]].concat();
    let here = Here { page: "developers", path: &site.path(path), keep: &keep };
    site.shell.render(PAGE, asked.language.texts(), here, values).map_err(Problem::internal)
}
