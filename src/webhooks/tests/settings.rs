//! Rejected settings, and the examples.

use super::*;

#[test]
fn a_wrong_template_header_or_secret_is_an_error_at_startup() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let large = "\"{% for i in range(5000) %}12345{% endfor %}\"";
    for (more, expected) in [
        (json!({ "secret": "whsec_c2hvcnQ=" }), "siaga.webhooks.thanks.secret: must be whsec_"),
        (
            json!({ "secret": SECRET, "previous_secret": "x" }),
            "siaga.webhooks.thanks.previous_secret: must be",
        ),
        (json!({ "headers": { "Host": "x" } }), "siaga.webhooks.thanks.headers.Host: the service sets"),
        (json!({ "headers": { "a b": "x" } }), "siaga.webhooks.thanks.headers.a b: must be a header name"),
        (json!({ "url": "https://a.example/{{ x" }), "siaga.webhooks.thanks.url"),
        (json!({ "url": "https://a.example/{{ network }}" }), "siaga.webhooks.thanks.url"),
        (json!({ "url": "https://a.example/../{{ pkey }}" }), "a segment of dots"),
        (json!({ "body": folder.path().join("none") }), "siaga.webhooks.thanks.body"),
        (json!({ "body": file("missing", "{{ depth }}") }), "missing, line 1"),
        (json!({ "body": file("no.json", "{{ text }},") }), "makes no JSON"),
        (json!({ "body": file("large", large) }), "larger than 20000"),
        (json!({ "body": file("xml", "<a>{{ text }}</a>"), "media_type": "text/csv+zip" }), "media_type"),
    ] {
        let config = config(json!({ "thanks": webhook("report", more) }));
        let error = check(&config, fixture::now()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("siaga.webhooks.thanks"), "{expected}: {error}");
    }
}

fn examples() -> Config {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/webhooks/Siaga.toml");
    let figment = Figment::new().merge(Toml::file(file).nested()).merge(("siaga.dataset", "empty"));
    Config::extract(&figment).unwrap()
}

/// The request for a plain example event.
fn request_of(name: &str, config: &Config) -> Request {
    let settings = &config.webhooks.by_name[name];
    let template = PayloadTemplate::new(name, settings, config, fixture::now()).unwrap();
    let mut event = Event::sample(name, settings, Sample::Plain, fixture::now());
    // Two areas, so that the template needs a comma.
    if let Some(Value::Array(areas)) = event.values.get_mut("areas") {
        areas.extend_from_within(..1);
    }
    template.render(&event, fixture::now()).unwrap()
}

#[test]
fn the_examples_render_what_their_receivers_expect() {
    let config = examples();
    let example = |name| {
        let Request { method, url, headers, body } = request_of(name, &config);
        (method, url.to_string(), headers, String::from_utf8(body).unwrap())
    };
    let json = |body: &str| serde_json::from_str::<Value>(body).unwrap();
    let (_, url, headers, body) = example("thanks");
    assert_eq!(url, "https://bot.example/telegram/send/");
    assert_eq!(headers["x-api-key"], "the key of the bot");
    let body = json(&body);
    assert_eq!((&body["userId"], &body["instanceRegionCode"]), (&json!("100200300"), &json!("jbd")));
    assert!(body["reportId"].is_string());

    let (_, _, headers, body) = example("ntfy");
    assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
    assert!(body.lines().count() == 2 && body.contains(": "), "{body}");

    let (_, url, _, body) = example("telegram");
    assert!(url.ends_with("/sendMessage") && json(&body)["chat_id"] == "@banjir_example", "{url}: {body}");

    let (method, url, headers, body) = example("matrix");
    let end = format!("/m.room.message/{}", headers["webhook-id"].to_str().unwrap());
    assert!(method == Method::Put && url.ends_with(&end), "{url}");
    assert_eq!(json(&body)["msgtype"], "m.text");

    let (_, _, _, body) = example("mail");
    assert!(body.contains("openstreetmap.org/?mlat=-6.18&mlon=106.83"), "{body}");
}

fn body_of(kind: &str, template: &str) -> Value {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, template).unwrap();
    let more = json!({ "personal": kind == "report", "body": file.path() });
    let request = request_of("a", &config(json!({ "a": webhook(kind, more) })));
    serde_json::from_slice(&request.body).unwrap()
}

#[test]
fn the_templates_of_the_documentation_render_json() {
    let page = include_str!("../../../docs/webhooks.md");
    let blocks: Vec<&str> =
        page.split("```jinja\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [thanks, list] = blocks[..] else { panic!("two: {blocks:?}") };
    assert_eq!(body_of("report", thanks)["instanceRegionCode"], "jbd");
    let areas = body_of("state", list)["areas"].clone();
    assert!(areas.as_array().is_some_and(|areas| areas.len() > 1 && areas[0]["name"].is_string()), "{areas}");
}
