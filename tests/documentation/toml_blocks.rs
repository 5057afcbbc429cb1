//! What pages have as TOML, which is configuration, or where a comment before it says so a manifest.

use std::fs;
use std::path::Path;

use figment::Figment;
use figment::providers::{Format, Toml};
use siaga::config::Config;

use crate::blocks::{Block, blocks};

fn is_manifest(block: &Block) -> bool {
    block.mark.as_deref() == Some("a manifest")
}

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
    for block in blocks.iter().filter(|block| !is_manifest(block)) {
        assert_eq!(fault(&block.text), None, "{block:?}");
    }
    assert!(fault("[default.siaga]\nstor = \"memory\"\n").is_some());
}

#[test]
fn what_pages_have_as_manifests_is_that_of_the_example_which_builds() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/agency/Cargo.toml");
    let built: toml::Table = fs::read_to_string(file).unwrap().parse().unwrap();
    // The example lies in the repository, other crates beside it.
    let within = |manifest: &str| manifest.replace("../siaga", "../..").parse::<toml::Table>().unwrap();
    let manifests: Vec<_> = blocks("toml").into_iter().filter(is_manifest).collect();
    assert!(!manifests.is_empty());
    for block in manifests {
        for (name, table) in within(&block.text) {
            for (key, value) in table.as_table().unwrap() {
                assert_eq!(built[&name].get(key), Some(value), "{name}: {key}");
            }
        }
    }
}
