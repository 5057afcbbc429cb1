use std::path::Path;
use std::process::Command;

use figment::Figment;
use figment::providers::{Format, Toml};

#[test]
fn the_configuration_file_of_the_agency_enables_its_additions() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Rocket.toml");
    let figment = Figment::from(rocket::Config::default()).merge(Toml::file_exact(file).nested());
    let config = agency::builder().figment(figment).check().unwrap();
    assert_eq!(config.store, "audited-memory");
    assert!(config.formats.enabled.iter().any(|name| name == "flatgeobuf"));
}

#[test]
fn the_commands_of_siaga_include_the_additions_of_the_agency() {
    let printed = |command: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_agency"));
        let output = program.arg(command).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(printed("check").contains(r#"store = "audited-memory""#));
    let document: serde_json::Value = serde_json::from_str(&printed("openapi")).unwrap();
    let warnings = &document["paths"]["/warnings"]["get"];
    assert_eq!(warnings["parameters"][0]["name"], "city");
    assert!(warnings["responses"]["200"]["content"].get("text/plain").is_some());
    assert!(document["components"]["schemas"].get("Floods.flatgeobuf").is_some());
}
