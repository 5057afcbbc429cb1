//! Data blocks of pages: JSON, YAML, SQL, and TOML, which is configuration, or a manifest if a comment before it
//! marks it.

use std::fs;
use std::path::Path;

use figment::Figment;
use figment::providers::{Format, Toml};
use serde_json::Value;
use siaga::config::Config;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::blocks::{Block, blocks};
use crate::fixture::block_on;
use crate::postgres::Database;
use crate::tools::{printed, python};

#[test]
fn json_and_yaml_blocks_of_pages_parse() {
    for block in blocks("json") {
        let read: Result<Value, _> = serde_json::from_str(&block.text);
        assert!(read.is_ok(), "{read:?} of {block:?}");
    }
    for block in blocks("yaml") {
        let read = "import sys, yaml; assert isinstance(yaml.safe_load(sys.argv[1]), dict)";
        printed(&block.page, python().args(["-c", read, &block.text]));
    }
}

/// Roles belong to the whole cluster, so everything is rolled back.
#[test]
fn sql_blocks_of_pages_run_in_order() {
    block_on(async {
        let database = Database::with_fixture().await;
        let mut connection = PgConnection::connect(&database.url()).await.unwrap();
        let mut transaction = connection.begin().await.unwrap();
        // One page is about the database of a CogniCity.
        transaction.execute(include_str!("../common/cognicity.sql")).await.unwrap();
        for block in blocks("sql") {
            let done = transaction.execute(AssertSqlSafe(block.text.clone())).await;
            assert!(done.is_ok(), "{done:?} of {block:?}");
        }
        transaction.rollback().await.unwrap();
        connection.close().await.unwrap();
    });
}

fn is_manifest(block: &Block) -> bool {
    block.mark.as_deref() == Some("a manifest")
}

/// The error of a configuration.
fn fault(text: &str) -> Option<String> {
    let figment = Figment::from(rocket::Config::default()).merge(Toml::string(text).nested());
    let of_rocket = || figment.extract::<rocket::Config>().err().map(|error| error.to_string());
    let of_database = || {
        let database = figment.find_value("databases.siaga").ok()?;
        Some(database.deserialize::<rocket_db_pools::Config>().err()?.to_string())
    };
    let of_siaga = Config::extract(&figment).err().map(|error| error.to_string());
    of_siaga.or_else(of_rocket).or_else(of_database)
}

#[test]
fn toml_blocks_of_pages_are_valid_configuration() {
    for block in blocks("toml").iter().filter(|block| !is_manifest(block)) {
        assert_eq!(fault(&block.text), None, "{block:?}");
    }
    assert!(fault("[default.siaga]\nstor = \"memory\"\n").is_some());
}

#[test]
fn manifest_blocks_of_pages_match_the_example_that_builds() {
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
