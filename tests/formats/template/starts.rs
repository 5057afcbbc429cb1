use std::fs;

use figment::Figment;
use siaga::Builder;

use super::{declared, examples};

/// Why a service does not start.
fn error(figment: Figment) -> String {
    let error = Builder::default().figment(Figment::from(rocket::Config::default()).merge(figment)).check();
    let text = error.unwrap_err().to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn the_examples_are_a_configuration() {
    let figment = Figment::from(rocket::Config::default()).merge(examples());
    let config = Builder::default().figment(figment).check().unwrap();
    assert_eq!(config.formats.template.len(), 3);
}

#[test]
fn a_template_with_a_fault_stops_the_start_with_its_file_and_line() {
    for (source, media_type, says) in [
        (&b"one\n{% for %}"[..], "text/plain", ", line 2: syntax error: "),
        (b"{{ a", "text/plain", ", line 1: syntax error: "),
        (b"one\ntwo \xff", "text/plain", ", line 2: is not UTF-8"),
        (b"\n\n{{ features|colour }}", "text/plain", ", line 3: unknown filter: "),
        (b"{{ layr }}", "text/plain", ", line 1: undefined value: `layr` is undefined"),
        (
            b"{% for of in features %}\n{{ of.properties.aera_id }}{% endfor %}",
            "text/plain",
            ", line 2: undefined value: `of.properties.aera_id` is undefined (of a layer of floods that is made-up)",
        ),
        (b"{{ features[0].wkt }}", "text/plain", "(of a layer of floods that is empty)"),
        (
            b"{% if layer == 'reports' %}\n{{ features[0].properties.area_id }}{% endif %}",
            "text/plain",
            ", line 2: undefined value: `features[0].properties.area_id` is undefined",
        ),
        (b"{% include 'other' %}", "text/plain", ", line 1: template not found"),
        (b"{{ debug() }}", "text/plain", ", line 1: unknown function"),
        (b"<a><b></a>", "application/xml", "makes no XML: "),
        (b"<a></a><b/>", "application/xml", "makes no XML: <b> stands beside the root element"),
        (b"<a>", "application/xml", "makes no XML: it ends before its root element does"),
        (b"{# a comment #}\n<?xml version=\"1.0\"?><a/>", "application/xml", "<?xml stands elsewhere than at the very beginning"),
        (b"<a>this & that</a>", "application/xml", "makes no XML: "),
        (b"<a b={{ layer }}/>", "application/xml", "makes no XML: "),
        (b"<a>&nbsp;</a>", "application/xml", "makes no XML: &nbsp; is unknown"),
        (
            b"<a><!-- {% for of in features %}{{ of.properties.area_name or of.properties.text }}{% endfor %} --></a>",
            "application/xml",
            "makes no XML: ",
        ),
        (b"[{% for of in features %}{{ of.properties }},{% endfor %}]", "application/json", "makes no JSON: "),
        (b"{% for x in range(10000) %}{% for x in range(100000) %}{% endfor %}{% endfor %}", "text/plain", "max_time"),
    ] {
        let (folder, figment) = declared(source, media_type);
        let text = error(figment.merge(("siaga.formats.template.x.max_time", "100ms")));
        let file = folder.path().join("template");
        let begun = format!("siaga.formats.template.x.file: {}", file.display());
        assert!(text.starts_with(&begun) && text.contains(says), "{says}: {text}");
    }
}

#[test]
fn a_template_that_is_missing_stops_the_start() {
    let (folder, figment) = declared("", "text/plain");
    fs::remove_file(folder.path().join("template")).unwrap();
    let text = error(figment);
    assert!(text.contains("template: No such file or directory"), "{text}");
}

#[test]
fn a_key_with_a_wrong_value_stops_the_start_with_its_path() {
    for (key, value, says) in [
        ("media_type", "csv", ": must be a media type such as text/csv"),
        ("media_type", "text/*", ": must be a media type such as text/csv"),
        ("container", "json", ": json needs a media type of JSON"),
        ("container", "csv", ": must be one of [json, xml, html, text], not csv"),
        ("layers", "[]", ": must name at least one of [floods, reports, "),
        ("layers", "[\"cards\"]", "must be one of [floods, reports, "),
        ("max_bytes", "0", ": must be more than 0"),
        ("max_bytes", "many", "many"),
        ("max_time", "0s", ": must be more than 0"),
        (
            "colour",
            "red",
            ": unknown key; allowed are file, media_type, container, layers, max_bytes, max_time",
        ),
    ] {
        let (_folder, figment) = declared("", "text/plain");
        let value: figment::value::Value = value.parse().unwrap();
        let text = error(figment.merge((format!("siaga.formats.template.x.{key}"), value)));
        assert!(
            text.starts_with(&format!("siaga.formats.template.x.{key}")) && text.contains(says),
            "{text}"
        );
    }
    let (folder, _) = declared("", "text/plain");
    let figment = Figment::new()
        .merge(("siaga.formats.template.geo-json.file", folder.path().join("template")))
        .merge(("siaga.formats.template.geo-json.media_type", "text/plain"))
        .merge(("siaga.formats.template.geo-json.layers", ["floods"]));
    assert_eq!(
        error(figment),
        "siaga.formats.template.geo-json: the name must be of lower-case letters and digits"
    );
    let missing = Figment::new().merge(("siaga.formats.template.x.media_type", "text/plain"));
    assert!(error(missing).contains("siaga.formats.template.x.file: missing"));
}
