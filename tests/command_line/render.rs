//! `render`: templates without a server.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::{out, refusal, siaga, siaga_in, with_data};

/// A folder with the fixture in `data`, and a declared but not enabled template.
fn with_template(template: &str, layers: &str) -> TempDir {
    let folder = with_data();
    fs::write(folder.path().join("names.txt"), template).unwrap();
    let toml = format!(
        "[default.siaga.formats.template.names]\nfile = \"names.txt\"\nmedia_type = \"text/plain\"\nlayers = {layers}\n"
    );
    fs::write(folder.path().join("Rocket.toml"), toml).unwrap();
    folder
}

fn render<'a>(format: &'a str, layer: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&["render", "--format", format, "--layer", layer], rest].concat()
}

#[test]
fn a_template_that_is_not_enabled_writes_a_data_folder_or_the_configured_data() {
    let template =
        "{% for of in features %}{{ of.properties.area_id }}:{{ of.properties.state }} {% endfor %}";
    let folder = with_template(template, "[\"floods\"]");
    let output = siaga_in(&folder, &render("names", "floods", &["data"]), &[]);
    assert!(output.stderr.is_empty(), "{output:?}");
    assert_eq!(out(&output), "1: 2: 5:2 10: 30:3 ");
    let configured = siaga_in(&folder, &render("names", "floods", &[]), &[("SIAGA_DATASET", "data")]);
    assert_eq!(out(&configured), "1: 2: 5:2 10: 30:3 ");
    assert!(out(&siaga_in(&folder, &render("names", "floods", &["demo"]), &[])).len() > 1_000);
}

#[test]
fn the_alerts_of_the_demo_are_an_exercise_in_both_documents() {
    let floods = out(&siaga(&render("cap", "floods", &["demo"]), &[]));
    assert!(floods.contains("<status>Exercise</status>") && !floods.contains("<status>Actual</status>"));
    let alerts = out(&siaga(&render("atom", "alerts", &["demo"]), &[]));
    assert!(alerts.contains("<cap:status>Exercise</cap:status>") && !alerts.contains("Actual"), "{alerts}");
}

#[test]
fn formats_of_the_service_write_without_the_envelope() {
    for layer in ["floods", "reports", "gauges", "infrastructure", "boundaries", "alerts", "areas"] {
        let output = siaga(&render("geojson", layer, &[]), &[]);
        let collection: Value = serde_json::from_str(&out(&output)).unwrap();
        assert_eq!(collection["type"], "FeatureCollection", "{layer}");
        assert!(!collection["features"].as_array().unwrap().is_empty(), "{layer}");
    }
}

#[test]
fn old_reports_are_written_on_request_and_an_empty_layer_is_reported() {
    let folder = with_template("{{ features|length }}", "[\"reports\"]");
    let recent = siaga_in(&folder, &render("names", "reports", &["data"]), &[]);
    assert_eq!((out(&recent).as_str(), recent.status.code()), ("0", Some(0)));
    let warning = String::from_utf8_lossy(&recent.stderr);
    assert!(warning.starts_with("siaga: warning: there is nothing to write; "), "{warning}");
    let all = siaga_in(&folder, &render("names", "reports", &["data", "--last", "50y"]), &[]);
    assert!(out(&all).parse::<u32>().unwrap() > 1 && all.stderr.is_empty(), "{all:?}");
    let few = [("SIAGA_LIMITS__FEATURES", "1")];
    let error = refusal(&siaga_in(&folder, &render("names", "reports", &["data", "--last", "50y"]), &few));
    assert_eq!(error, "siaga: more than 1 reports or readings; choose a shorter --last");
}

#[test]
fn a_fault_is_named_by_file_and_line() {
    let folder = with_template("\n{{ nothing }}", "[\"floods\"]");
    let error = || refusal(&siaga_in(&folder, &render("names", "floods", &["data"]), &[]));
    let found = error();
    assert!(found.starts_with("siaga: siaga.formats.template.names.file: "), "{found}");
    assert!(found.contains("names.txt, line 2: "), "{found}");
    // The trial rendering has no area 30.
    let printed = "\n{{ of.x if of.properties.area_id == '30' else of.properties.area_id }}";
    let template = format!("{{% for of in features %}}{printed}{{% endfor %}}");
    fs::write(folder.path().join("names.txt"), template).unwrap();
    let found = error();
    assert!(found.starts_with("siaga: the format names cannot write the layer: "), "{found}");
    assert!(found.contains("names.txt, line 2: "), "{found}");
}

#[test]
fn an_unsupported_layer_or_format_is_refused_with_the_supported_ones() {
    let folder = with_template("{{ features|length }}", "[\"floods\"]");
    for (format, layer, data, expected) in [
        ("names", "boundaries", "data", "can write boundaries; these can: [geojson, topojson]"),
        ("nmes", "floods", "data", "can write floods; these can: [cap, geojson, names, topojson]"),
        ("names", "floods", "names.txt", "\"names.txt\" must be a data folder, demo or empty"),
    ] {
        let error = refusal(&siaga_in(&folder, &render(format, layer, &[data]), &[]));
        assert!(error.ends_with(expected), "{error}");
    }
    let wrong = siaga(&render("geojson", "rivers", &[]), &[]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}
