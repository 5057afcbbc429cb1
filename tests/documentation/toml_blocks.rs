//! What pages have as TOML, which is configuration.

use figment::Figment;
use figment::providers::{Format, Toml};
use siaga::config::Config;

use crate::blocks::blocks;

/// What is wrong with some configuration, by itself.
fn fault(text: &str) -> Option<String> {
    let figment = Figment::from(rocket::Config::default()).merge(Toml::string(text).nested());
    if let Err(error) = Config::extract(&figment) {
        return Some(error.to_string());
    }
    if let Err(error) = figment.extract::<rocket::Config>() {
        return Some(error.to_string());
    }
    let database = figment.find_value("databases.siaga").ok()?;
    let read = database.deserialize::<rocket_db_pools::Config>();
    read.err().map(|error| error.to_string())
}

#[test]
fn what_pages_have_as_toml_is_configuration() {
    let blocks = blocks("toml");
    assert!(blocks.len() > 5, "{blocks:?}");
    for block in blocks {
        assert_eq!(fault(&block.text), None, "{block:?}");
    }
    assert!(fault("[default.siaga]\nstor = \"memory\"\n").is_some());
}
