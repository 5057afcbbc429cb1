use std::path::Path;

use figment::Figment;
use figment::providers::{Format, Toml};

#[test]
fn the_file_of_the_agency_chooses_what_it_adds() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Rocket.toml");
    let figment = Figment::from(rocket::Config::default()).merge(Toml::file_exact(file).nested());
    let config = agency::builder().figment(figment).check().unwrap();
    assert_eq!(config.store, "audited-memory");
    assert!(config.formats.enabled.iter().any(|name| name == "flatgeobuf"));
}
