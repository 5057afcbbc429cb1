use figment::Figment;
use siaga::Builder;
use siaga::config::Config;

use super::{declared, examples};

/// The error of a service at startup.
fn error(figment: Figment) -> String {
    let error = Builder::default().figment(Figment::from(rocket::Config::default()).merge(figment)).check();
    let text = error.unwrap_err().to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn assert_starts(figment: Figment) -> Config {
    Builder::default().figment(Figment::from(rocket::Config::default()).merge(figment)).check().unwrap()
}

#[test]
fn the_examples_are_a_configuration() {
    assert_eq!(assert_starts(examples()).formats.template.len(), 3);
}

#[test]
fn a_template_with_a_fault_stops_the_start_with_its_file_and_line() {
    for (source, media_type, says) in [
        (&b"one\n{% for %}"[..], "text/plain", ", line 2: syntax error: "),
        (b"one\ntwo \xff", "text/plain", ", line 2: is not UTF-8"),
        (b"\n\n{{ features|hue }}", "text/plain", ", line 3: unknown filter: "),
        (b"{{ layr }}", "text/plain", ", line 1: undefined value: `layr` is undefined"),
        (
            b"{% for of in features %}\n{{ of.properties.aera_id }}{% endfor %}",
            "text/plain",
            ", line 2: undefined value: `of.properties.aera_id` is undefined (of a layer of floods that is made-up)",
        ),
        (b"{{ features[0].wkt }}", "text/plain", "(of a layer of floods that is empty)"),
        (b"{% include 'other' %}", "text/plain", ", line 1: template not found"),
        (b"{{ debug() }}", "text/plain", ", line 1: unknown function"),
        (b"<a></a><b/>", "application/xml", "makes no XML: <b> stands beside the root element"),
        (b"<a>", "application/xml", "makes no XML: it ends before its root element does"),
        (b"{# a comment #}\n<?xml version=\"1.0\"?><a/>", "application/xml", "<?xml stands elsewhere than at the very beginning"),
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
fn a_media_type_that_leaves_markup_unescaped_stops_the_start() {
    let items = "{% for of in features %}<i>{{ of.wkt }}</i>{% endfor %}";
    let kml = "application/vnd.google-earth.kml";
    let values = "{{ features|map(attribute='wkt')|list }}";
    for (begins, media_type, says) in [
        (
            format!("<?xml version='1.0'?><kml>{items}</kml>"),
            kml,
            "must be application/vnd.google-earth.kml+xml",
        ),
        (format!("<!DOCTYPE html>{items}"), "text/x-page", "must be text/x-page+xml, or text/html of a page"),
        (values.to_owned(), "application/vnd.api", "must be application/vnd.api+json, for"),
        (
            format!("{{ {values}"),
            "application/vnd.api",
            "what begins as JSON does, and under application/vnd.api no value",
        ),
    ] {
        let (_folder, figment) = declared(&begins, media_type);
        let text = error(figment);
        assert!(text.starts_with("siaga.formats.template.x.media_type: ") && text.contains(says), "{text}");
        for plain in ["text/plain; charset=utf-8", "text/markdown"] {
            assert_starts(declared(&begins, plain).1);
        }
    }
    assert_starts(declared(format!("< 2 {values}"), "application/x-list").1);
}

#[test]
fn a_template_that_writes_nothing_of_a_resource_it_is_declared_for_stops_the_start() {
    let source = "{% if layer == 'flood' %}{{ features|length }}{% else %}{{ now }}{% endif %}";
    let text = error(declared(source, "text/plain").1);
    assert!(text.ends_with("template: it writes nothing of floods"), "{text}");
    let source = "{% if layer == 'floods' %}{{ features|length }}{% endif %}";
    let text = error(declared(source, "text/plain").1);
    assert!(text.ends_with("template: it writes nothing of reports"), "{text}");
}

#[test]
fn a_key_with_a_wrong_value_stops_the_start_with_its_path() {
    for (key, value, says) in [
        ("media_type", "text/*", ": must be a media type such as text/csv"),
        ("container", "json", ": json needs a media type of JSON"),
        ("container", "csv", ": must be one of [json, xml, html, text], not csv"),
        ("layers", "[]", ": must name at least one of [floods, reports, "),
        ("layers", "[\"cards\"]", "must be one of [floods, reports, "),
        ("max_bytes", "0", ": must be more than 0"),
        ("max_time", "0s", ": must be more than 0"),
    ] {
        let (_folder, figment) = declared("", "text/plain");
        let value: figment::value::Value = value.parse().unwrap();
        let text = error(figment.merge((format!("siaga.formats.template.x.{key}"), value)));
        assert!(text.starts_with(&format!("siaga.formats.template.x.{key}")), "{text}");
        assert!(text.contains(says), "{text}");
    }
    let x = declared("", "text/plain").1.find_value("siaga.formats.template.x").unwrap();
    let text = error(Figment::new().merge(("siaga.formats.template.geo-json", x)));
    assert!(text.starts_with("siaga.formats.template.geo-json: the name must be of lower-case"), "{text}");
    let missing = Figment::new().merge(("siaga.formats.template.x.media_type", "text/plain"));
    assert!(error(missing).contains("siaga.formats.template.x.file: missing"));
}
