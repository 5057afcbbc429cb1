//! Code blocks for Node, browsers and Python.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::blocks::{Block, blocks};
use crate::demo::Demo;
use crate::tools::{node, printed, python};

/// A headless browser that loads a page as printed and reports what its map shows and requests.
const BROWSER: &str = include_str!("browser.mjs");

/// Runs each block of a language in its own folder, filled in for a demo.
fn each(language: &str, run: impl Fn(&Demo, &Block, &Path, &str)) {
    let demo = Demo::start();
    for block in blocks(language) {
        let folder = tempfile::tempdir().unwrap();
        run(&demo, &block, folder.path(), &demo.fill_in(&block.text));
    }
    demo.end();
}

fn place(block: &Block) -> String {
    format!("{}:{}", block.page, block.line)
}

#[test]
fn node_blocks_of_pages_run_as_printed() {
    each("js", |_, block, folder, text| {
        fs::write(folder.join("block.mjs"), text).unwrap();
        printed(&place(block), node(folder).arg("block.mjs"));
    });
}

#[test]
fn the_map_for_browsers_draws_every_flooded_area_and_then_redraws_only_what_changed() {
    each("html", |demo, block, folder, text| {
        fs::write(folder.join("page.html"), text).unwrap();
        fs::write(folder.join("browser.mjs"), BROWSER).unwrap();
        let flooded = demo.flooded();
        let floods = demo.get("floods?minimum_state=1&geoformat=geojson");
        let first = &floods["result"]["features"][0]["properties"];
        let [parent, area] = [&first["parent_name"], &first["area_name"]].map(|name| name.as_str().unwrap());
        let mut browser = node(folder);
        browser.args(["browser.mjs", "page.html", &demo.origin("/v1"), demo.key()]);
        let seen: Value = serde_json::from_str(&printed(&place(block), &mut browser)).unwrap();
        assert_eq!(seen["drawn"], flooded);
        assert!(seen["name"].as_str().unwrap().starts_with(&format!("{parent}, {area}: ")), "{seen}");
        assert_eq!(seen["redrawn"], 1, "one area was cleared, and one has another state");
        assert_eq!(seen["requests"], json!(["/areas", "/floods/states", "/floods/states", "/floods/states"]));
        assert!(seen["again"][0].as_str().unwrap().starts_with("/areas?revision="), "{seen}");
        assert_eq!(seen["legend"].as_array().map(Vec::len), Some(4), "{seen}");
        assert!(seen["attribution"].as_str().unwrap().contains("Floods: Siaga"), "{seen}");
        assert_eq!(seen["viewport"], "width=device-width, initial-scale=1");
        assert_eq!(seen["language"], "en");
    });
}

#[test]
fn python_blocks_of_pages_run_as_printed() {
    each("python", |_, block, folder, text| {
        fs::write(folder.join("block.py"), text).unwrap();
        printed(&place(block), python().arg("block.py").current_dir(folder));
    });
}
