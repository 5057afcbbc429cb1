use std::fs;
use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::{Format, Toml};
use siaga::config::Config;

/// README.md and the pages of `docs/`.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    docs.filter(|path| path.extension().is_some_and(|end| end == "md"))
        .chain([root.join("README.md")])
        .collect()
}

/// The blocks of TOML on a page.
fn blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap())
}

#[test]
fn what_pages_have_as_toml_is_configuration() {
    let mut tried = 0;
    for page in pages() {
        for block in blocks(&fs::read_to_string(&page).unwrap()) {
            let figment = Figment::from(rocket::Config::default()).merge(Toml::string(block).nested());
            let read = Config::extract(&figment).map(drop);
            assert!(read.is_ok(), "{}: {}\n{block}", page.display(), read.unwrap_err());
            let rockets = figment.extract::<rocket::Config>();
            assert!(rockets.is_ok(), "{}: {rockets:?}\n{block}", page.display());
            if figment.contains("databases.siaga") {
                let database = figment.extract_inner::<rocket_db_pools::Config>("databases.siaga");
                assert!(database.is_ok(), "{}: {database:?}\n{block}", page.display());
            }
            tried += 1;
        }
    }
    assert!(tried > 5, "{tried} blocks");
}

#[test]
fn a_wrong_block_is_noticed() {
    let page = "a\n```toml\n[default.siaga]\nstor = \"memory\"\n```\nb\n```toml\n```\n";
    let found: Vec<_> = blocks(page).collect();
    assert_eq!(found, ["[default.siaga]\nstor = \"memory\"\n", ""]);
    assert!(Config::extract(&Figment::from(Toml::string(found[0]).nested())).is_err());
}
