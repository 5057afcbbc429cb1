//! What pages have as templates, tried with the configuration that stands before each.

use std::fs;

use crate::blocks::blocks;
use crate::demo::Demo;

#[test]
fn a_template_of_a_page_is_a_format_by_the_configuration_before_it() {
    let templates = blocks("jinja");
    assert!(!templates.is_empty());
    for template in templates {
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
