//! Template formats: the examples, and guarantees for all templates.

mod bounds;
mod csv;
mod escaping;
mod filters;
mod georss;
mod kml;
mod starts;
mod time;

use std::fs;

use figment::Figment;
use figment::providers::{Format as _, Toml};
use siaga::config::Config;
use siaga::formats::template::Template;
use siaga::model::Layer;
use tempfile::TempDir;

fn examples() -> Figment {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/templates/Siaga.toml");
    Figment::from(Toml::file_exact(file).nested())
}

fn example(name: &str) -> Template {
    let config = Config::extract(&examples()).unwrap();
    assert!(config.formats.enabled.iter().any(|enabled| enabled == name));
    Template::new(name, &config.formats.template[name]).unwrap()
}

/// Creates a folder with a template `x`, and a configuration that declares the template for floods and reports.
fn declared(source: impl AsRef<[u8]>, media_type: &str) -> (TempDir, Figment) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("template");
    fs::write(&file, source).unwrap();
    let figment = Figment::new()
        .merge(("siaga.formats.template.x.file", file))
        .merge(("siaga.formats.template.x.media_type", media_type))
        .merge(("siaga.formats.template.x.layers", ["floods", "reports"]));
    (folder, figment)
}

fn template_from(figment: &Figment) -> Template {
    Template::new("x", &Config::extract(figment).unwrap().formats.template["x"]).unwrap()
}

fn template(source: &str, media_type: &str) -> Template {
    template_from(&declared(source, media_type).1)
}

fn made(source: &str, media_type: &str, layer: &Layer) -> String {
    text(&template(source, media_type), layer)
}

fn text(template: &Template, layer: &Layer) -> String {
    String::from_utf8(siaga_conformance::formats::encoded(template, layer)).unwrap()
}

/// Returns the error of a template for a layer.
fn failure(template: &Template, layer: &Layer) -> String {
    use siaga::formats::Format;

    let context = siaga_conformance::formats::context();
    let error = template.encode(layer, &context, &mut Vec::new()).unwrap_err();
    assert_eq!(error.format, "x");
    error.source.to_string()
}
