//! Templates of pages, run with the configuration before each, and the documented properties.

use std::collections::BTreeMap;
use std::fs;

use figment::Figment;
use serde_json::Value;
use siaga::model::LayerKind;
use siaga::{Builder, Siaga};

use crate::blocks::{blocks, pages};
use crate::demo::Demo;

#[test]
fn each_template_of_a_page_works_with_the_configuration_before_it() {
    for template in blocks("jinja") {
        let before = blocks("toml").into_iter().rfind(|toml| {
            toml.page == template.page && toml.line < template.line && toml.text.contains("formats.template.")
        });
        let toml = before.unwrap().text;
        let quoted = |key: &str| toml.split(key).nth(1).unwrap().split('"').nth(1).unwrap().to_owned();
        let name = toml.split("formats.template.").nth(1).unwrap().split(']').next().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let configuration = folder.path().join("Rocket.toml");
        fs::write(&configuration, &toml).unwrap();
        fs::write(folder.path().join(quoted("file =")), &template.text).unwrap();
        let demo = Demo::configured_by(configuration.to_str().unwrap());
        let floods = demo.text(&format!("floods?minimum_state=1&geoformat={name}"));
        assert_eq!(floods.lines().count(), demo.flooded(), "{floods:.500}");
        let reports = demo.get("reports?geoformat=geojson")["result"]["features"].as_array().unwrap().len();
        assert_eq!(demo.text(&format!("reports?geoformat={name}")).lines().count(), reports);
        demo.end();
    }
}

/// The service without data, with further settings.
fn builder(settings: impl FnOnce(Figment) -> Figment) -> Builder {
    let figment = Figment::from(rocket::Config::default()).merge(("siaga.dataset", "empty"));
    Siaga::builder().figment(settings(figment))
}

/// The properties of a schema in the OpenAPI document: type and nullability.
fn described(all: &Value, schema: &Value, before: &str, found: &mut BTreeMap<String, (String, bool)>) {
    let resolved = |schema: &Value| match schema["$ref"].as_str() {
        Some(name) => all[name.rsplit('/').next().unwrap()].clone(),
        None => schema.clone(),
    };
    for (name, property) in resolved(schema)["properties"].as_object().unwrap() {
        let path = format!("{before}{name}");
        let property = resolved(property);
        let types: Vec<_> = match &property["type"] {
            Value::Array(types) => types.iter().map(|one| one.as_str().unwrap()).collect(),
            // An `enum` or `const` of texts.
            Value::Null => vec!["string"],
            one => vec![one.as_str().unwrap()],
        };
        let own = match types[0] {
            "string" => "text",
            "integer" | "number" => "number",
            "array" => "list",
            other => other,
        };
        found.insert(path.clone(), (own.to_owned(), types.contains(&"null")));
        // An object that may have further properties is shown as it was sent.
        if own == "list" && !["string", "number"].map(Value::from).contains(&property["items"]["type"]) {
            described(all, &property["items"], &format!("{path}[0]."), found);
        } else if property["properties"].is_object() && property["additionalProperties"] != true {
            described(all, &property, &format!("{path}."), found);
        }
    }
}

#[test]
fn the_listed_properties_of_each_layer_match_the_interface() {
    let document = builder(|figment| figment).openapi().unwrap();
    let all = &document["components"]["schemas"];
    let page = &pages()["docs/resources.md"];
    const HEAD: &str = "\n| property | type | null | meaning |\n|---|---|---|---|\n";
    assert_eq!(page.matches(HEAD).count(), LayerKind::ALL.len());
    for kind in LayerKind::ALL {
        let section = page.split(&format!("\n## {kind:?}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
        let rows = section.split(HEAD).nth(1).unwrap().lines().take_while(|line| line.starts_with('|'));
        let documented = rows.map(|row| {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let ["", property, own, null, _, ""] = cells[..] else { panic!("{row}") };
            (property.trim_matches('`').to_owned(), (own.to_owned(), null != "never"))
        });
        let mut found = BTreeMap::new();
        described(all, &all[&format!("{kind:?}.properties")], "", &mut found);
        assert_eq!(documented.collect::<BTreeMap<_, _>>(), found, "{kind:?}");
    }
}

#[test]
fn startup_fails_with_a_template_that_uses_what_the_page_excludes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.txt");
    let check = |template: &str| {
        fs::write(&file, template).unwrap();
        let configured = builder(|figment| {
            figment
                .merge(("siaga.formats.template.own.file", file.to_str().unwrap()))
                .merge(("siaga.formats.template.own.media_type", "text/plain"))
                .merge(("siaga.formats.template.own.layers", ["floods"]))
        });
        configured.check().map(|_| ())
    };
    assert!(check("{% for feature in features %}{{ feature.properties.state }}\n{% endfor %}").is_ok());
    for missing in [
        "{{ layer|tojson }}",
        "{{ layer|pprint }}",
        "{{ debug() }}",
        "{% for feature in features %}{% break %}{% endfor %}",
        "{% for feature in features %}{% continue %}{% endfor %}",
        "{% for feature in features %}{{ loop.previtem }}{% endfor %}",
        "{% include 'own.txt' %}",
    ] {
        assert!(check(missing).is_err(), "{missing}");
    }
}
